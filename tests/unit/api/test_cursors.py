"""Page cursors come back from outside: whatever was not made here is refused."""

import base64

import pytest

from app.api.glossary_schemas import parse_term_cursor, term_cursor
from app.errors import InvalidRequest
from app.glossary.term import Placement, Term


@pytest.mark.parametrize(
    "content", ['["pinned",1e400,"a",1]', '["pinned",-Infinity,"a",1]', "[" * 40_000, "{}", '["pinned",1,"a"]', "\x00"]
)
def test_made_up_cursors_are_refused(content: str) -> None:
    cursor = base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")
    with pytest.raises(InvalidRequest) as caught:
        parse_term_cursor(cursor)
    assert caught.value.code == "invalid_cursor"


def test_a_cursor_leads_back_to_its_term() -> None:
    last = Term("Velnora", Placement.SEED, 7, id=12)
    cursor = term_cursor([last], 1)
    assert parse_term_cursor(cursor) == last
