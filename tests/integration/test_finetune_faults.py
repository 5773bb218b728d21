"""What goes wrong with training sets: it is said, what was made stays, and the next run puts it right."""

import json
import shlex
from pathlib import Path

import pytest
from datasets import load_from_disk
from finetune_clips import CLIP, ignore, make_clips, model_folder, options, run, tree, write_wav
from finetune_clips import prepare as prepare_command
from typer.testing import CliRunner

from app.audio.decoder import decode_audio
from app.cli.main import app as command
from app.errors import Conflict, InternalError, InvalidRequest
from app.finetune import pool
from app.finetune.check import check
from app.finetune.prepare import prepare
from app.finetune.sound import Long
from app.finetune.storage import Storage


def test_too_many_rejects_stop_the_run_and_it_goes_on_once_they_are_put_right(
    tmp_path: Path, one_process: None
) -> None:
    manifest, out = make_clips(tmp_path / "clips", 12), tmp_path / "set"
    with pytest.raises(InvalidRequest, match=r"2 of 12 .*bad_audio 1, silent 1.*limit of 5\.0%") as refused:
        prepare(manifest, str(out), options(max_rejects=0.05), ignore)
    assert refused.value.code == "too_many_rejects"
    named = [json.loads(line)["source"] for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert named == ["clip00005.wav", "clip00007.wav"]
    with pytest.raises(FileNotFoundError):
        load_from_disk(str(out))
    samples = decode_audio(CLIP, max_seconds=60).samples[: 16000 * 2]
    for name in named:
        write_wav(manifest.parent / name, samples)
    assert prepare(manifest, str(out), options(max_rejects=0.0), ignore)["rows"] == {"train": 12}


def test_check_finds_what_was_changed(manifest: Path, tmp_path: Path, one_process: None) -> None:
    out = tmp_path / "set"
    prepare(manifest, str(out), options(), ignore)
    assert check(str(out), model_folder(), show=1, tick=ignore).problems == []
    shard = out / "train" / "shard-00000.arrow"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    (out / "train" / "shard-00001.arrow").write_bytes(b"")
    found = check(str(out), model_folder(), show=1, tick=ignore)
    assert [problem.partition(":")[0] for problem in found.problems] == [
        "train/shard-00000.arrow",
        "train/shard-00001.arrow",
    ]
    looked = CliRunner().invoke(command, ["finetune", "check", str(out), "--model", str(model_folder())])
    assert looked.exit_code == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("train/state.json", "{", "`datasets` cannot load the set (JSONDecodeError)"),
        ("lexicue.json", "{}", "lexicue.json is damaged"),
        ("lexicue.json", '{"shards": [', "lexicue.json is damaged"),
    ],
)
def test_a_damaged_index_or_report_is_found_and_another_run_repairs_it(
    manifest: Path, tmp_path: Path, one_process: None, name: str, content: str, said: str
) -> None:
    out = tmp_path / "set"
    prepare(manifest, str(out), options(), ignore)
    whole = tree(out)
    (out / name).write_text(content)
    looked = CliRunner().invoke(command, ["finetune", "check", str(out), "--model", str(model_folder())])
    assert (looked.exit_code, said in looked.output) == (1, True), looked.output
    prepare(manifest, str(out), options(), ignore)
    assert tree(out) == whole


def test_another_set_in_the_folder_is_refused_and_stays_as_it_was(
    manifest: Path, tmp_path: Path, one_process: None
) -> None:
    out = tmp_path / "set"
    prepare(manifest, str(out), options(), ignore)
    whole = tree(out)
    with pytest.raises(Conflict, match="--long was reject, is cut"):
        prepare(manifest, str(out), options(long=Long.CUT), ignore)
    other = tmp_path / "other"
    other.mkdir()
    write_wav(other / "new.wav", decode_audio(CLIP, max_seconds=60).samples)
    (other / "m.tsv").write_text("audio\ttext\tlanguage\nnew.wav\thello\ten\nnowhere.wav\thello\ten\n")
    with pytest.raises(Conflict, match="shares no recording"):
        prepare(other / "m.tsv", str(out), options(), ignore)
    assert tree(out) == whole


def test_recordings_that_hold_no_sound_are_named_for_what_they_are(tmp_path: Path, one_process: None) -> None:
    samples = decode_audio(CLIP, max_seconds=60).samples
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "zero.wav").touch()
    write_wav(tmp_path / "empty.wav", samples[:0])
    write_wav(tmp_path / "good.wav", samples)
    names = ["folder.wav", "zero.wav", "empty.wav", "missing.wav", "good.wav", "good.wav"]
    rows = "".join(f"{name}\thello\ten\ttrain\n" for name in names)
    (tmp_path / "m.tsv").write_text("audio\ttext\tlanguage\tsplit\n" + rows)
    told = prepare(tmp_path / "m.tsv", str(tmp_path / "set"), options(max_rejects=1.0), ignore)
    rejects = [json.loads(line) for line in (tmp_path / "set" / "rejects.jsonl").read_text().splitlines()]
    assert {reject["source"]: (reject["reason"], reject["detail"]) for reject in rejects} == {
        "folder.wav": ("missing_file", "a folder, not a file"),
        "zero.wav": ("bad_audio", "invalid_audio"),
        "empty.wav": ("too_short", "0.000 s"),
        "missing.wav": ("missing_file", ""),
    }
    assert told["rows"] == {"train": 2}


def test_an_output_that_cannot_be_written_is_said_in_a_line(manifest: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "set"):
        made = CliRunner().invoke(
            command, ["finetune", "prepare", str(manifest), str(out), "--model", str(model_folder())]
        )
        assert made.exit_code == 1
        assert made.output.startswith("A file cannot be read or written: ")
        assert isinstance(made.exception, SystemExit)


def test_a_full_disk_ends_the_run_with_a_reason_and_leaves_nothing_half(manifest: Path, tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk: writing fails in the worker in the same way."""
    limited = f"ulimit -f 100; exec {shlex.join(prepare_command(manifest, tmp_path / 'set'))}"
    made = run(["bash", "-c", limited])
    assert made.returncode != 0
    assert "The shard cannot be written: File too large" in made.stderr
    assert [path.name for path in (tmp_path / "set").rglob("*") if path.is_file()] == ["input.json"]
    assert run(prepare_command(manifest, tmp_path / "set")).returncode == 0


def test_a_folder_with_other_files_is_left_alone(manifest: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").touch()
    with pytest.raises(InvalidRequest, match="other files"):
        prepare(manifest, str(tmp_path), options(), ignore)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_second_run_on_the_same_folder_is_refused(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.finetune.storage._LOCK_TRIES", 1)
    with (
        Storage(str(tmp_path / "set")).alone(),
        pytest.raises(Conflict, match="Another run"),
    ):
        prepare(manifest, str(tmp_path / "set"), options(), ignore)


def test_a_recording_that_crashes_its_worker_is_counted_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers run with a `Path.is_file` that dies of a fault at one file, as a codec with a bug would."""
    manifest = make_clips(tmp_path / "clips", 4)
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib, signal\n"
        "is_file = pathlib.Path.is_file\n"
        "def fatal(self):\n"
        "    if self.name == 'clip00002.wav':\n"
        "        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    return is_file(self)\n"
        "pathlib.Path.is_file = fatal\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    told = prepare(manifest, str(tmp_path / "set"), options(workers=1), ignore)
    assert told["rejects"] == {"crashed": 1}
    assert told["rows"] == {"train": 3}


def test_workers_that_cannot_start_end_the_run_with_a_reason(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool.sys, "executable", "/bin/false")
    with pytest.raises(InternalError, match="exit code 1"):
        prepare(manifest, str(tmp_path / "set"), options(), ignore)
