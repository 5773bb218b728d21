"""Files as editors and spreadsheets write them, and the way back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Conflict, InvalidRequest, InvalidText
from app.glossary.normalise import match_key, normalise_term
from app.glossary.term import Placement, Term
from app.glossary.term_file import TermFormat, read_terms, term_as_json, write_csv
from app.glossary.term_rows import clean_rows


def language(text: str) -> str | None:
    if text == "xx":
        raise InvalidRequest("Unknown language.", param="language", code="unknown_language")
    return text or None


def fits(term: Term) -> None:
    if term.text.startswith("costly"):
        raise Conflict("Too many tokens.", param="text", code="term_over_budget")


def read(data: bytes | str, file_format: TermFormat = TermFormat.CSV) -> list[Term]:
    rows = read_terms(data.encode() if isinstance(data, str) else data, file_format, language)
    return clean_rows(rows.rows, rows.problems, check=fits)


def problems(data: bytes | str, file_format: TermFormat = TermFormat.CSV) -> list[tuple[int, str | None, str]]:
    with pytest.raises(InvalidRequest) as refused:
        read(data, file_format)
    assert refused.value.code == "import_rejected"
    errors = refused.value.details["errors"]
    assert isinstance(errors, list)
    return [(error["line"], error["column"], error["code"]) for error in errors]


def code_of(data: bytes | str, file_format: TermFormat = TermFormat.CSV) -> str:
    with pytest.raises(InvalidRequest) as refused:
        read(data, file_format)
    return refused.value.code


TWO = "term,priority\r\nKubernetes,10\r\nGrafana,5\r\n"
EXPECTED = [Term("Kubernetes", priority=10), Term("Grafana", priority=5)]


@pytest.mark.parametrize(
    "data",
    [
        TWO.encode(),
        TWO.encode("utf-8-sig"),
        TWO.replace(",", ";").encode(),
        TWO.replace(",", "\t").encode("utf-16"),
        TWO.replace(",", "\t").encode("utf-16-be", "strict").join([b"\xfe\xff", b""]),
        ("sep=;\r\n" + TWO.replace(",", ";")).encode("utf-8-sig"),
        TWO.replace("\r\n", "\n").encode(),
        TWO.replace("\r\n", "\r").encode(),
        TWO.replace("\r\n", "\r\n\r\n").encode(),
        TWO.upper().replace("KUBERNETES", "Kubernetes").replace("GRAFANA", "Grafana").encode(),
        b'"term","priority"\n" Kubernetes ","10"\nGrafana,5,,\n',
    ],
)
def test_every_dialect_gives_the_same_terms(data: bytes) -> None:
    assert read(data) == EXPECTED


def test_all_columns_are_read() -> None:
    assert read("text,placement,priority,language,sounds_like,note,active\nA,Pinned,-3,ko,ah|eh,see ward 5,No\n") == [
        Term("A", Placement.PINNED, -3, "ko", ("ah", "eh"), "see ward 5", active=False)
    ]


def test_quoted_cells_hold_commas_quotes_and_line_breaks() -> None:
    data = 'term,priority\r\n"Smith, Jones & Co",10\r\n"two\r\nlines",5\r\n"says ""hi""",1\r\n'
    assert [term.text for term in read(data)] == ["Smith, Jones & Co", "two lines", 'says "hi"']


def test_every_bad_row_is_named_by_its_line() -> None:
    data = 'text,placement,priority,language\n"a\nb",,,\n,pinned,,\nc,top,,\nd,,much,\ne,,,xx\nf,,,,,9\nA B,,,\n'
    assert problems(data) == [
        (4, "text", "empty_text"),
        (5, "placement", "bad_value"),
        (6, "priority", "bad_value"),
        (7, "language", "unknown_language"),
        (8, None, "surplus_cells"),
        (9, "text", "twin_term"),
    ]


def test_bad_cells_are_refused_one_by_one() -> None:
    assert problems('text\n"q\n') == [(2, None, "bad_quoting")]
    assert problems("text\na\0b\n") == [(2, "text", "control_character")]
    assert problems("text\n" + "x" * 201 + "\nok\n" + "y" * 200_000) == [
        (2, "text", "text_too_long"),
        (4, None, "bad_quoting"),
    ]


def test_a_term_that_no_prompt_can_hold_is_named_by_its_line() -> None:
    assert problems("text\nfine\n" + "costly " * 20) == [(3, "text", "term_over_budget")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (TWO.encode("utf-16-le"), "bad_encoding"),
        ("term\nNguyễn Ö\n".encode("latin-1", "replace").replace(b"?", b"\xf6"), "bad_encoding"),
        (b"\xff\xfea", "bad_encoding"),
        (b"", "bad_header"),
        (b"word,weight\na,1\n", "bad_header"),
        (b"text,weight\na,1\n", "bad_header"),
        (b"text,term\na,b\n", "bad_header"),
        (b"priority\n1\n", "bad_header"),
    ],
)
def test_a_file_that_cannot_be_read_says_so(data: bytes, code: str) -> None:
    assert code_of(data) == code


def test_a_plain_list_ranks_its_lines() -> None:
    assert read("\ufeffGrafana\r\n\r\n Loki \nTempo", TermFormat.TXT) == [
        Term("Grafana", priority=3),
        Term("Loki", priority=2),
        Term("Tempo", priority=1),
    ]
    assert problems("a\nb\nＡ", TermFormat.TXT) == [(3, "text", "twin_term")]


def test_json_is_a_list_or_an_export() -> None:
    assert read('["A", {"term": "B", "priority": 2, "sounds_like": ["bee"], "active": false}]', TermFormat.JSON) == [
        Term("A"),
        Term("B", priority=2, sounds_like=("bee",), active=False),
    ]
    assert read('{"terms": []}', TermFormat.JSON) == []
    assert problems('["A", 5, {"text": 5}, {"text": "x", "weight": 1}, {"text": "a\\u0000"}]', TermFormat.JSON) == [
        (2, None, "bad_json"),
        (3, "text", "bad_value"),
        (4, None, "unknown_field"),
        (5, "text", "control_character"),
    ]
    for broken in ("", "{", "5", '{"terms": 5}', "[" * 100_000):
        assert code_of(broken, TermFormat.JSON) == "bad_json"


def test_columns_tell_what_the_file_says() -> None:
    assert read_terms(TWO.encode(), TermFormat.CSV, language).columns == {"text", "priority"}
    assert read_terms(b'[{"text": "a", "note": "n"}]', TermFormat.JSON, language).columns == {"text", "note"}


def test_many_errors_are_counted_and_the_first_shown() -> None:
    with pytest.raises(InvalidRequest) as refused:
        read("text,active\n" + "a,maybe\n" * 500)
    assert refused.value.details["error_count"] == 500
    assert len(refused.value.details["errors"]) == 100  # type: ignore[arg-type]
    assert "Line 2: Must be true or false." in refused.value.message


def clean(term: Term) -> Term | None:
    try:
        return normalise_term(term)
    except InvalidText:
        return None


texts = st.text(max_size=30) | st.sampled_from(["=1+1", "-tail", "'quoted'", "'=x", '"', "a,b", "@home", "#1", "a;b"])
terms = st.builds(
    Term,
    texts,
    st.sampled_from(Placement),
    st.integers(-(10**9), 10**9),
    st.sampled_from([None, "en", "ko"]),
    st.tuples(texts),
    texts,
    st.booleans(),
).map(clean)


@given(st.lists(terms.filter(bool), max_size=8, unique_by=lambda term: (match_key(term.text), term.language)))
def test_export_and_import_is_identity(wanted: list[Term]) -> None:
    assert read("".join(write_csv(wanted))) == wanted
    assert read(json.dumps({"terms": [term_as_json(term) for term in wanted]}), TermFormat.JSON) == wanted


def test_a_spreadsheet_runs_no_cell_of_an_export() -> None:
    lines = list(write_csv([Term("=HYPERLINK(1)", note="+1", sounds_like=("@x",))]))
    assert lines[1].startswith("'=HYPERLINK(1),ranked,0,,'@x,'+1,true")
