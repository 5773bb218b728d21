"""Work done for unchanged glossaries, kept for the next request. In: a glossary's revision and its terms. Out: what was
made of them, if it was. Any thread."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

from app.glossary.term import Term

Value = TypeVar("Value")


class RecentlyUsed(Generic[Value]):
    """Least recently used first out, bounded by the number of terms that went into the values: they fill memory."""

    def __init__(self, *, most_terms: int) -> None:
        self._most_terms = most_terms
        self._terms = 0
        self._entries: OrderedDict[Hashable, tuple[tuple[Term, ...], Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, terms: tuple[Term, ...]) -> Value | None:
        """What was made under `key` of these very terms. Comparing them is free when they are the same object, and
        makes safe a glossary that was deleted and created again under its old name."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        made_of, value = entry
        return value if made_of is terms or made_of == terms else None

    def put(self, key: Hashable, terms: tuple[Term, ...], value: Value) -> None:
        with self._lock:
            self._forget(key)
            self._entries[key] = (terms, value)
            self._terms += len(terms)
            while self._terms > self._most_terms and len(self._entries) > 1:
                self._forget(next(iter(self._entries)))

    def _forget(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._terms -= len(entry[0])
