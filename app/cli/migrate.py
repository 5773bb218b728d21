"""`lexicue migrate`. In: settings. Out: the database at the newest schema. Main thread."""

import asyncio

import typer

from app.cli.client import fail
from app.db import Database
from app.errors import LexicueError
from app.settings import Settings, load_settings


def migrate() -> None:
    """Bring the database schema to the newest revision; safe to run again, and beside a running server."""
    try:
        asyncio.run(_migrate(load_settings()))
    except LexicueError as error:
        fail(error.message)
    typer.echo("The schema is at its newest revision.")


async def _migrate(settings: Settings) -> None:
    url = settings.database_url.get_secret_value() if settings.database_url else None
    database = await Database.open(url, settings.data_dir)
    try:
        await database.migrate()
    finally:
        await database.close()
