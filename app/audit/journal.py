"""What an audit has heard so far, as JSON lines. In: a key and a record. Out: the record, now or after a restart. A
process killed at any moment loses at most the line that it was writing. Blocking; any thread."""

import fcntl
import json
import threading
from pathlib import Path
from typing import Any

from app.errors import InvalidRequest

_FINDING = "finding"


class Journal:
    """One audit, one file, one process at a time. The first line says which audit under which settings; the last, once
    it is done, what was found. Opening goes on with an audit that was interrupted. A finished one is asked anew, and
    stays what it is until the first new answer is there."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        """Raises InvalidRequest when the file holds an unfinished audit of other settings, is no journal, or is being
        written by another process; OSError when it cannot be written."""
        self._lock = threading.Lock()
        self._header: dict[str, Any] | None = header
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        try:
            self._take(path)
            whole = _whole_lines(path.read_bytes())
            heard = _unfinished(path, whole, json.loads(json.dumps(header)))
        except BaseException:
            self._file.close()
            raise
        if heard is not None:
            self._header = None
            self._file.truncate(len(whole))
        self._records = heard or {}
        self.resumed = len(self._records)

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

    def _take(self, path: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidRequest(
                f"Another audit is writing {path}: wait for it, or name another folder with --out.", param="out"
            ) from None

    def _write(self, line: dict[str, Any]) -> None:
        if self._header is not None:
            self._file.truncate(0)
            self._append(self._header)
            self._header = None
        self._append(line)

    def _append(self, line: dict[str, Any]) -> None:
        # ASCII only, so that no reader takes a character of a transcript for the end of a line.
        self._file.write(json.dumps(line, sort_keys=True).encode() + b"\n")
        self._file.flush()


def _whole_lines(data: bytes) -> bytes:
    """Without a last line that was cut off while it was written."""
    return data[: data.rfind(b"\n") + 1]


def _unfinished(path: Path, lines: bytes, header: dict[str, Any]) -> dict[str, dict[str, Any]] | None:
    """The answers by name; None where there is nothing to go on from."""
    parsed = [_parsed(path, line) for line in lines.splitlines()]
    if not parsed or parsed[-1]["kind"] == _FINDING:
        return None
    if parsed[0] != header:
        raise InvalidRequest(
            f"{path} holds an unfinished audit of other settings: finish it with those, delete it, or name another "
            "folder with --out.",
            param="out",
        )
    return {line["key"]: line["record"] for line in parsed[1:]}


def _parsed(path: Path, line: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
        is_answer = parsed["kind"] == "answer" and isinstance(parsed["key"], str) and isinstance(parsed["record"], dict)
        if is_answer or parsed["kind"] in ("audit", _FINDING):
            return dict(parsed)
    except (ValueError, TypeError, KeyError):
        pass
    raise InvalidRequest(f"{path} is no journal of an audit; name another folder with --out.", param="out")


def _name(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)
