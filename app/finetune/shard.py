"""One shard: a file of Arrow record batches as Hugging Face `datasets` memory-maps it. In: examples. Out: the file and
its hash, the same bytes for the same examples. Blocking; the thread of a worker, and one that waits for the disk."""

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from app.finetune.columns import features_of
from app.finetune.mel import FRAMES, Features

# Rows written at a time: 15 MB of features of 80 bands, the most that a worker holds besides one recording.
_ROWS = 32


@dataclass(frozen=True, slots=True)
class Example:
    """One row. `seconds` of sound in `features`, shape (mels, 3000); `start` in the recording; `source` its path."""

    features: Features
    labels: Sequence[int]
    seconds: float
    start: float
    source: str
    language: str


def schema_of(mels: int) -> pa.Schema:
    """What `datasets.Features(...).arrow_schema` writes to a file. The extension type is written as its storage and
    its name, so that a worker need not spend the seconds that importing `datasets` takes."""
    array = {
        "ARROW:extension:name": "datasets.features.features.Array2DExtensionType",
        "ARROW:extension:metadata": json.dumps([[mels, FRAMES], "float16"]),
    }
    return pa.schema(
        [
            pa.field("input_features", pa.list_(pa.list_(pa.float16())), metadata=array),
            pa.field("labels", pa.list_(pa.int32())),
            pa.field("duration", pa.float32()),
            pa.field("start", pa.float32()),
            pa.field("source", pa.string()),
            pa.field("language", pa.string()),
        ],
        metadata={"huggingface": json.dumps({"info": {"features": features_of(mels)}})},
    )


class ShardWriter:
    """Writes batches of 32 rows as they come. `sha256` and `size` are right once it is closed.

    The disk begins with each batch at once: kept for one fsync at the end, half a megabyte a row would let a worker
    stand for as long as it has computed, where a disk takes 50 MB a second. Raises OSError where it takes no more."""

    def __init__(self, path: Path, mels: int) -> None:
        self._file = path.open("wb")
        self._digest = hashlib.sha256()
        self._schema = schema_of(mels)
        self._buffer = BytesIO()
        self._stream = pa.ipc.new_stream(self._buffer, self._schema)
        self._waiting: list[Example] = []
        self._disk = ThreadPoolExecutor(1)
        self._synced: Future[None] = self._disk.submit(os.fsync, self._file.fileno())
        self._mels = mels
        self.size = 0

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._write_batch()
                self._stream.close()
                self._drain()
                self._synced.result()
        finally:
            self._disk.shutdown()
            self._file.close()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def add(self, example: Example) -> None:
        self._waiting.append(example)
        if len(self._waiting) == _ROWS:
            self._write_batch()

    def _write_batch(self) -> None:
        rows, self._waiting = self._waiting, []
        if rows:
            columns = [
                _features([row.features for row in rows], self._mels),
                _lists([row.labels for row in rows]),
                _numbers(np.array([row.seconds for row in rows], dtype=np.float32), pa.float32()),
                _numbers(np.array([row.start for row in rows], dtype=np.float32), pa.float32()),
                _strings([row.source for row in rows]),
                _strings([row.language for row in rows]),
            ]
            self._stream.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
            self._drain()

    def _drain(self) -> None:
        content = self._buffer.getbuffer()
        self._digest.update(content)
        self._file.write(content)
        self._file.flush()
        self.size += len(content)
        content.release()
        if self._synced.done():
            self._synced.result()
            self._synced = self._disk.submit(os.fsync, self._file.fileno())
        self._buffer.seek(0)
        self._buffer.truncate()


# Arrays are made of buffers: `pa.array` would import pandas first, which takes a worker as long as fifty recordings.


def _features(rows: list[Features], mels: int) -> pa.Array:
    """Lists of lists over one flat buffer: no Python object for any of its numbers."""
    bands = pa.ListArray.from_arrays(
        _offsets(np.full(len(rows) * mels, FRAMES)), _numbers(np.concatenate(rows).reshape(-1), pa.float16())
    )
    return pa.ListArray.from_arrays(_offsets(np.full(len(rows), mels)), bands)


def _lists(rows: Sequence[Sequence[int]]) -> pa.Array:
    flat = np.fromiter((number for row in rows for number in row), dtype=np.int32)
    return pa.ListArray.from_arrays(_offsets([len(row) for row in rows]), _numbers(flat, pa.int32()))


def _strings(rows: Sequence[str]) -> pa.Array:
    encoded = [row.encode() for row in rows]
    offsets = _offsets([len(row) for row in encoded]).buffers()[1]
    return pa.Array.from_buffers(pa.string(), len(rows), [None, offsets, pa.py_buffer(b"".join(encoded))])


def _offsets(lengths: npt.ArrayLike) -> pa.Array:
    return _numbers(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32), pa.int32())


def _numbers(numbers: npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])
