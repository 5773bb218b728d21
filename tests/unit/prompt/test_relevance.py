from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.prompt.acceptance import Change, accepted
from app.prompt.relevance import MOST_OFFERED, Candidate, Piece, candidates, offered
from app.prompt.sound_index import SoundIndex

TERMS = ("Kirmlift", "Kroheeldine", "Weemab", "Zentgreomab", "Sonalift", "누브리스크", "ゼフィラ", "布莱托莫")
INDEX = SoundIndex({term: (term,) for term in TERMS})


def written(text: str, *unsure: str) -> tuple[Piece, ...]:
    """`text` word by word as a decoder wrote it, in doubt about the words of `unsure`."""
    parts = [part for part in text.split(" ") if part]
    return tuple(Piece(f" {part}", -1.2 if any(part in words for words in unsure) else -0.02) for part in parts)


def offers(text: str, *unsure: str) -> tuple[Candidate, ...]:
    return offered(candidates(written(text, *unsure), INDEX))


def changed(first: Sequence[Piece], changes: Sequence[Change]) -> str:
    text = "".join(piece.text for piece in first)
    for change in reversed(changes):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def test_a_name_that_was_misheard_is_offered_with_the_reason() -> None:
    (offer,) = offers("Customers ask about Kermlift every day.", "Kermlift")
    assert (offer.term, offer.heard, offer.doubt) == ("Kirmlift", "Kermlift", 1.2)
    assert 0.85 < offer.similarity < 1


def test_a_name_may_be_heard_as_several_words_and_in_any_script() -> None:
    assert [(o.term, o.heard) for o in offers("The doctor prescribed Zent Gryamab today.", "Zent Gryamab")] == [
        ("Zentgreomab", "Zent Gryamab")
    ]
    assert offers("오늘은 노버리스크 서비스를", "노버리스크")[0].term == "누브리스크"
    assert offers("ぜひらのカメラ", "ぜひらのカメラ")[0].term == "ゼフィラ"
    assert offers("不来拖摩的咖啡", "不来拖摩的咖啡")[0].term == "布莱托莫"


def test_nothing_is_offered_where_nothing_sounds_alike_or_the_name_is_right_already() -> None:
    assert offers("And so my fellow Americans ask not what your country can do for you") == ()
    assert offers("She compared it with Weemab yesterday.", "Weemab") == ()
    assert offered(candidates((), INDEX)) == ()


def test_what_the_decoder_doubts_counts_more() -> None:
    sure, unsure = offers("We sold a lift."), offers("We sold sona lift.", "sona lift.")
    assert sure == ()
    assert [offer.term for offer in unsure] == ["Sonalift"]


@given(st.lists(st.sampled_from([*TERMS, "Kermlift", "the", "with", "wee mab", "Crohildine"]), max_size=12))
def test_offers_are_few_ordered_and_the_same_each_time(words: list[str]) -> None:
    pieces = tuple(Piece(f" {word}", -1.0) for word in words)
    once = offered(candidates(pieces, INDEX))
    assert once == offered(candidates(pieces, INDEX))
    assert len(once) <= MOST_OFFERED
    assert [-offer.relevance for offer in once] == sorted(-offer.relevance for offer in once)
    text = "".join(piece.text for piece in pieces)
    assert all(text[offer.start : offer.end] == offer.heard for offer in once)


def test_a_term_replaces_what_was_heard_and_nothing_else_is_taken() -> None:
    first = written("She compared Crohildine with a rival on Monday.", "Crohildine")
    second = written("He compared Kroheeldine with arrival on Sunday.")
    assert changed(first, accepted(first, second, offers("She compared Crohildine with", "Crohildine"))) == (
        " She compared Kroheeldine with a rival on Monday."
    )


def test_several_words_give_way_to_one() -> None:
    first = written("The doctor prescribed Zent Gryamab and left.", "Zent Gryamab")
    second = written("The doctor prescribed Zentgreomab and left.")
    changes = accepted(first, second, offers("The doctor prescribed Zent Gryamab and left.", "Zent Gryamab"))
    assert changed(first, changes) == " The doctor prescribed Zentgreomab and left."


def test_a_term_is_not_taken_where_nothing_like_it_was_heard() -> None:
    first = written("Customers ask about Kermlift on Sunday.", "Kermlift")
    second = written("Customers Kirmlift about Kermlift on Kirmlift.")
    assert accepted(first, second, offers("Customers ask about Kermlift on Sunday.", "Kermlift")) == ()


def test_a_term_that_the_decoder_itself_doubts_is_not_taken() -> None:
    first = written("Customers ask about Kermlift.", "Kermlift")
    second = written("Customers ask about Kirmlift.", "Kirmlift")
    doubtful = tuple(Piece(piece.text, -1.6) for piece in second)
    given_offers = offers("Customers ask about Kermlift.", "Kermlift")
    assert len(accepted(first, second, given_offers)) == 1
    assert accepted(first, doubtful, given_offers) == ()


def test_a_new_spelling_that_sounds_the_same_is_the_term() -> None:
    first = written("Customers ask about Kermlift.", "Kermlift")
    given_offers = offers("Customers ask about Kermlift.", "Kermlift")
    assert changed(first, accepted(first, written("Customers ask about Kirmlifft."), given_offers)) == (
        " Customers ask about Kirmlift."
    )
    assert accepted(first, first, given_offers) == ()
