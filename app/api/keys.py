"""Who may call and as what. In: the two key settings, a secret that a caller presents. Out: the key it belongs to, or
none. Secrets are kept as digests only, from the moment that a setting is read. Pure; any thread.

    name=secret               a plain secret
    name@glossary=secret      with the glossary that requests use when they name none
    name=sha256:64-hex-digits the secret's digest instead of the secret; `lexicue key` makes one
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from app.errors import InvalidRequest

_ENTRY = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,40})(?:@(?P<glossary>[a-z0-9][a-z0-9_-]{0,62}))?=(?P<secret>[!-~]+)")
_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")
_SYNTAX = "write name=secret or name@glossary=secret, several separated by commas or spaces"


class Role(StrEnum):
    """`APP` may transcribe; `OPS` may do everything."""

    APP = "app"
    OPS = "ops"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`glossary`: slug that requests use when they name none. Two keys may have one name, so that a secret can be
    changed while the old one still works; they are the same caller in logs and in the change log."""

    name: str
    role: Role
    glossary: str | None
    digest: bytes = field(repr=False)


class KeyRing:
    """All keys of one server; empty when anyone may call."""

    def __init__(self, keys: Iterable[ApiKey] = ()) -> None:
        self._keys = tuple(keys)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def __iter__(self) -> Iterator[ApiKey]:
        return iter(self._keys)

    def find(self, secret: str) -> ApiKey | None:
        """The key of this secret. Every key is compared in constant time, so that the time says nothing of which one
        came near or where it stands."""
        digest = digest_of(secret)
        found: ApiKey | None = None
        for key in self._keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found


def digest_of(secret: str) -> bytes:
    """sha256 of the secret. One round is enough for secrets made by a machine, which cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


def parse_keys(app_keys: str, ops_keys: str) -> KeyRing:
    """The keys of LEXICUE_APP_KEYS and LEXICUE_OPS_KEYS. Raises InvalidRequest that names the setting and the place of
    the bad entry, never what it holds."""
    keys: list[ApiKey] = []
    for setting, role, text in (
        ("LEXICUE_APP_KEYS", Role.APP, app_keys),
        ("LEXICUE_OPS_KEYS", Role.OPS, ops_keys),
    ):
        for place, entry in enumerate(filter(None, re.split(r"[,\s]+", text)), start=1):
            key = _parse(entry, role)
            if key is None:
                raise InvalidRequest(f"Bad settings. {setting}: entry {place}: {_SYNTAX}.", code="bad_settings")
            if any(key.digest == other.digest for other in keys):
                raise InvalidRequest(
                    f"Bad settings. {setting}: entry {place} has the secret of another; give each its own.",
                    code="bad_settings",
                )
            keys.append(key)
    return KeyRing(keys)


def _parse(entry: str, role: Role) -> ApiKey | None:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        return None
    name, glossary, secret = match["name"], match["glossary"], match["secret"]
    if secret.lower().startswith("sha256:"):
        hashed = _DIGEST.fullmatch(secret.lower())
        return ApiKey(name, role, glossary, bytes.fromhex(hashed[1])) if hashed else None
    return ApiKey(name, role, glossary, digest_of(secret))
