"""Training sets from end to end: what the command makes can be loaded, checked and trusted; what is wrong is said."""

import json
from pathlib import Path

import numpy as np
import pytest
from datasets import load_from_disk
from finetune_clips import CLIP, ignore, make_clips, model_folder, options, write_wav
from typer.testing import CliRunner

from app.audio.decoder import decode_audio
from app.cli.main import app as command
from app.finetune.prepare import prepare
from app.finetune.sound import Long
from app.finetune.storage import Storage


def test_the_command_makes_a_set_that_datasets_loads_and_check_finds_sound(manifest: Path, tmp_path: Path) -> None:
    out, model = str(tmp_path / "set"), str(model_folder())
    made = CliRunner().invoke(
        command,
        ["finetune", "prepare", str(manifest), out, "--model", model, "--max-rejects", "0.2", "--chunk", "6", "--json"],
    )
    assert made.exit_code == 0, made.output
    told = json.loads(made.stdout)
    assert (told["entries"], told["rejects"]) == (12, {"bad_audio": 1, "silent": 1})
    loaded = load_from_disk(out)
    assert {split: len(rows) for split, rows in loaded.items()} == told["rows"]
    row = loaded["train"].with_format("numpy")[0]
    assert row["input_features"].shape == (80, 3000)
    assert row["duration"] == pytest.approx(3.0)
    assert loaded["train"].features["input_features"].dtype == "float16"
    looked = CliRunner().invoke(
        command, ["finetune", "check", out, "--model", model, "--plots", str(tmp_path / "png"), "--show", "2"]
    )
    assert looked.exit_code == 0, looked.output
    assert "10 rows" in looked.output
    assert "And so, my fellow Americans, ask not what your country can do for you, 0" in looked.output
    assert len(list((tmp_path / "png").glob("*.png"))) == 2


def test_the_bytes_do_not_depend_on_where_input_and_output_lie(
    manifest: Path, tmp_path: Path, one_process: None
) -> None:
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    for file in manifest.parent.iterdir():
        (elsewhere / file.name).write_bytes(file.read_bytes())
    first, second = Storage(str(tmp_path / "a")), Storage(str(tmp_path / "deep" / "b"))
    prepare(manifest, first.address, options(), ignore)
    prepare(elsewhere / manifest.name, second.address, options(), ignore)
    assert first.names() == second.names()
    for name in first.names():
        with first.reading(name) as one, second.reading(name) as other:
            assert one.read_bytes() == other.read_bytes(), name


def test_any_fsspec_address_gets_the_same_files(manifest: Path, tmp_path: Path, one_process: None) -> None:
    (tmp_path / "far").mkdir()
    address = f"dir://set::file://{tmp_path}/far"  # an address that is not a local folder to us
    assert Storage(address).folder is None
    told = prepare(manifest, address, options(), ignore)
    assert prepare(manifest, address, options(), ignore) == told
    near = prepare(manifest, str(tmp_path / "near"), options(), ignore)
    assert near == told
    far, local = Storage(address), Storage(str(tmp_path / "near"))
    assert far.names() == local.names()
    assert load_from_disk(str(tmp_path / "far" / "set"))["train"].num_rows == told["rows"]["train"]


def test_terms_are_listed_again_or_kept_out_of_training(tmp_path: Path, one_process: None) -> None:
    manifest = make_clips(tmp_path / "clips", 12)
    chosen = options(oversampled=("country can do for you, 3",), times=4, held_out=("you, 1",))
    told = prepare(manifest, str(tmp_path / "set"), chosen, ignore)
    loaded = load_from_disk(str(tmp_path / "set"))
    assert loaded["heldout"]["source"] == ["clip00001.wav"]
    assert loaded["train"]["source"].count("clip00003.wav") == 4
    assert "clip00001.wav" not in loaded["train"]["source"]
    assert len(loaded["train"]) == told["rows"]["train"] + 3


def test_parts_of_a_recording_by_time_and_a_long_one_cut_by_choice(tmp_path: Path, one_process: None) -> None:
    samples = decode_audio(CLIP, max_seconds=60).samples
    write_wav(tmp_path / "long.wav", np.tile(samples, 4))
    rows = [
        {"file": "long.wav", "language": "en", "text": "a part", "start": 1.0, "end": 3.5, "split": "train"},
        {"file": "long.wav", "language": "en", "text": "beyond", "start": 100.0, "split": "train"},
        {"file": "long.wav", "language": "en", "text": "all of it", "split": "test"},
        {"file": "nowhere.wav", "language": "en", "text": "missing"},
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = prepare(tmp_path / "m.jsonl", str(tmp_path / "a"), options(max_rejects=1.0), ignore)
    assert told["rejects"] == {"bad_times": 1, "missing_file": 1, "too_long": 1}
    part = load_from_disk(str(tmp_path / "a"))["train"][0]
    assert (part["duration"], part["start"]) == (2.5, 1.0)
    cut = prepare(tmp_path / "m.jsonl", str(tmp_path / "b"), options(max_rejects=1.0, long=Long.CUT), ignore)
    assert cut["cut_to_30_s"] == 1
    assert load_from_disk(str(tmp_path / "b"))["test"][0]["duration"] == 30.0
