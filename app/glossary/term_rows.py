"""Rows of a term file, one by one: cells to a term, terms to clean ones, and the list of what is wrong. In: cells by
column. Out: terms, or one refusal that names every bad line. Pure; any thread."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.errors import Conflict, InvalidRequest, InvalidText, LexicueError
from app.glossary.normalise import match_key, normalise_term
from app.glossary.term import Placement, Term

COLUMNS = ("text", "placement", "priority", "language", "sounds_like", "note", "active")
SHOWN_ERRORS = 100
LONG_BYTES = 100
"""A text has no more tokens than bytes, so that shorter ones always fit into a prompt of their own."""
_TRUE, _FALSE = {"", "true", "1", "yes"}, {"false", "0", "no"}


@dataclass(slots=True)
class RowProblems:
    """What is wrong with which line; texts of the file are never repeated."""

    found: list[dict[str, object]] = field(default_factory=list)

    def add(self, line: int, error: LexicueError) -> None:
        self.found.append({"line": line, "column": error.param, "code": error.code, "message": error.message})

    def refuse_if_any(self) -> None:
        if not self.found:
            return
        self.found.sort(key=lambda problem: (problem["line"], str(problem["column"])))
        first = self.found[0]
        raise InvalidRequest(
            f"Nothing was imported: {len(self.found)} bad rows. Line {first['line']}: {first['message']}",
            code="import_rejected",
            details={"error_count": len(self.found), "errors": self.found[:SHOWN_ERRORS]},
        )


def clean_rows(
    rows: Iterable[tuple[int, Term]], problems: RowProblems | None = None, *, check: Callable[[Term], None]
) -> list[Term]:
    """The terms, each field clean. Raises InvalidRequest (`import_rejected`) naming every bad line: text that cannot be
    used, twins within the file, and terms that `check` refuses, which is asked about long ones only."""
    problems = problems or RowProblems()
    clean: list[Term] = []
    lines: dict[tuple[str, str | None], int] = {}
    for line, row in rows:
        try:
            term = normalise_term(row)
            first = lines.setdefault((match_key(term.text), term.language), line)
            if first != line:
                raise InvalidText(f"The same term as line {first}.", param="text", code="twin_term")
            if len(term.text.encode()) > LONG_BYTES:
                check(term)
            clean.append(term)
        except (InvalidText, Conflict) as error:
            problems.add(line, error)
    problems.refuse_if_any()
    return clean


def parse_placement(text: str) -> Placement:
    try:
        return Placement(text.strip().lower() or Placement.RANKED)
    except ValueError:
        raise InvalidRequest("Must be pinned, seed or ranked.", param="placement", code="bad_value") from None


def parse_priority(text: str) -> int:
    try:
        return int(text.strip() or 0)
    except ValueError:
        raise InvalidRequest("Must be a whole number.", param="priority", code="bad_value") from None


def parse_active(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise InvalidRequest("Must be true or false.", param="active", code="bad_value")
    return word in _TRUE
