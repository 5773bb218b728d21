"""The one door to Postgres. In: a URL, or a data folder for the embedded server. Out: sessions, one transaction each,
whose failures are errors of ours; change notices of other processes; schema migrations. Event loop thread.

A watch task holds one connection of its own: its end is how a lost database is noticed, its return how the rest
resumes. With the embedded server the same task starts the server again."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import alembic.command
import psycopg
import sqlalchemy
import sqlalchemy.exc
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from app.embedded_postgres import embedded_postgres
from app.errors import InvalidRequest, LexicueError, NotReady
from app.telemetry import logger

if TYPE_CHECKING:
    from app.embedded_postgres.server import EmbeddedPostgres

log = logger(__name__)

CHANNEL = "lexicue_changes"
STATEMENT_SECONDS = 30
LOCK_SECONDS = 5
CONNECT_SECONDS = 3
_LINK_ARGUMENTS: dict[str, str | int] = {
    "application_name": "lexicue",
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
MIN_SERVER = 150_000
"""`server_version_num`. 15 has NULLS NOT DISTINCT, which makes a term of any language unique."""
_SERVER = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
_RETRY_SECONDS = (0.05, 1.0)
_DRIVER = "postgresql+psycopg"
_MIGRATIONS = Path(__file__).parents[1] / "migrations"


class Database:
    """`pool_size` connections at most besides the watch's; a caller that waits longer than `pool_timeout` seconds for
    one gets NotReady (code `database_busy`)."""

    def __init__(
        self, url: sqlalchemy.URL, embedded: "EmbeddedPostgres | None", *, pool_size: int, pool_timeout: float
    ) -> None:
        self.url = url
        self.embedded = embedded
        self.engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=pool_timeout,
            pool_pre_ping=True,
            connect_args=_LINK_ARGUMENTS
            | {"options": f"-c statement_timeout={STATEMENT_SECONDS}s -c lock_timeout={LOCK_SECONDS}s"},
        )
        self.pool_size = pool_size
        self.pool_timeouts = 0
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)
        self._on_notice: list[Callable[[str], None]] = []
        self._on_link: list[Callable[[bool], None]] = []
        self._linked = asyncio.Event()
        self._watch = asyncio.create_task(self._watch_forever(), name="database-watch")

    @classmethod
    async def open(
        cls, url: str | None, data_dir: Path, *, pool_size: int = 5, pool_timeout: float = 5.0
    ) -> "Database":
        """Connect to `url`, or with None start the embedded server under `data_dir`.

        Raises InvalidRequest for a URL of another kind and NotReady when there is no database to be had.
        """
        if url is not None:
            return cls(_parse_url(url), None, pool_size=pool_size, pool_timeout=pool_timeout)
        embedded = embedded_postgres(data_dir)
        await asyncio.to_thread(embedded.start)
        embedded_url = sqlalchemy.make_url(f"{_DRIVER}://{embedded.place}")
        return cls(embedded_url, embedded, pool_size=pool_size, pool_timeout=pool_timeout)

    async def close(self) -> None:
        """End all connections; the embedded server stops if nobody else uses it."""
        self._watch.cancel()
        await asyncio.gather(self._watch, return_exceptions=True)
        await self.engine.dispose()
        if self.embedded is not None:
            await asyncio.to_thread(self.embedded.stop)

    @property
    def pool_in_use(self) -> int:
        """Connections lent out right now, the watch's not counted."""
        pool = self.engine.pool
        assert isinstance(pool, sqlalchemy.pool.QueuePool)  # noqa: S101 - what an async engine has by default
        return pool.checkedout()

    @property
    def up(self) -> bool:
        """Whether the watch connection stands right now."""
        return self._linked.is_set()

    async def wait_up(self) -> None:
        await self._linked.wait()

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[AsyncSession]:
        """One transaction: committed when the block ends, rolled back when it raises.

        Raises NotReady: code `database_busy` (no free connection in time), `database_slow` (statement or lock
        timeout) or `database_away` (no connection, or lost on the way; a write may or may not have been made).
        """
        try:
            async with self._sessions.begin() as session:
                yield session
        except (sqlalchemy.exc.SQLAlchemyError, psycopg.Error) as error:
            if (known := _as_not_ready(error)) is None:
                raise
            self.pool_timeouts += known.code == "database_busy"
            raise known from error

    def listen(self, on_notice: Callable[[str], None], on_link: Callable[[bool], None]) -> None:
        """Call `on_notice` with each payload sent to CHANNEL, and `on_link` whenever the watch connection comes (True)
        or goes (False); notices sent while it was gone are lost."""
        self._on_notice.append(on_notice)
        self._on_link.append(on_link)
        on_link(self.up)

    async def migrate(self, revision: str = "head") -> None:
        """Bring the schema up to `revision`. Safe in many processes at once: one does it, the others wait.

        Raises InvalidRequest for a server that is too old or does not speak UTF-8, NotReady when it is away.
        """
        async with self.session() as session:
            number, encoding = (await session.execute(sqlalchemy.text(_SERVER))).one()
        if number < MIN_SERVER or encoding != "UTF8":
            raise InvalidRequest(
                f"The database must be Postgres {MIN_SERVER // 10_000} or newer with the encoding UTF8.",
                code="unusable_database",
            )
        await self._alembic(alembic.command.upgrade, revision)

    async def downgrade(self, revision: str) -> None:
        """Take the schema back to `revision`; data that the older schema cannot hold is lost."""
        await self._alembic(alembic.command.downgrade, revision)

    async def at_head(self) -> bool:
        """Whether the schema is the one this code was written for; False as well when the database is away."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS), self.session() as session:
                connection = await session.connection()
                heads = await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_heads())
        except (LexicueError, TimeoutError):
            return False
        return set(heads) == set(ScriptDirectory(str(_MIGRATIONS)).get_heads())

    async def _alembic(self, command: Callable[[Config, str], None], revision: str) -> None:
        config = Config(attributes={})
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))

        def run(connection: sqlalchemy.Connection) -> None:
            config.attributes["connection"] = connection
            command(config, revision)

        async with self.session() as session:
            await (await session.connection()).run_sync(run)

    async def _watch_forever(self) -> None:
        delay, longest = _RETRY_SECONDS
        logged = ""
        while True:
            try:
                if self.embedded is not None:
                    await asyncio.to_thread(self.embedded.ensure_running)
                await self._hear()
            except Exception as error:  # noqa: BLE001 - nothing may end the watch: without it nothing comes back
                if self.up:
                    delay, logged = _RETRY_SECONDS[0], ""
                reason = error.message if isinstance(error, LexicueError) else type(error).__name__
                if reason != logged:
                    log.warning("database away", reason=reason)
                    logged = reason
            finally:
                self._set_link(False)
            await asyncio.sleep(delay)
            delay = min(delay * 2, longest)

    async def _hear(self) -> None:
        dsn = psycopg.conninfo.make_conninfo(
            self.url.set(drivername="postgresql").render_as_string(hide_password=False), **_LINK_ARGUMENTS
        )
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            self._set_link(True)
            log.info("database connected", embedded=self.embedded is not None)
            async for notice in connection.notifies():
                for hear in self._on_notice:
                    hear(notice.payload)

    def _set_link(self, up: bool) -> None:
        if up != self.up:
            (self._linked.set if up else self._linked.clear)()
            for told in self._on_link:
                told(up)


async def driver_connection(session: AsyncSession) -> psycopg.AsyncConnection:
    """psycopg's own connection under a session, for what SQLAlchemy has no words for; part of the same transaction."""
    raw = (await (await session.connection()).get_raw_connection()).driver_connection
    assert isinstance(raw, psycopg.AsyncConnection)  # noqa: S101 - the driver named in _DRIVER
    return raw


def _parse_url(text: str) -> sqlalchemy.URL:
    try:
        url = sqlalchemy.make_url(text)
        psycopg.conninfo.conninfo_to_dict(url.set(drivername="postgresql").render_as_string(hide_password=False))
    except (sqlalchemy.exc.ArgumentError, psycopg.ProgrammingError, ValueError):
        url = None
    if url is None or url.drivername not in {"postgresql", "postgres", _DRIVER}:
        raise InvalidRequest(
            "It must look like postgresql://user:password@host/database; only Postgres will do.",
            code="bad_settings",
        )
    return url.set(drivername=_DRIVER)


def _as_not_ready(error: Exception) -> NotReady | None:
    """What a database failure means to a caller; None for a fault of ours, which stays what it is."""
    cause = error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) else error
    match cause:
        case sqlalchemy.exc.TimeoutError():
            return NotReady("The database is busy; try again in a moment.", code="database_busy")
        case psycopg.errors.QueryCanceled() | psycopg.errors.LockNotAvailable() | psycopg.errors.DeadlockDetected():
            return NotReady("The database took too long; try again in a moment.", code="database_slow")
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return NotReady("The database is away; try again in a moment.", code="database_away")
        case psycopg.errors.UndefinedTable():
            return NotReady("The database has no schema yet; run: lexicue migrate", code="database_not_migrated")
    return None
