"""How many cores this process may really use. In: affinity mask and cgroup quota. Out: the number of single-thread
model workers that keep them busy. Any thread."""

import math
import os
from pathlib import Path

_CGROUP_V2 = Path("/sys/fs/cgroup/cpu.max")
_CGROUP_V1 = Path("/sys/fs/cgroup/cpu")


def available_cores() -> int:
    """At least 1. A container limited to 2 of 32 cores gets 2: more threads than cores make decoding slower."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota()
    return max(1, min(affinity, math.ceil(quota)) if quota else affinity)


def _quota() -> float | None:
    """Cores by the cgroup's CPU quota, None for no limit."""
    try:
        if _CGROUP_V2.is_file():
            limit, period = _CGROUP_V2.read_text().split()
            return None if limit == "max" else int(limit) / int(period)
        limit = (_CGROUP_V1 / "cpu.cfs_quota_us").read_text()
        period = (_CGROUP_V1 / "cpu.cfs_period_us").read_text()
    except (OSError, ValueError):
        return None
    return int(limit) / int(period) if int(limit) > 0 else None
