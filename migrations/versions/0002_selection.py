"""How a glossary's terms are selected for a window."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SELECTION = postgresql.ENUM("static", "relevant", name="term_selection", create_type=False)


def upgrade() -> None:
    op.execute("CREATE TYPE term_selection AS ENUM ('static', 'relevant')")
    for table in ("glossaries", "revisions"):
        op.add_column(table, sa.Column("selection", SELECTION, nullable=False, server_default="static"))


def downgrade() -> None:
    for table in ("revisions", "glossaries"):
        op.drop_column(table, "selection")
    op.execute("DROP TYPE term_selection")
