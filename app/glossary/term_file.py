"""Terms as files: CSV, JSON and plain lists. In: bytes as editors and spreadsheets write them. Out: terms by line with
what is wrong with them; and the way back. Pure; large files belong on a worker thread."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.errors import InvalidRequest
from app.glossary.term import Term
from app.glossary.term_rows import COLUMNS, RowProblems, parse_active, parse_placement, parse_priority

ALIAS_SEPARATOR = "|"
_HEADER_SYNONYMS = {"term": "text"}
_DELIMITERS = ",;\t"
_FORMULA = re.compile(r"'*[=+\-@\t\r]")

ParseLanguage = Callable[[str], str | None]
"""Language as written to its code, None for any; raises InvalidRequest for an unknown one."""


class TermFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    TXT = "txt"


@dataclass(frozen=True, slots=True)
class TermRows:
    """Terms by line (in JSON: by place in the list, from 1). `columns`: those that the file has; the rest is left as
    it is in terms that exist already."""

    rows: list[tuple[int, Term]]
    columns: frozenset[str]
    problems: RowProblems


def read_terms(data: bytes, file_format: TermFormat, parse_language: ParseLanguage) -> TermRows:
    """Raises InvalidRequest for a file that is not text or has no usable header; bad rows are in `problems`."""
    text = _decode(data)
    match file_format:
        case TermFormat.CSV:
            return _read_csv(text, parse_language)
        case TermFormat.JSON:
            return _read_json(text, parse_language)
        case TermFormat.TXT if _is_table(text):  # Excel saves "Unicode text" under this name
            return _read_csv(text, parse_language)
        case TermFormat.TXT:
            lines = [(line, text.strip()) for line, text in enumerate(text.splitlines(), start=1) if text.strip()]
            rows = [(line, Term(text, priority=len(lines) - place)) for place, (line, text) in enumerate(lines)]
            return TermRows(rows, frozenset({"text", "placement", "priority"}), RowProblems())


def write_csv(terms: Iterable[Term]) -> Iterator[str]:
    """Lines of CSV (RFC 4180) with a header; reading them again gives the same terms. A cell that a spreadsheet would
    run as a formula gets an apostrophe in front, which reading takes away again."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for term in terms:
        yield _drain(buffer)
        aliases = ALIAS_SEPARATOR.join(term.sounds_like)
        active = "true" if term.active else "false"
        cells = (_guard(term.text), term.placement.value, term.priority, term.language or "")
        writer.writerow((*cells, _guard(aliases), _guard(term.note), active))
    yield _drain(buffer)


def term_as_json(term: Term) -> dict[str, object]:
    return {
        "text": term.text,
        "placement": term.placement.value,
        "priority": term.priority,
        "language": term.language,
        "sounds_like": list(term.sounds_like),
        "note": term.note,
        "active": term.active,
    }


def _decode(data: bytes) -> str:
    """UTF-8, with or without its mark; UTF-16 only with its mark, as Excel writes "Unicode text"."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidRequest(
            f"The file is not valid UTF-8 (line {line}). Save it as UTF-8; in Excel: CSV UTF-8 or Unicode text.",
            code="bad_encoding",
            details={"line": line},
        ) from None
    if text.count("\0") > len(text) // 4:
        raise InvalidRequest("The file looks like UTF-16 without its mark; save it as UTF-8.", code="bad_encoding")
    return text


def _read_csv(text: str, parse_language: ParseLanguage) -> TermRows:
    marked = re.match(r"sep=(.)\r?\n", text, re.IGNORECASE)
    start = marked.end() if marked else 0
    skipped = 1 if marked else 0
    header_line = next(iter(io.StringIO(text[start:], newline="")), "")
    delimiter = marked[1] if marked else max(_DELIMITERS, key=lambda d: len(_known(_header(header_line, d))))
    header = _header(header_line, delimiter)
    if "text" not in header or len(_known(header)) != len([name for name in header if name]):
        raise _bad_header()
    result = TermRows([], frozenset(_known(header)), RowProblems())
    reader = csv.reader(io.StringIO(text[start:], newline=""), delimiter=delimiter, strict=True)
    try:
        next(reader)
    except csv.Error:
        raise _bad_header() from None
    line = skipped + 2
    while True:
        try:
            cells = next(reader)
            if any(cell.strip() for cell in cells):
                result.rows.append(
                    (line, _row(dict(zip(header, cells, strict=False)), cells[len(header) :], parse_language))
                )
        except StopIteration:
            return result
        except csv.Error:
            problem = InvalidRequest("The quotes of this row do not match up.", code="bad_quoting")
            result.problems.add(line, problem)
        except InvalidRequest as error:
            result.problems.add(line, error)
        line = skipped + reader.line_num + 1


def _header(line: str, delimiter: str) -> list[str]:
    try:
        names = [name.strip().lower() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        raise _bad_header() from None
    return [_HEADER_SYNONYMS.get(name, name) for name in names]


def _is_table(text: str) -> bool:
    """Whether a plain list is a table after all: tabs in its first line. Without a usable header it is refused."""
    return "\t" in next(iter(io.StringIO(text)), "").strip()


def _bad_header() -> InvalidRequest:
    return InvalidRequest(
        f"The first line must name the columns: text, and any of {', '.join(COLUMNS[1:])}, each once.",
        code="bad_header",
    )


def _known(header: Sequence[str]) -> set[str]:
    return set(header) & set(COLUMNS)


def _row(cells: dict[str, str], surplus: Sequence[str], parse_language: ParseLanguage) -> Term:
    if any(cell.strip() for cell in surplus):
        raise InvalidRequest("The row has more cells than the header has columns.", code="surplus_cells")
    aliases = _unguard(cells.get("sounds_like", "")).split(ALIAS_SEPARATOR)
    return Term(
        text=_unguard(cells.get("text", "")),
        placement=parse_placement(cells.get("placement", "")),
        priority=parse_priority(cells.get("priority", "")),
        language=parse_language(cells.get("language", "")),
        sounds_like=tuple(alias for alias in aliases if alias.strip()),
        note=_unguard(cells.get("note", "")),
        active=parse_active(cells.get("active", "")),
    )


def _read_json(text: str, parse_language: ParseLanguage) -> TermRows:
    try:
        data = json.loads(text, object_pairs_hook=refuse_twins)
    except (ValueError, RecursionError):  # a number of thousands of digits is a plain ValueError
        raise InvalidRequest("The file is not valid JSON.", code="bad_json") from None
    items = data.get("terms") if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise InvalidRequest('JSON must be a list of terms, or {"terms": [...]}.', code="bad_json")
    result = TermRows([], frozenset(), RowProblems())
    columns: set[str] = set()
    for place, item in enumerate(items, start=1):
        try:
            term, keys = _json_term(item, parse_language)
            columns |= keys
            result.rows.append((place, term))
        except InvalidRequest as error:
            result.problems.add(place, error)
    return TermRows(result.rows, frozenset(columns), result.problems)


def refuse_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object as a dict. Raises InvalidRequest when a name stands in it twice: which value was meant?"""
    whole = dict(pairs)
    if len(whole) < len(pairs):
        raise InvalidRequest("A JSON object has one name twice.", code="repeated_name")
    return whole


def _json_term(item: object, parse_language: ParseLanguage) -> tuple[Term, set[str]]:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise InvalidRequest("Each term must be an object or a string.", code="bad_json")
    values: dict[str, Any] = {_HEADER_SYNONYMS.get(str(name), str(name)): value for name, value in item.items()}
    if len(values) < len(item):
        raise InvalidRequest("`term` is another name for `text`: give one of them.", code="repeated_name")
    if not set(values) <= set(COLUMNS):
        raise InvalidRequest(f"A term has these fields: {', '.join(COLUMNS)}.", code="unknown_field")
    aliases = values.get("sounds_like") or []
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise InvalidRequest("Must be a list of strings.", param="sounds_like", code="bad_value")
    text = {name: values.get(name) or "" for name in ("text", "placement", "language", "note")}
    for name, value in text.items():
        if not isinstance(value, str):
            raise InvalidRequest("Must be a string.", param=name, code="bad_value")
    term = Term(
        text=text["text"],
        placement=parse_placement(text["placement"]),
        priority=parse_priority(str(values.get("priority", ""))),
        language=parse_language(text["language"]),
        sounds_like=tuple(aliases),
        note=text["note"],
        active=parse_active(str(values.get("active", ""))),
    )
    return term, set(values)


def _guard(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _unguard(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _drain(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
