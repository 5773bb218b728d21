"""An upload on disk for as long as its request lasts. In: a multipart file. Out: a path that the audio decoder can
seek in. The copy runs on a worker thread."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from starlette.datastructures import UploadFile


@contextlib.asynccontextmanager
async def upload_on_disk(upload: UploadFile) -> AsyncIterator[Path]:
    """The upload as a seekable file under a name of our own, gone when the block ends, however it ends."""
    with tempfile.NamedTemporaryFile(prefix="lexicue-", suffix=".audio") as file:
        await asyncio.to_thread(_copy, upload.file, file)
        yield Path(file.name)


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    source.seek(0)
    shutil.copyfileobj(source, target)
    target.flush()
