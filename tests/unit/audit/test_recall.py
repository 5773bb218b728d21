"""Term recall: the words that are given, the figures of a file."""

import pytest

from app.audit.hearing import TermIndex
from app.audit.probe import Answer
from app.audit.rates import Errors, character_errors, word_errors
from app.audit.recall import (
    Condition,
    Placement,
    Position,
    Sample,
    Taken,
    glossary_of,
    offered,
    read_manifest,
    score,
    terms_for,
)
from app.audit.recalling import conditions_of
from app.errors import InvalidRequest
from app.glossary.term import TermSelection

SAMPLE = Sample("a.wav", "We compared Velnora with Zytriflex.", ("Velnora", "Zytriflex"), "en")
LISTED = [f"Brand{number}" for number in range(20)]
INDEX = TermIndex(LISTED)


@pytest.mark.parametrize(
    ("position", "order"),
    [
        (Position.FIRST, ("Velnora", "Zytriflex", "Brand0", "Brand1")),
        (Position.MIDDLE, ("Brand0", "Velnora", "Zytriflex", "Brand1")),
        (Position.LAST, ("Brand0", "Brand1", "Velnora", "Zytriflex")),
    ],
)
def test_spoken_terms_stand_where_the_condition_says(position: Position, order: tuple[str, ...]) -> None:
    condition = Condition(Taken.SPOKEN, 4, position)
    assert terms_for(condition, SAMPLE, ["velnora", *LISTED]) == order


def test_the_head_of_the_list_knows_nothing_of_what_is_said() -> None:
    assert terms_for(Condition(Taken.HEAD, 3), SAMPLE, LISTED) == ("Brand0", "Brand1", "Brand2")
    assert terms_for(Condition(), SAMPLE, LISTED) == ()


def test_figures_of_one_file() -> None:
    figures = score(SAMPLE, Answer("We compared Velnora with Brand3 and Velnora."), INDEX)
    assert (figures.said, figures.heard, figures.false_alarms) == (2, 1, 2)
    assert figures.words == Errors(3, 5)


def test_a_term_said_twice_counts_twice() -> None:
    twice = Sample("a.wav", "Velnora and Velnora", ("Velnora",), None)
    figures = score(twice, Answer("Velnora and Velna"), INDEX)
    assert (figures.said, figures.heard) == (2, 1)


@pytest.mark.parametrize(
    ("said", "heard", "words", "characters"),
    [("One two.", "one, two", (0, 2), (0, 7)), ("one two", "", (2, 2), (7, 7)), ("", "noise", (1, 0), (5, 0))],
)
def test_error_rates(said: str, heard: str, words: tuple[int, int], characters: tuple[int, int]) -> None:
    assert word_errors(said, heard) == Errors(*words)
    assert character_errors(said, heard) == Errors(*characters)


def test_manifest_with_a_byte_order_mark_and_quotes() -> None:
    text = '\ufefffile\tlanguage\ttranscript\tterms\na.wav\ten\tHe said "hi" to Velnora\tVelnora, Acme Corp\n'
    assert read_manifest(text) == (Sample("a.wav", 'He said "hi" to Velnora', ("Velnora", "Acme Corp"), "en"),)


def test_a_manifest_may_hold_four_hours_of_speech_and_lines_of_windows() -> None:
    said = "so it goes \u2028" * 20_000
    samples = read_manifest(f"file\ttranscript\tterms\r\na.wav\t{said}\tVelnora\r\n\r\nb.wav\r\n")
    assert samples == (Sample("a.wav", said, ("Velnora",), None), Sample("b.wav", "", (), None))


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", "column file, terms, transcript"),
        ("file\tterms\na\tb\n", "transcript"),
        ("file\ttranscript\tterms\na\tb\t\n", "names a term"),
        ("file\ttranscript\tterms\na\tb\tc\na\td\te\n", "a has 2 lines"),
        ("file\ttranscript\tterms\n\tb\tc\n", "names no file"),
    ],
)
def test_a_manifest_that_says_nothing_is_refused(text: str, missing: str) -> None:
    with pytest.raises(InvalidRequest, match=missing):
        read_manifest(text)


def test_conditions_are_the_product_with_no_terms_first() -> None:
    found = conditions_of(
        [5, 40], [Taken.SPOKEN, Taken.HEAD], list(Position)[:2], [Placement.PROMPT],
        sizes=[1200, 40], selections=list(TermSelection), stored=True,
    )  # fmt: skip
    assert [condition.label for condition in found] == [
        "no terms",
        "first 5 of the list, prompt",
        "first 40 of the list, prompt",
        "5 terms, spoken first, prompt",
        "40 terms, spoken first, prompt",
        "5 terms, spoken middle, prompt",
        "40 terms, spoken middle, prompt",
        "glossary of 40, static",
        "glossary of 40, relevant",
        "glossary of 1,200, static",
        "glossary of 1,200, relevant",
        "the server's glossary, static",
        "the server's glossary, relevant",
    ]


def given(placements: list[Placement], **glossaries: object) -> list[str]:
    asked: dict[str, object] = {"sizes": (), "selections": (), "stored": False, **glossaries}
    conditions = conditions_of([5], [Taken.HEAD], [Position.LAST], placements, **asked)  # type: ignore[arg-type]
    return [condition.label for condition in conditions]


def test_the_head_of_a_list_is_never_called_pinned() -> None:
    """Only terms that are said go into a block; to call the others so would be a lie."""
    assert given([Placement.PINNED, Placement.RANKED]) == ["no terms", "first 5 of the list, ranked"]
    with pytest.raises(InvalidRequest, match="Nothing is left"):
        given([Placement.PINNED, Placement.SEED])


def test_a_glossary_on_the_server_may_choose_as_it_likes() -> None:
    assert given([], stored=True) == ["no terms", "the server's glossary"]


def test_a_glossary_of_a_size_holds_all_that_is_said() -> None:
    samples = [SAMPLE, Sample("b.wav", "Sonalift", ("Sonalift",), "en")]
    listed = ["Brand0", "velnora", *LISTED]
    assert glossary_of(5, samples, listed) == ("Brand0", "Velnora", "Brand1", "Zytriflex", "Sonalift")
    assert len(glossary_of(23, samples, listed)) == 23


@pytest.mark.parametrize("size", [2, 24])
def test_a_glossary_that_cannot_be_made_is_refused(size: int) -> None:
    samples = [SAMPLE, Sample("b.wav", "Sonalift", ("Sonalift",), "en")]
    with pytest.raises(InvalidRequest, match="3 terms are said in the recordings, and the list has 20 others"):
        glossary_of(size, samples, ["VELNORA", *LISTED])


def test_terms_offered_are_those_of_a_receipt() -> None:
    static = {"prompt": {"selection": "static", "kept": ["a", "b", "c"]}, "relevance": []}
    windows = [{"offered": [{"term": "a"}, {"term": "b"}]}, {"offered": [{"term": "a"}]}]
    relevant = {"prompt": {"selection": "relevant", "kept": []}, "relevance": windows}
    assert [offered(Answer(receipt=each)) for each in (static, relevant, None)] == [3, 3, None]
