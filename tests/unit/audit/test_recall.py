"""Term recall: the words that are given, the figures, the intervals, the advice."""

import pytest
from hypothesis import given as given_text
from hypothesis import strategies as st

from app.audit.advice import advise, rates
from app.audit.bootstrap import difference, pooled
from app.audit.hearing import TermIndex, count, words
from app.audit.probe import Answer
from app.audit.rates import Errors, character_errors, word_errors
from app.audit.recall import (
    Condition,
    Figures,
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
from app.audit.verdict import Verdict
from app.errors import InvalidRequest
from app.glossary.term import TermSelection

SAMPLE = Sample("a.wav", "We compared Velnora with Zytriflex.", ("Velnora", "Zytriflex"), "en")
LISTED = [f"Brand{number}" for number in range(20)]
INDEX = TermIndex(LISTED)


@pytest.mark.parametrize(
    ("term", "text", "times"),
    [
        ("Velnora", "velnora, VELNORA. Velnoras", 2),
        ("Acme Corp", "the acme corp. and Acme-Corp", 2),
        ("O'Neil", "Oneil met O’Neil", 2),
        ("富士康", "鸿海旗下的富士康在印度", 1),
        ("Nguyễn", "Nguyê\u0303n", 1),
        ("...", "...", 0),
        ("클라비오", "클라비오를 팔고 클라비오 를 사고 뉴클라비오", 2),
        ("Velnora", "我们用Velnora治疗, VelnoraはVelnora를", 3),
        ("Velnora 富士", "用velnora富士治疗", 1),
        ("Acme 제피라", "acme 제피라의", 1),
        ("佐々木", "佐々木さん", 1),
    ],
)
def test_a_term_is_heard_as_whole_words(term: str, text: str, times: int) -> None:
    assert count(term, text) == times


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


LETTERS = st.text("ab 富士ก'-를의\u0303", max_size=6)


@given_text(st.lists(LETTERS, max_size=6).map(" ".join), st.lists(LETTERS, max_size=8))
def test_many_terms_are_counted_as_each_one_is(text: str, terms: list[str]) -> None:
    counted = TermIndex(terms).counts(text)
    assert {words(term): count(term, text) for term in terms if count(term, text)} == counted
    assert all(count(term, f"{text} {term}") > count(term, text) for term in terms if words(term))


def test_terms_offered_are_those_of_a_receipt() -> None:
    static = {"prompt": {"selection": "static", "kept": ["a", "b", "c"]}, "relevance": []}
    windows = [{"offered": [{"term": "a"}, {"term": "b"}]}, {"offered": [{"term": "a"}]}]
    relevant = {"prompt": {"selection": "relevant", "kept": []}, "relevance": windows}
    assert [offered(Answer(receipt=each)) for each in (static, relevant, None)] == [3, 3, None]


@given_text(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=30))
def test_an_interval_holds_its_value_and_is_the_same_each_time(files: list[tuple[int, int]]) -> None:
    heard, said = [min(a, b) for a, b in files], [b for _, b in files]
    interval = pooled(heard, said)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1
    assert interval.value == pytest.approx(sum(heard) / sum(said))
    assert pooled(heard, said) == interval


def test_more_files_give_a_narrower_interval() -> None:
    few, many = pooled([1, 0] * 5, [1] * 10), pooled([1, 0] * 100, [1] * 200)
    assert many.high - many.low < (few.high - few.low) / 3


def test_the_known_interval_of_a_share() -> None:
    """For 50 of 100 the normal approximation gives 0.402 to 0.598."""
    interval = pooled([1, 0] * 50, [1] * 100)
    assert interval.low == pytest.approx(0.402, abs=0.02)
    assert interval.high == pytest.approx(0.598, abs=0.02)


def test_pairs_of_files_are_drawn_together() -> None:
    """Every file gains exactly one term of two, so that there is nothing uncertain about the gain."""
    gain = difference([0, 1, 0, 1], [1, 2, 1, 2], [2, 2, 2, 2])
    assert (gain.value, gain.low, gain.high) == (0.5, 0.5, 0.5)


def figures(file: int, heard: int, *, language: str = "en", refused: str | None = None) -> Figures:
    return Figures(f"{file}.wav", language, 2, heard, 0, Errors(0, 10), Errors(0, 50), refused)


def results(**heard: list[int]) -> dict[Condition, list[Figures]]:
    """`none`, or `n5` for 5 terms."""
    conditions = {"none": Condition()} | {f"n{n}": Condition(Taken.SPOKEN, n) for n in (5, 10, 20, 40)}
    return {conditions[name]: [figures(n, each) for n, each in enumerate(row)] for name, row in heard.items()}


def test_the_number_of_terms_past_which_more_hurts() -> None:
    advice = advise(
        results(none=[0] * 20, n5=[2] * 20, n10=[2] * 19 + [1], n20=[1] * 20, n40=[0] * 20), at_least=0, unheard={}
    )
    assert advice.most == 10
    assert "at most 10 terms" in advice.summary[1]
    assert advice.verdict is Verdict.KEPT


def test_no_number_hurts_where_none_does() -> None:
    advice = advise(results(none=[0] * 20, n5=[1] * 20, n40=[2] * 20), at_least=0, unheard={})
    assert advice.most is None
    assert "none of the numbers tried hurts" in advice.summary[1]


def test_a_number_that_may_hurt_is_told_with_its_interval() -> None:
    advice = advise(results(none=[0] * 20, n5=[2] * 20, n40=[2] * 19 + [1]), at_least=0, unheard={})
    assert advice.most is None
    said = "no number tried is surely worse than the best: 40 find 39, 5 find 40 (-2%, 95 % interval"
    assert said in advice.summary[1]


def test_terms_that_make_it_worse_than_none_break_the_promise() -> None:
    advice = advise(results(none=[2] * 20, n5=[1] * 20), at_least=0, unheard={})
    assert advice.verdict is Verdict.BROKEN
    assert "Worse than no terms at all: 5 terms" in advice.summary[-1]


def test_a_refused_file_breaks_the_promise() -> None:
    refused = results(none=[0] * 3, n5=[2] * 3)
    refused[Condition(Taken.SPOKEN, 5)][0] = figures(0, 0, refused="400: too long")
    assert advise(refused, at_least=0, unheard={}).verdict is Verdict.BROKEN


def test_a_floor_for_recall() -> None:
    assert advise(results(none=[0] * 9, n5=[1] * 9), at_least=0.5, unheard={}).verdict is Verdict.KEPT
    assert advise(results(none=[0] * 9, n5=[1] * 9), at_least=0.6, unheard={}).verdict is Verdict.BROKEN


def test_rates_by_language() -> None:
    by_language = {Condition(): [figures(1, 2), figures(2, 0, language="de")]}
    assert [(each.files, each.recall.value) for each in rates(by_language, "de")] == [(1, 0.0)]
    assert rates(by_language)[0].recall.value == 0.5


def test_a_recording_that_is_refused_without_terms_proves_nothing() -> None:
    advice = advise(results(none=[0] * 9, n5=[1] * 9), at_least=0, unheard={"b.wav": "400: no audio"})
    assert advice.verdict is Verdict.INCONCLUSIVE
    assert "b.wav is refused without terms already" in advice.summary[-1]
    worse = advise(results(none=[2] * 20, n5=[1] * 20), at_least=0, unheard={"b.wav": "400: no audio"})
    assert worse.verdict is Verdict.BROKEN


def test_relevant_selection_is_held_against_static() -> None:
    static, relevant = (Condition(Taken.GLOSSARY, 1200, selection=way) for way in TermSelection)
    by_condition = {Condition(): [0] * 20, static: [0, 1] * 10, relevant: [2] * 20}
    found = {each: [figures(n, heard) for n, heard in enumerate(row)] for each, row in by_condition.items()}
    lines = advise(found, at_least=0, unheard={}).summary
    assert "Glossary of 1,200, relevant finds 40, static 10 (+75%, 95 % interval" in lines[-1]
