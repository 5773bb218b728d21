"""The tables. Nothing is ever overwritten: a changed or removed term keeps its row, closed at the revision that ended
it, so that any past revision can be read back exactly. Types only; no I/O."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Enum,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    MetaData,
    Sequence,
    Table,
    Text,
    func,
    text,
)

from app.glossary.term import PLACEMENT_ORDER, TermSelection

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

C_TEXT = Text(collation="C")
"""Compared byte by byte: the same order in every database, whatever its locale."""

# Declared in the order of importance, which is how Postgres sorts an enum.
placement_type = Enum(*PLACEMENT_ORDER, name="term_placement", metadata=metadata)
selection_type = Enum(*TermSelection, name="term_selection", metadata=metadata)

glossaries = Table(
    "glossaries",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("slug", C_TEXT, nullable=False, unique=True),
    Column("language", C_TEXT),
    Column("token_budget", Integer),
    Column("max_terms", Integer),
    Column("selection", selection_type, nullable=False, server_default="static"),
    Column("revision", BigInteger, nullable=False),
    # A deleted glossary keeps its row, so that its slug never gives one revision number to two contents.
    Column("deleted", Boolean, nullable=False, server_default=text("false")),
    CheckConstraint("token_budget >= 1", name="token_budget"),
    CheckConstraint("max_terms >= 1", name="max_terms"),
)

revisions = Table(
    "revisions",
    metadata,
    Column("glossary_id", BigInteger, ForeignKey("glossaries.id"), primary_key=True),
    Column("revision", BigInteger, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("added", Integer, nullable=False, server_default=text("0")),
    Column("changed", Integer, nullable=False, server_default=text("0")),
    Column("removed", Integer, nullable=False, server_default=text("0")),
    Column("language", C_TEXT),
    Column("token_budget", Integer),
    Column("max_terms", Integer),
    Column("selection", selection_type, nullable=False, server_default="static"),
    Column("deleted", Boolean, nullable=False, server_default=text("false")),
)

term_ids = Sequence("term_ids", metadata=metadata, data_type=BigInteger)

terms = Table(
    "terms",
    metadata,
    Column("version", BigInteger, Identity(always=True), primary_key=True),
    Column("id", BigInteger, term_ids, nullable=False, server_default=term_ids.next_value()),
    Column("glossary_id", BigInteger, ForeignKey("glossaries.id"), nullable=False),
    Column("text", C_TEXT, nullable=False),
    Column("match_key", C_TEXT, nullable=False),
    Column("placement", placement_type, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("language", C_TEXT),
    Column("sounds_like", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("note", Text, nullable=False, server_default=text("''")),
    Column("active", Boolean, nullable=False, server_default=text("true")),
    Column("valid_from", BigInteger, nullable=False),
    Column("valid_to", BigInteger),
    ForeignKeyConstraint(["glossary_id", "valid_from"], ["revisions.glossary_id", "revisions.revision"]),
    ForeignKeyConstraint(["glossary_id", "valid_to"], ["revisions.glossary_id", "revisions.revision"]),
    CheckConstraint("valid_to > valid_from", name="validity"),
    CheckConstraint("text <> '' AND match_key <> ''", name="not_empty"),
)

is_current = terms.c.valid_to.is_(None)

Index("terms_current_id", terms.c.id, unique=True, postgresql_where=is_current)
Index(
    "terms_current_match",
    terms.c.glossary_id,
    terms.c.match_key,
    terms.c.language,
    unique=True,
    postgresql_nulls_not_distinct=True,
    postgresql_where=is_current,
)
Index(
    "terms_current_order",
    terms.c.glossary_id,
    terms.c.placement,
    terms.c.priority.desc(),
    terms.c.text,
    terms.c.id,
    postgresql_where=is_current,
)
Index("terms_opened", terms.c.glossary_id, terms.c.valid_from)
Index("terms_closed", terms.c.glossary_id, terms.c.valid_to, postgresql_where=terms.c.valid_to.is_not(None))

prompts = Table(
    "prompts",
    metadata,
    Column("sha256", C_TEXT, primary_key=True),
    Column("ids", ARRAY(Integer), nullable=False),
    Column("text", Text, nullable=False),
)

prompt_sources = Table(
    "prompt_sources",
    metadata,
    Column("sha256", C_TEXT, ForeignKey("prompts.sha256"), primary_key=True),
    Column("slug", C_TEXT, primary_key=True),
    Column("revision", BigInteger, primary_key=True),
    Column("first_sent", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
