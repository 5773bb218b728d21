"""Every form of input, and the chunks cut from it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.decoding.request import Task
from app.errors import InvalidRequest
from app.finetune.chunk import Job, Recipe
from app.finetune.entries import Entry, Reason, Reject
from app.finetune.plan import Division, Plan, chunk_sizes, make_plan
from app.finetune.sound import Long
from app.finetune.sources import read_source
from app.finetune.terms import TermFinder

RECIPE = Recipe("tokenizer.json", "0" * 64, 80, Task.TRANSCRIBE, Long.REJECT, 7200.0, {"numpy": "2"})
PLANS: list[Plan] = []


@pytest.fixture(autouse=True)
def _close_plans() -> Iterator[None]:
    yield
    while PLANS:
        PLANS.pop().close()


def read(path: Path, content: str = "", language: str = "") -> list[Entry | Reject]:
    if content:
        path.write_text(content, encoding="utf-8")
    return list(read_source(path, language))


def test_tsv_takes_quotes_as_they_are_and_csv_as_quotes(tmp_path: Path) -> None:
    tsv = read(tmp_path / "m.tsv", 'file\tlanguage\ttranscript\tpath\na.wav\ten\t"Yes," he said\tother/name.wav\n')
    assert tsv == [Entry("a.wav", '"Yes," he said', "en")]
    table = read(tmp_path / "m.csv", '\ufeffaudio,text,start,end,split\na.wav,"""Yes,"" he said",1.5,4,dev\n', "de")
    assert table == [Entry("a.wav", '"Yes," he said', "de", "dev", 1.5, 4.0)]


def test_json_lines_take_fields_and_whole_transcripts(tmp_path: Path) -> None:
    transcript = {
        "file": "b.wav",
        "language": "ko",
        "segments": [{"start": 0, "end": 20, "text": "하나"}, {"start": 20, "end": 40, "text": "둘"}],
    }
    lines = [json.dumps({"audio_filepath": "a.wav", "text": "x", "start": 0, "end": 2.5}), "", json.dumps(transcript)]
    assert read(tmp_path / "m.jsonl", "\n".join(lines)) == [
        Entry("a.wav", "x", start=0.0, end=2.5),
        Entry("b.wav", "하나", "ko", start=0.0, end=20.0),
        Entry("b.wav", "둘", "ko", start=20.0, end=40.0),
    ]


def test_a_folder_pairs_recordings_with_text_transcripts_and_subtitles(tmp_path: Path) -> None:
    for name in ("a.wav", "deep/b.FLAC", "c.mp3", "d.ogg", "notes.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "deep" / "b.json").write_text('{"text": "two", "language": "fr"}')
    (tmp_path / "c.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nthree\n")
    found = read(tmp_path, language="en")
    assert found[0] == Entry("a.wav", "one\n", "en")
    assert found[1] == Entry("c.mp3", "three", "en", start=1.0, end=2.0)
    assert isinstance(found[2], Reject)
    assert (found[2].source, found[2].reason) == ("d.ogg", Reason.NO_TEXT)
    assert found[3:] == [Entry("deep/b.FLAC", "two", "fr")]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"text": "x"}', Reason.BAD_ROW),
        ("[1]", Reason.BAD_ROW),
        ("{broken", Reason.BAD_ROW),
        ('{"file": "a", "text": ["x"]}', Reason.BAD_ROW),
        ('{"file": "a\\ud800", "text": "x"}', Reason.BAD_ROW),
        ('{"file": "a", "text": "x", "start": "soon"}', Reason.BAD_TIMES),
        ('{"file": "a", "text": "x", "start": 3, "end": 2}', Reason.BAD_TIMES),
        ('{"file": "a", "text": "x", "start": "nan"}', Reason.BAD_TIMES),
        ('{"file": "a", "text": "x", "end": "inf"}', Reason.BAD_TIMES),
    ],
)
def test_a_bad_row_is_counted_and_the_next_one_read(tmp_path: Path, row: str, reason: Reason) -> None:
    found = read(tmp_path / "m.jsonl", f'{row}\n{{"file": "b", "text": "y"}}\n')
    assert isinstance(found[0], Reject)
    assert found[0].reason is reason
    assert found[1:] == [Entry("b", "y")]


@pytest.mark.parametrize("header", ["a,b", "audio,language", ""])
def test_a_table_without_its_columns_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(InvalidRequest, match="missing: "):
        read(tmp_path / "m.csv", header + "\nx,y\n")


def plan_of(tmp_path: Path, entries: list[Entry | Reject], **division: object) -> Plan:
    options = {"validation": 0.0, "chunk_files": 3, "oversampled": TermFinder(()), "held_out": TermFinder(())}
    plan = make_plan(entries, Division(**(options | division)), RECIPE, tmp_path)  # type: ignore[arg-type]
    PLANS.append(plan)
    return plan


def test_chunks_hold_every_entry_once_and_jobs_survive_the_wire(tmp_path: Path) -> None:
    entries: list[Entry | Reject] = [Entry(f"{number}.wav", f"text {number}", "en") for number in range(7)]
    plan = plan_of(tmp_path, [*entries, Reject("x", Reason.NO_TEXT)])
    jobs = [plan.job(chunk, "out") for chunk in plan.chunks]
    assert [chunk.name for chunk in plan.chunks] == [f"train/shard-0000{number}" for number in range(3)]
    assert [entry for job in jobs for entry in job.entries] == entries
    assert (plan.entries, plan.first) == (8, {"no_text": 1})
    assert [Job.from_json(job.to_json()) for job in jobs] == jobs


def test_terms_are_oversampled_or_held_out_in_shards_of_their_own(tmp_path: Path) -> None:
    texts = ["plain", "about Grafana", "about Nguyen", "Nguyen and Grafana"]
    entries: list[Entry | Reject] = [Entry(f"{n}.wav", text, "en", "train") for n, text in enumerate(texts)]
    plan = plan_of(tmp_path, entries, oversampled=TermFinder(["grafana"]), held_out=TermFinder(["NGUYEN"]))
    said = {chunk.name: [entry.text for entry in plan.job(chunk, "").entries] for chunk in plan.chunks}
    assert said == {
        "train/shard-00000": ["plain"],
        "train/terms-00000": ["about Grafana"],
        "heldout/shard-00000": ["about Nguyen", "Nguyen and Grafana"],
    }


def test_a_chunks_key_changes_with_its_recordings_and_text_only(tmp_path: Path) -> None:
    entries: list[Entry | Reject] = [Entry(f"{number}.wav", "x", "en") for number in range(6)]
    keys = [chunk.key for chunk in plan_of(tmp_path, entries).chunks]
    assert [chunk.key for chunk in plan_of(tmp_path, entries).chunks] == keys
    (tmp_path / "4.wav").write_bytes(b"put right")
    changed = [chunk.key for chunk in plan_of(tmp_path, entries).chunks]
    assert (changed[0] == keys[0], changed[1] == keys[1]) == (True, False)


@given(st.integers(0, 30_000), st.integers(1, 1000))
def test_chunks_hold_all_and_never_grow(total: int, most: int) -> None:
    sizes = list(chunk_sizes(total, most))
    assert sum(sizes) == total
    assert sizes == sorted(sizes, reverse=True)
    assert all(1 <= size <= most for size in sizes)


@pytest.mark.parametrize("entries", [400, 1200, 10_000])
@pytest.mark.parametrize("workers", [2, 4, 7])
def test_workers_that_take_the_largest_chunk_first_end_together(entries: int, workers: int) -> None:
    busy = [0] * workers
    for size in chunk_sizes(entries, 500):
        busy[busy.index(min(busy))] += size
    assert max(busy) - min(busy) <= 32


def test_entries_lie_in_no_file_that_a_kill_could_leave_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    plan = plan_of(tmp_path, [Entry("a.wav", "x", "en"), Reject("b.wav", Reason.NO_TEXT)])
    assert [entry.source for entry in plan.job(plan.chunks[0], "").entries] == ["a.wav"]
    assert list(tmp_path.iterdir()) == []
