"""Lexicue. In: nothing. Out: a process in which no library calls home, from before the first is loaded; any thread.

ONNX Runtime (voice detection) since 1.29 reports its sessions to its maker by default. Only this variable, set before
it is loaded, keeps it from that; its `disable_telemetry_events()` does not (seen with strace on 1.32)."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
