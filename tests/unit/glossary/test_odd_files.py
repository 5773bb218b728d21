"""Files that broke the reader: each is refused with what to do, or read for what it is."""

import pytest

from app.decoding.languages import parse_language
from app.errors import InvalidRequest
from app.glossary.term_file import TermFormat, read_terms


@pytest.mark.parametrize(
    ("data", "file_format", "code"),
    [
        (b'text,"no"te\nA,b\n', TermFormat.CSV, "bad_header"),
        (b'text,"note\nA,b\n', TermFormat.CSV, "bad_header"),
        (b"text," + b"x" * 140_000 + b"\nA,b\n", TermFormat.CSV, "bad_header"),
        (b'[{"text":"a","priority":' + b"9" * 5000 + b"}]", TermFormat.JSON, "bad_json"),
        (b"[" * 100_000, TermFormat.JSON, "bad_json"),
        (b"Kirmlift\t2\nShiantine\t1\n", TermFormat.TXT, "bad_header"),
    ],
    ids=["quote in header", "open quote", "endless header", "endless number", "deep nesting", "table as list"],
)
def test_what_cannot_be_read_is_refused(data: bytes, file_format: TermFormat, code: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_terms(data, file_format, parse_language)
    assert caught.value.code == code


def test_unicode_text_of_a_spreadsheet_is_a_table_under_any_name() -> None:
    data = "text\tpriority\r\nKirmlift\t2\r\nShiantine\t1\r\n".encode("utf-16")
    for file_format in (TermFormat.TXT, TermFormat.CSV):
        rows = read_terms(data, file_format, parse_language).rows
        assert [(term.text, term.priority) for _, term in rows] == [("Kirmlift", 2), ("Shiantine", 1)]
