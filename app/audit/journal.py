"""What an audit has heard so far, as JSON lines. In: a key and a record. Out: the record, now or after a restart. A
process killed at any moment loses at most the line that it was writing. Blocking; any thread."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.errors import InvalidRequest

_FINDING = "finding"


class Journal:
    """One audit, one file. The first line says which audit under which settings; the last, once it is done, what was
    found. Opening goes on with an audit that was interrupted, and starts one that was finished or never begun."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        """Raises InvalidRequest when the file holds an unfinished audit of other settings, or is no journal."""
        self._lock = threading.Lock()
        self._records: dict[str, dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = _whole_lines(path)
        lines = list(_parsed(path, whole))
        if lines and lines[-1].get("kind") == _FINDING:
            lines = []
        if lines and lines[0] != _plain(header):
            raise InvalidRequest(
                f"{path} holds an unfinished audit of other settings: finish it with those, or name another folder "
                "with --out.",
                param="out",
            )
        for line in lines[1:]:
            self._records[line["key"]] = line["record"]
        self.resumed = len(self._records)
        self._file = path.open("ab" if lines else "wb")
        if lines:
            self._file.truncate(len(whole))
        else:
            self._write(header)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        return self._records.get(_name(key))

    def add(self, key: dict[str, Any], record: dict[str, Any]) -> None:
        with self._lock:
            self._records[_name(key)] = record
            self._write({"kind": "answer", "key": _name(key), "record": record})

    def finish(self, finding: dict[str, Any]) -> None:
        """The last line. After it the next run of the same audit asks everything anew."""
        with self._lock:
            self._write({"kind": _FINDING, **finding})

    def _write(self, line: dict[str, Any]) -> None:
        # ASCII only, so that no reader takes a character of a transcript for the end of a line.
        self._file.write(json.dumps(line, sort_keys=True).encode() + b"\n")
        self._file.flush()


def _whole_lines(path: Path) -> bytes:
    """Without a last line that was cut off while it was written."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def _parsed(path: Path, lines: bytes) -> Iterator[dict[str, Any]]:
    for line in lines.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            raise InvalidRequest(f"{path} is no journal of an audit; name another folder with --out.") from None


def _name(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def _plain(header: dict[str, Any]) -> Any:
    return json.loads(json.dumps(header))
