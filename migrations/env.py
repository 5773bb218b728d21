"""How Alembic runs here: on the connection that app/db.py hands over, all revisions in one transaction, under an
advisory lock so that several starting servers do it once. Called by `Database.migrate`; there is no offline mode."""

import zlib

import sqlalchemy
from alembic import context

from app.glossary.models import metadata

_LOCK = zlib.crc32(b"lexicue migrations")
_WAIT_FOR_OTHERS = "10min"
_LOCK_TIMEOUT = "10s"
_STATEMENT_TIMEOUT = "10min"


def run(connection: sqlalchemy.Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        compare_server_default=True,
        transaction_per_migration=False,
    )
    with context.begin_transaction():
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{_STATEMENT_TIMEOUT}'")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_WAIT_FOR_OTHERS}'")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
        context.run_migrations()


run(context.config.attributes["connection"])
