"""Workers follow what the process may really use."""

import os
from pathlib import Path

import pytest

from app.decoding import cores


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("200000 100000", 2), ("150000 100000", 2), ("50000 100000", 1), ("max 100000", 32), ("?", 32)],
)
def test_a_quota_below_the_cores_of_the_host_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, expected: int
) -> None:
    """A container of two cores on a large host ran slower with a thread a core of the host (public report d15)."""
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    monkeypatch.setattr(cores, "_CGROUP_V2", file)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(32)))
    assert cores.available_cores() == expected
