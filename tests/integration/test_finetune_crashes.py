"""A run that is killed again and again ends with the bytes of one that was left alone."""

import contextlib
import random
import subprocess
from pathlib import Path

import psutil
import pytest
from finetune_clips import ROOT, make_clips, options, prepare, run, tree

from app.finetune import prepare as preparing

KILLS = 20


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clips(tmp_path_factory.mktemp("clips"), 160)


@pytest.fixture(scope="module")
def undisturbed(manifest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "set"
    done = run(prepare(manifest, out))
    assert done.returncode == 0, done.stderr
    return out


def kill_someone(process: subprocess.Popen[bytes], dice: random.Random) -> None:
    """SIGKILL to a worker, or to the parent, which leaves its workers behind."""
    parent = psutil.Process(process.pid)
    workers = parent.children()
    victim = dice.choice(workers) if workers and dice.random() < 0.5 else parent
    with contextlib.suppress(psutil.NoSuchProcess):
        victim.kill()
    if victim == parent:
        process.wait()


def test_twenty_kills_of_workers_and_parents_change_no_byte(manifest: Path, undisturbed: Path, tmp_path: Path) -> None:
    dice, kills, out = random.Random(20), 0, tmp_path / "set"
    arguments = prepare(manifest, out)
    process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while kills < KILLS:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.3, 1.2))
        if process.poll() is None:
            kill_someone(process, dice)
            kills += 1
        elif process.returncode == 0:  # all done before the last kill: make work again
            for shard in dice.sample(sorted(out.glob("train/*.arrow")), 5):
                shard.unlink()
        if process.poll() is not None:
            process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.kill()
    process.wait()
    last = run(arguments)
    assert last.returncode == 0, last.stderr
    assert tree(out) == tree(undisturbed)


def test_one_worker_gives_the_bytes_of_two_and_a_second_run_does_nothing(
    manifest: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "set"
    assert run(prepare(manifest, out, workers=1)).returncode == 0
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.arrow")}
    told = preparing.prepare(manifest, str(out), options(workers=1), lambda told: None)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.arrow")} == before
    assert tree(out) == tree(undisturbed)
    assert told["rejects"] == {"bad_audio": 1, "silent": 1}
