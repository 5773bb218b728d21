"""What of an output folder is this program's to remove: its own shards, records, indexes and unfinished files. In:
where the set lies. Out: nothing. Blocking; main thread."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import InvalidRequest
from app.finetune.card import REJECTS, REPORT
from app.finetune.entries import Split
from app.finetune.origin import ORIGIN
from app.finetune.storage import Storage

_SPLITS = "|".join(Split)
_OURS = re.compile(
    rf"(records/)?({_SPLITS})/(\.[\w.-]+\.part|(shard|terms)-\d+\.(arrow|json)|state\.json|dataset_info\.json)"
    rf"|(records/)?\.[\w.-]+\.part|{re.escape(REPORT)}|{re.escape(REJECTS)}|{re.escape(ORIGIN)}"
)


@contextmanager
def unfinished_removed(storage: Storage) -> Iterator[None]:
    """Half files of workers that were killed: those of earlier runs now, for they may fill the disk, and at the end,
    however it comes, those of this one."""

    def remove() -> None:
        for name in storage.names():
            if name.endswith(".part") and _OURS.fullmatch(name):
                storage.remove(name)

    remove()
    try:
        yield
    finally:
        remove()


def require_ours(storage: Storage) -> None:
    names = storage.names()
    if names and not any(_OURS.fullmatch(name) for name in names):
        raise InvalidRequest("The output folder holds other files; name a new or an empty one.", param="out")


def remove_others(storage: Storage, expected: set[str]) -> None:
    """What an earlier run left that had more or other chunks."""
    for name in storage.names():
        if _OURS.fullmatch(name) and name not in expected:
            storage.remove(name)
