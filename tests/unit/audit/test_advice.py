"""What the figures of a recall audit add up to: intervals, rates, advice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.audit.advice import advise, rates
from app.audit.bootstrap import difference, pooled
from app.audit.rates import Errors
from app.audit.recall import Condition, Figures, Taken
from app.audit.verdict import Verdict
from app.glossary.term import TermSelection


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=30))
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
