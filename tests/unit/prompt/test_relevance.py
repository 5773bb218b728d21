from hypothesis import given
from hypothesis import strategies as st

from app.prompt.acceptance import Gain, accepted, weighed
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
    assert len({offer.term for offer in once}) <= MOST_OFFERED
    assert [-offer.relevance for offer in once] == sorted(-offer.relevance for offer in once)
    text = "".join(piece.text for piece in pieces)
    assert all(text[offer.start : offer.end] == offer.heard for offer in once)


def test_a_term_that_is_said_twice_is_offered_at_both_places() -> None:
    text = "Ask about Kermlift in the morning and about the price of Kirmlifft at night."
    found = offers(text, "Kermlift", "Kirmlifft")
    assert {(offer.term, offer.heard) for offer in found} == {("Kirmlift", "Kermlift"), ("Kirmlift", "Kirmlifft")}


def test_kanji_are_read_in_japanese_where_japanese_is_spoken() -> None:
    index = SoundIndex({term: (term,) for term in TERMS}, language="ja")
    (offer,) = offered(candidates((Piece("絶ひらのカメラ", -1.0),), index))
    assert (offer.term, offer.heard) == ("ゼフィラ", "絶ひら")


def offer(term: str, start: int, heard: str, similarity: float) -> Candidate:
    return Candidate(term, start, start + len(heard), heard, similarity, 1.0, 1.2)


def test_a_term_that_explains_the_sound_better_is_taken() -> None:
    (change,) = accepted(weighed([offer("Kirmlift", 21, "Kermlift", 0.9)], [Gain(2.0, -3.0)]))
    assert (change.start, change.end, change.heard, change.text) == (21, 29, "Kermlift", "Kirmlift")
    assert change.evidence == 10.5


def test_a_prompt_alone_does_not_put_a_term_where_something_else_was_said() -> None:
    offers = [offer("Monnra", 21, "the mono", 0.7)]
    assert accepted(weighed(offers, [Gain(2.9, -21.6)])) == ()
    assert accepted(weighed(offers, [Gain(-8.0, None)])) == ()


def test_a_term_that_explains_the_sound_hardly_better_than_what_was_written_is_not_taken() -> None:
    """A made-up name for a word of a recording that says none: measured, evidence 1.17."""
    offers = [offer("Zeephora", 0, "Zafira", 0.8)]
    assert accepted(weighed(offers, [Gain(-6.0, -1.66)])) == ()
    assert [change.text for change in accepted(weighed(offers, [Gain(-5.0, -1.66)]))] == ["Zeephora"]


def test_of_two_terms_for_one_place_the_one_with_more_evidence_is_taken() -> None:
    offers = [offer("Wuntdyne", 13, "want-dine", 0.957), offer("Wontdyne", 13, "want-dine", 1.0)]
    (change,) = accepted(weighed(offers, [Gain(5.5, -10.9), Gain(5.1, -8.9)]))
    assert change.text == "Wontdyne"
    elsewhere = offer("Weemab", 40, "wee mab", 0.9)
    both = accepted(weighed([*offers, elsewhere], [Gain(5.5, -10.9), Gain(5.1, -8.9), Gain(3.0, -1.0)]))
    assert [change.text for change in both] == ["Wontdyne", "Weemab"]


def test_what_stands_there_already_is_no_change_and_keeps_its_place() -> None:
    right, wrong = offer("Weemab", 10, "Weemab", 1.0), offer("Weemap", 10, "Weemab", 0.95)
    assert accepted(weighed([right, wrong], [Gain(0.0, 0.0), Gain(-1.0, -1.0)])) == ()
