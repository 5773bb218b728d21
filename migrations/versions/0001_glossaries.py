"""Glossaries, their terms with full history, the change log and the prompts sent."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text(collation="C")
PLACEMENT = postgresql.ENUM("pinned", "seed", "ranked", name="term_placement", create_type=False)


def upgrade() -> None:
    op.execute("CREATE TYPE term_placement AS ENUM ('pinned', 'seed', 'ranked')")
    op.execute("CREATE SEQUENCE term_ids AS bigint")
    _glossaries()
    _revisions()
    _terms()
    _prompts()


def downgrade() -> None:
    for table in ("prompt_sources", "prompts", "terms", "revisions", "glossaries"):
        op.drop_table(table)
    op.execute("DROP FUNCTION refuse_rewriting_history()")
    op.execute("DROP SEQUENCE term_ids")
    op.execute("DROP TYPE term_placement")


def _glossaries() -> None:
    op.create_table(
        "glossaries",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("language", TEXT),
        sa.Column("token_budget", sa.Integer),
        sa.Column("max_terms", sa.Integer),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.PrimaryKeyConstraint("id", name="glossaries_pkey"),
        sa.UniqueConstraint("slug", name="glossaries_slug_key"),
        sa.CheckConstraint("token_budget >= 1", name=op.f("glossaries_token_budget_check")),
        sa.CheckConstraint("max_terms >= 1", name=op.f("glossaries_max_terms_check")),
    )


def _revisions() -> None:
    op.create_table(
        "revisions",
        sa.Column("glossary_id", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("added", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("changed", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("removed", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("language", TEXT),
        sa.Column("token_budget", sa.Integer),
        sa.Column("max_terms", sa.Integer),
        sa.Column("deleted", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.PrimaryKeyConstraint("glossary_id", "revision", name="revisions_pkey"),
        sa.ForeignKeyConstraint(["glossary_id"], ["glossaries.id"], name="revisions_glossary_id_fkey"),
    )
    op.execute(
        """
        CREATE FUNCTION refuse_rewriting_history() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'the change log is append-only'; END $$
        """
    )
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON revisions "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting_history()"
    )


def _terms() -> None:
    op.create_table(
        "terms",
        sa.Column("version", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("id", sa.BigInteger, nullable=False, server_default=sa.text("nextval('term_ids'::regclass)")),
        sa.Column("glossary_id", sa.BigInteger, nullable=False),
        sa.Column("text", TEXT, nullable=False),
        sa.Column("match_key", TEXT, nullable=False),
        sa.Column("placement", PLACEMENT, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("language", TEXT),
        sa.Column("sounds_like", sa.ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'")),
        sa.Column("note", sa.Text, nullable=False, server_default=sa.text("''")),
        sa.Column("active", sa.Boolean, nullable=False, server_default=sa.text("true")),
        sa.Column("valid_from", sa.BigInteger, nullable=False),
        sa.Column("valid_to", sa.BigInteger),
        sa.PrimaryKeyConstraint("version", name="terms_pkey"),
        sa.ForeignKeyConstraint(["glossary_id"], ["glossaries.id"], name="terms_glossary_id_fkey"),
        sa.ForeignKeyConstraint(
            ["glossary_id", "valid_from"],
            ["revisions.glossary_id", "revisions.revision"],
            name="terms_glossary_id_valid_from_fkey",
        ),
        sa.ForeignKeyConstraint(
            ["glossary_id", "valid_to"],
            ["revisions.glossary_id", "revisions.revision"],
            name="terms_glossary_id_valid_to_fkey",
        ),
        sa.CheckConstraint("valid_to > valid_from", name=op.f("terms_validity_check")),
        sa.CheckConstraint("text <> '' AND match_key <> ''", name=op.f("terms_not_empty_check")),
    )
    current = sa.text("valid_to IS NULL")
    op.create_index("terms_current_id", "terms", ["id"], unique=True, postgresql_where=current)
    op.create_index(
        "terms_current_match",
        "terms",
        ["glossary_id", "match_key", "language"],
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where=current,
    )
    op.create_index(
        "terms_current_order",
        "terms",
        ["glossary_id", "placement", sa.text("priority DESC"), "text", "id"],
        postgresql_where=current,
    )
    op.create_index("terms_opened", "terms", ["glossary_id", "valid_from"])
    op.create_index(
        "terms_closed", "terms", ["glossary_id", "valid_to"], postgresql_where=sa.text("valid_to IS NOT NULL")
    )


def _prompts() -> None:
    op.create_table(
        "prompts",
        sa.Column("sha256", TEXT, nullable=False),
        sa.Column("ids", sa.ARRAY(sa.Integer), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="prompts_pkey"),
    )
    op.create_table(
        "prompt_sources",
        sa.Column("sha256", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("first_sent", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("sha256", "slug", "revision", name="prompt_sources_pkey"),
        sa.ForeignKeyConstraint(["sha256"], ["prompts.sha256"], name="prompt_sources_sha256_fkey"),
    )
