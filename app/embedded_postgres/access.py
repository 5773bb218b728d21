"""Who the embedded Postgres runs as and what that account may reach: the least that works. In: a folder. Out: an
account, file modes, a folder for the socket. Blocking; called by server.py."""

import contextlib
import hashlib
import os
import pwd
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from app.errors import NotReady

SOCKET_NAME = ".s.PGSQL.5432"
_SYSTEM_ACCOUNT = "postgres"
_MAX_SOCKET_PATH = 103
"""Bytes. sun_path holds 108 with its terminator on Linux, 104 on macOS."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who the server runs as; None when that is simply the current user."""

    uid: int
    gid: int
    name: str


def account_for(folder_owner: int) -> Account:
    """Postgres refuses to run as root: use the folder's owner, else the account `postgres`, made if missing."""
    if folder_owner != 0:
        entry = pwd.getpwuid(folder_owner)
        return Account(entry.pw_uid, entry.pw_gid, entry.pw_name)
    try:
        entry = pwd.getpwnam(_SYSTEM_ACCOUNT)
    except KeyError:
        command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
        try:
            subprocess.run([*command, _SYSTEM_ACCOUNT], check=True, capture_output=True)  # noqa: S603
        except (OSError, subprocess.CalledProcessError):
            raise NotReady(
                "Postgres does not run as root, and the system account `postgres` could not be made. Run as another "
                "user, or set LEXICUE_DATABASE_URL.",
                code="embedded_postgres_needs_account",
            ) from None
        entry = pwd.getpwnam(_SYSTEM_ACCOUNT)
    return Account(entry.pw_uid, entry.pw_gid, entry.pw_name)


def give_access(account: Account, root: Path, binaries: Path) -> None:
    """As root: own the folder as the account, and let it search (not read) the folders on the way to it."""
    os.chown(root, account.uid, account.gid)
    install = binaries.parent
    for folder in {*root.parents, *install.parents}:
        _add_mode(folder, stat.S_IXOTH, account)
    shared_libraries = install.parent.with_name(install.parent.name + ".libs")
    for tree in (install, shared_libraries):
        for path in (tree, *tree.rglob("*")):
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            _add_mode(path, stat.S_IROTH | (stat.S_IXOTH if executable else 0), account)


def _add_mode(path: Path, wanted: int, account: Account) -> None:
    status = path.stat()
    shift = 6 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 0
    if status.st_mode & (wanted << shift) != wanted << shift:
        path.chmod(status.st_mode | wanted << shift)


def socket_dir(root: Path, account: Account | None) -> Path:
    """The folder itself; where its path is too long for a socket, a private folder with a short name."""
    if len(os.fsencode(root / SOCKET_NAME)) <= _MAX_SOCKET_PATH:
        return root
    owner = account.uid if account else os.geteuid()
    short = Path("/tmp") / f"lexicue-{owner}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"  # noqa: S108
    with contextlib.suppress(FileExistsError):
        short.mkdir(mode=0o700)
        if account:
            os.chown(short, account.uid, account.gid)
    status = short.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner or stat.S_IMODE(status.st_mode) != 0o700:
        raise NotReady(f"{short} must be a folder that only the database's user can enter; remove it and start again.")
    return short
