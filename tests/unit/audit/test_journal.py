"""The journal: what was heard is not asked for again, whatever happened to the process."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.audit.journal import Journal
from app.errors import InvalidRequest

HEADER = {"kind": "audit", "audit": "truncation", "terms": ["a"]}
KILLED = """
import os, signal, sys
from pathlib import Path
from app.audit.journal import Journal
journal = Journal(Path(sys.argv[1]), {"kind": "audit", "audit": "truncation", "terms": ["a"]})
for number in range(3):
    journal.add({"run": number}, {"text": "x" * 100_000})
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_audit_goes_on_with_every_answer_it_had(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=Path(__file__).parents[3])
    assert killed.returncode == -signal.SIGKILL
    with Journal(path, HEADER) as journal:
        assert journal.resumed == 3
        assert journal.get({"run": 2}) == {"text": "x" * 100_000}
        assert journal.get({"run": 3}) is None


@given(cut=st.integers(0, 400), answers=st.integers(1, 4))
def test_a_file_cut_off_anywhere_loses_at_most_its_last_answers(
    tmp_path_factory: pytest.TempPathFactory, cut: int, answers: int
) -> None:
    path = tmp_path_factory.mktemp("audit") / "journal.jsonl"
    with Journal(path, HEADER) as journal:
        for number in range(answers):
            journal.add({"run": number}, {"text": f"Größe {number}\u2028"})
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    left = max(0, whole[: max(0, len(whole) - cut)].count(b"\n") - 1)
    with Journal(path, HEADER) as journal:
        assert journal.resumed == left
        for number in range(left):
            assert journal.get({"run": number}) == {"text": f"Größe {number}\u2028"}
        for number in range(left, answers):
            journal.add({"run": number}, {"text": f"Größe {number}\u2028"})
    assert path.read_bytes() == whole


def test_a_finished_audit_is_asked_anew(tmp_path: Path) -> None:
    """Else a second run in CI would pass on the answers of the first."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, HEADER) as journal:
        journal.add({"run": 1}, {"text": "old"})
        journal.finish({"verdict": "kept"})
    assert json.loads(path.read_text().splitlines()[-1]) == {"kind": "finding", "verdict": "kept"}
    with Journal(path, HEADER) as journal:
        assert journal.resumed == 0
        assert journal.get({"run": 1}) is None


def test_an_unfinished_audit_of_other_settings_is_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, HEADER) as journal:
        journal.add({"run": 1}, {"text": "old"})
    before = path.read_bytes()
    with pytest.raises(InvalidRequest, match="other settings"):
        Journal(path, {**HEADER, "terms": ["b"]})
    assert path.read_bytes() == before


def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("dear diary\n")
    with pytest.raises(InvalidRequest, match="no journal"):
        Journal(path, HEADER)
    assert path.read_text() == "dear diary\n"


def test_a_finished_audit_is_kept_until_the_next_one_has_an_answer(tmp_path: Path) -> None:
    """Else a server that is away costs the last finding."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, HEADER) as journal:
        journal.add({"run": 1}, {"text": "old"})
        journal.finish({"verdict": "kept"})
    finished = path.read_bytes()
    other = {**HEADER, "terms": ["b"]}
    with Journal(path, other) as journal:
        assert path.read_bytes() == finished
        journal.add({"run": 1}, {"text": "new"})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("record", line) for line in lines] == [other, {"text": "new"}]


def test_two_audits_do_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, HEADER) as journal:
        journal.add({"run": 1}, {"text": "one"})
        with pytest.raises(InvalidRequest, match="Another audit is writing"):
            Journal(path, HEADER)
    with Journal(path, HEADER) as journal:
        assert journal.get({"run": 1}) == {"text": "one"}


@pytest.mark.parametrize("line", ["5", "[]", "{}", '{"kind": "answer", "key": 3, "record": {}}', '{"kind": "answer"}'])
def test_json_that_is_no_journal_is_left_alone(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(f"{json.dumps(HEADER)}\n{line}\n")
    with pytest.raises(InvalidRequest, match="no journal"):
        Journal(path, HEADER)
    assert path.read_text().endswith(f"{line}\n")
