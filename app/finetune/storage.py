"""Where a prepared set lives. In: files made on this machine, names. Out: the same under one root: a local folder,
where they appear whole or not at all, or any fsspec address. Blocking; any thread or process."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from app.errors import Conflict, InvalidRequest

_LOCK_TRIES = 100
_LOCK_PAUSE_SECONDS = 0.1


class Storage:
    """Names are relative, with `/`. On a local folder a file is written beside its name, fsynced and renamed; at
    another address it is uploaded, and counts only once the record that names its hash is there."""

    def __init__(self, address: str) -> None:
        """Raises InvalidRequest for an address that no installed file system serves."""
        try:
            self._files, self._root = fsspec.core.url_to_fs(address)
        except (ValueError, ImportError) as error:
            raise InvalidRequest(f"The output address cannot be used: {error}", param="out") from None
        self.folder = Path(self._root) if isinstance(self._files, LocalFileSystem) else None
        self.address = str(self.folder.absolute()) if self.folder else address

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A path to write to; on leaving without an error its content is under `name`."""
        if self.folder is None:
            with tempfile.TemporaryDirectory(prefix="lexicue-") as scratch:
                path = Path(scratch, "part")
                yield path
                self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
                self._files.put_file(str(path), self._at(name))
            return
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        path = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            yield path
            _fsync(path)
            path.replace(target)
            _fsync(target.parent)
        finally:
            path.unlink(missing_ok=True)

    def write_text(self, name: str, text: str) -> None:
        with self.writing(name) as path:
            path.write_text(text, encoding="utf-8")

    def read_text(self, name: str) -> str | None:
        """None where there is no such file."""
        try:
            content: bytes = self._files.cat_file(self._at(name))
        except FileNotFoundError:
            return None
        return content.decode()

    def size(self, name: str) -> int | None:
        """Bytes; None where there is no such file."""
        try:
            return int(self._files.info(self._at(name))["size"])
        except FileNotFoundError:
            return None

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """The file on this machine; from another address it is fetched for the while."""
        if self.folder is not None:
            yield self.folder / name
            return
        with tempfile.TemporaryDirectory(prefix="lexicue-") as scratch:
            path = Path(scratch, "whole")
            self._files.get_file(self._at(name), str(path))
            yield path

    def names(self) -> list[str]:
        """Every file under the root, sorted; none where there is no such root."""
        try:
            found = self._files.find(self._root)
        except FileNotFoundError:
            return []
        return sorted(path.removeprefix(self._root).lstrip("/") for path in found)

    def remove(self, name: str) -> None:
        try:
            self._files.rm_file(self._at(name))
        except FileNotFoundError:
            return

    @contextmanager
    def alone(self) -> Iterator[int | None]:
        """Keeps other runs on this machine off the folder. The descriptor that it gives is the lock: whoever inherits
        it, as workers do, keeps it as long as they live. At other addresses there is none.

        Raises Conflict while another run, or the last workers of one that was killed, write there for 10 s more.
        """
        if self.folder is None:
            yield None
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            _lock(descriptor)
            yield descriptor
        finally:
            os.close(descriptor)

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"


def _lock(descriptor: int) -> None:
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_SECONDS)
        else:
            return
    raise Conflict("Another run writes to this output folder; wait for it, or name another folder.", param="out")


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
