"""The positional A/B against stub servers that cut, refuse and ignore in every way we know of."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audit.filler import WORDS, Filler, filler, joined
from app.audit.hearing import found
from app.audit.limits import Unit, judge
from app.audit.probe import Answer
from app.audit.truncation import Cut, TruncationExperiment, bisect
from app.audit.verdict import Verdict
from app.errors import InvalidRequest
from app.prompt.merges import Vocabulary
from app.prompt.tokens import estimate_tokens

TERMS = ("Sonalift", "Velnora", "Zytriflex", "Qarvelle")


@lru_cache(None)
def tokens(text: str) -> int:
    return estimate_tokens(text, Vocabulary.MULTILINGUAL) if text else 0


@dataclass
class StubServer:
    """Hears exactly the terms that stand whole in the part of the prompt that it keeps."""

    keep: Callable[[str], str] = lambda prompt: prompt
    refuses: Callable[[str], bool] = lambda prompt: False
    status: int = 400
    asked: int = 0

    def ask(self, prompt: str) -> Answer:
        self.asked += 1
        if self.refuses(prompt):
            return Answer(refused="too long", status=self.status)
        kept = self.keep(prompt)
        return Answer(text=" ".join(term for term in TERMS if found(term, kept)))


def last_tokens(limit: int) -> Callable[[str], str]:
    """Keeps whole words, as many from the end as fit; a cut inside a term loses the term either way."""

    def keep(prompt: str) -> str:
        words = prompt.split(" ")
        cut = bisect_left(range(len(words)), True, key=lambda at: tokens(" ".join(words[at:])) <= limit)
        return " ".join(words[cut:])

    return keep


def first_tokens(limit: int) -> Callable[[str], str]:
    def keep(prompt: str) -> str:
        words = prompt.split(" ")
        fits = bisect_left(
            range(len(words)), True, key=lambda at: tokens(" ".join(words[: at + 1]).rstrip(",")) > limit
        )
        return " ".join(words[:fits])

    return keep


def audited(server: StubServer, most_tokens: int = 420):  # type: ignore[no-untyped-def]
    return judge(TruncationExperiment(server.ask, tokens, TERMS, most_tokens=most_tokens).run())


@pytest.mark.parametrize("limit", [37, 223, 301])
@pytest.mark.parametrize(("cut", "keep"), [(Cut.FRONT, last_tokens), (Cut.BACK, first_tokens)])
def test_a_cut_by_tokens_is_found_within_3_tokens(limit: int, cut: Cut, keep: Callable[[int], Callable]) -> None:
    verdict = audited(StubServer(keep(limit)))
    assert verdict.cut is cut
    assert verdict.limit is not None
    assert verdict.limit.unit is Unit.TOKENS
    assert verdict.limit.tokens == pytest.approx(limit, abs=3)
    assert verdict.limit.characters is None
    assert verdict.verdict is Verdict.BROKEN


@pytest.mark.parametrize("limit", [150, 600, 896])
@pytest.mark.parametrize("cut", [Cut.FRONT, Cut.BACK])
def test_a_cut_by_characters_is_told_from_one_by_tokens(limit: int, cut: Cut) -> None:
    verdict = audited(StubServer(lambda prompt: prompt[-limit:] if cut is Cut.FRONT else prompt[:limit]))
    assert verdict.cut is cut
    assert verdict.limit is not None
    assert verdict.limit.unit is Unit.CHARACTERS
    # A token of the finer filler is 2.6 characters, so this is 3 tokens.
    assert verdict.limit.characters == pytest.approx(limit, abs=8)


@pytest.mark.parametrize("limit", [100, 223])
def test_a_refusal_by_tokens_is_no_cut(limit: int) -> None:
    verdict = audited(StubServer(refuses=lambda prompt: tokens(prompt) > limit))
    assert (verdict.cut, verdict.verdict) == (Cut.NOTHING, Verdict.KEPT)
    assert verdict.refused_at is not None
    assert (verdict.refused_at.unit, verdict.refused_at.tokens) == (Unit.TOKENS, limit + 1)


@pytest.mark.parametrize("limit", [200, 896])
def test_a_refusal_by_characters_is_found_within_3_tokens(limit: int) -> None:
    verdict = audited(StubServer(refuses=lambda prompt: len(prompt) > limit))
    assert (verdict.cut, verdict.verdict) == (Cut.NOTHING, Verdict.KEPT)
    assert verdict.refused_at is not None
    assert verdict.refused_at.unit is Unit.CHARACTERS
    assert verdict.refused_at.characters == pytest.approx(limit, abs=8)


def test_a_cut_at_223_tokens_behind_a_refusal_at_896_characters_shows_both() -> None:
    verdict = audited(StubServer(last_tokens(223), refuses=lambda prompt: len(prompt) > 896))
    assert verdict.cut is Cut.FRONT
    assert verdict.limit is not None
    assert (verdict.limit.unit, verdict.limit.tokens) == (Unit.TOKENS, pytest.approx(223, abs=3))
    assert verdict.refused_at is not None
    assert verdict.refused_at.characters == pytest.approx(896, abs=8)


def test_a_prompt_that_is_ignored_past_a_length_is_no_cut_at_an_end() -> None:
    verdict = audited(StubServer(lambda prompt: prompt if tokens(prompt) <= 120 else ""))
    assert (verdict.cut, verdict.verdict) == (Cut.WHOLE, Verdict.BROKEN)
    assert verdict.limit is not None
    assert verdict.limit.tokens == pytest.approx(120, abs=3)


def test_a_server_that_drops_the_middle_does_not_pass() -> None:
    verdict = audited(StubServer(lambda prompt: f"{prompt[:300]} ... {prompt[-300:]}"))
    assert (verdict.cut, verdict.verdict) == (Cut.MIDDLE, Verdict.INCONCLUSIVE)
    assert "not from its middle" in verdict.summary[0]


def test_a_server_that_breaks_on_a_long_prompt_breaks_the_promise() -> None:
    verdict = audited(StubServer(refuses=lambda prompt: tokens(prompt) > 223, status=500))
    assert verdict.verdict is Verdict.BROKEN
    assert "fault of the server" in verdict.summary[-1]


def test_no_limit_at_all_is_kept() -> None:
    verdict = audited(StubServer())
    assert (verdict.cut, verdict.limit, verdict.refused_at) == (Cut.NOTHING, None, None)
    assert verdict.verdict is Verdict.KEPT


@pytest.mark.parametrize("heard", ["Sonalift Velnora Zytriflex Qarvelle", "nothing of it"])
def test_terms_that_show_nothing_are_said_to(heard: str) -> None:
    experiment = TruncationExperiment(lambda prompt: Answer(text=heard), tokens, TERMS, most_tokens=500)
    assert judge(experiment.run()).verdict is Verdict.INCONCLUSIVE


def test_one_deaf_witness_does_not_move_the_limit() -> None:
    """A model may miss one term wherever it stands; the others decide."""
    keep = last_tokens(223)
    server = StubServer(lambda prompt: keep(prompt).replace("Velnora", "Velna") if tokens(prompt) > 60 else prompt)
    verdict = audited(server)
    assert verdict.cut is Cut.FRONT
    assert verdict.limit is not None
    assert verdict.limit.tokens == pytest.approx(223, abs=3)


def test_an_audit_asks_some_dozens_of_times_not_hundreds() -> None:
    server = StubServer(last_tokens(223))
    audited(server, most_tokens=1000)
    assert server.asked < 90


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(Filler), st.integers(2, 400))
def test_filler_costs_what_it_says(kind: Filler, wanted: int) -> None:
    assert tokens(joined(filler(kind, wanted), "cat")) - tokens("cat") == wanted


@pytest.mark.parametrize("vocabulary", [Vocabulary.MULTILINGUAL, Vocabulary.ENGLISH])
@pytest.mark.parametrize("kind", list(Filler))
def test_every_word_of_filler_is_one_token(kind: Filler, vocabulary: Vocabulary) -> None:
    assert [word for word in WORDS[kind] if estimate_tokens(word, vocabulary) != 1] == []


@given(st.integers(0, 2000), st.integers(1, 2000))
def test_bisection_finds_the_turn(low: int, span: int) -> None:
    for turn in (low + 1, low + span, low + (span + 1) // 2):
        assert bisect(lambda at, turn=turn: at >= turn, low, low + span) == (turn - 1, turn)


@settings(max_examples=5, deadline=None)
@given(st.integers(30, 400), st.booleans())
def test_any_limit_each_way(limit: int, is_front: bool) -> None:
    verdict = audited(StubServer((last_tokens if is_front else first_tokens)(limit)))
    assert verdict.cut is (Cut.FRONT if is_front else Cut.BACK)
    assert verdict.limit is not None
    assert verdict.limit.tokens == pytest.approx(limit, abs=3)


@pytest.mark.parametrize(
    ("refuses", "how"), [(lambda _: True, "even without a prompt"), (bool, "even with nothing but the terms")]
)
def test_a_refused_recording_is_no_finding(refuses: Callable[[str], bool], how: str) -> None:
    server = StubServer(refuses=refuses)
    with pytest.raises(InvalidRequest, match=f"{how}: too long"):
        TruncationExperiment(server.ask, tokens, TERMS, most_tokens=1000).run()


def test_a_refusal_that_hits_one_order_only_is_no_cut() -> None:
    """Where the last word stands may cost a token: the longest list of words need not pass in every order."""
    limit = 223

    def refuses(prompt: str) -> bool:
        return tokens(prompt) + (6 if prompt.startswith(TERMS[0]) else 0) > limit

    server = StubServer(refuses=refuses)
    verdict = judge(TruncationExperiment(server.ask, tokens, TERMS, most_tokens=1000).run())
    assert (verdict.verdict, verdict.cut) == (Verdict.KEPT, Cut.NOTHING)
