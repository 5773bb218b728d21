"""A request once more, and two revisions of a glossary side by side."""

from dataclasses import replace

import pytest

from app.audit.probe import Answer, Ask, Piece
from app.audit.replay import compared, judge_replay, judge_revisions, replayed, stored_request
from app.audit.verdict import Verdict
from app.errors import InvalidRequest


def answer(text: str, *, kept: tuple[str, ...] = (), fingerprint: str = "f", prompt: str = "p") -> Answer:
    receipt = {"prompt": {"glossary": "brands", "revision": 3, "kept": list(kept), "blocks": {"request": 0}}}
    return Answer(text, (Piece(0, 2, text),), 2, "en", fingerprint=fingerprint, prompt=prompt, receipt=receipt)


def once_more(fresh: Answer) -> tuple[Verdict, tuple[str, ...]]:
    return judge_replay([replayed(stored_request("a.wav", answer("Take Velnora.")), [fresh])])


def test_a_receipt_names_glossary_and_revision() -> None:
    request = stored_request("a.wav", answer("x"))
    assert (request.glossary, request.revision) == ("brands", 3)


def test_a_prompt_with_words_of_the_request_cannot_be_sent_again() -> None:
    stored = answer("x")
    assert stored.receipt is not None
    stored.receipt["prompt"]["blocks"]["request"] = 2
    with pytest.raises(InvalidRequest, match="words of the request"):
        stored_request("a.wav", stored)


@pytest.mark.parametrize(
    ("fresh", "verdict", "said"),
    [
        (answer("Take Velnora."), Verdict.KEPT, "identical."),
        (answer("Take Velnora.", fingerprint="g"), Verdict.KEPT, "although the fingerprint changed"),
        (answer("Take Velna."), Verdict.BROKEN, "with the same prompt and fingerprint"),
        (answer("Take Velna.", fingerprint="g"), Verdict.INCONCLUSIVE, "changed from f to g"),
        (answer("Take Velnora.", prompt="q"), Verdict.BROKEN, "another prompt"),
        (Answer(refused="400: no"), Verdict.BROKEN, "refused this time"),
        (
            Answer(refused="404: no glossary", status=404),
            Verdict.INCONCLUSIVE,
            "cannot be asked again. 404: no glossary",
        ),
    ],
)
def test_what_a_replay_says(fresh: Answer, verdict: Verdict, said: str) -> None:
    found, lines = once_more(fresh)
    assert found is verdict
    assert said in lines[0]


def test_terms_won_and_lost_between_revisions() -> None:
    before = answer("Zytriflex and velna, Qarvelle", kept=("Zytriflex", "Qarvelle"))
    after = answer("sites reflex and Velnora, car well", kept=("Velnora", "Zytriflex"))
    result = compared("a.wav", before, after)
    assert (result.won, result.lost, result.lost_though_kept) == (
        ("Velnora",),
        ("Zytriflex", "Qarvelle"),
        ("Zytriflex",),
    )
    verdict, lines = judge_revisions([result], 3, 4)
    assert verdict is Verdict.BROKEN
    assert lines[0] == "Revision 4 against 3 over 1 files: won Velnora; lost Qarvelle, Zytriflex."


def test_a_term_taken_out_of_the_glossary_may_be_lost() -> None:
    before, after = answer("Qarvelle", kept=("Qarvelle",)), answer("car well")
    verdict, _ = judge_revisions([compared("a.wav", before, after)], 3, 4)
    assert verdict is Verdict.KEPT


def test_a_request_is_asked_as_it_may_have_been() -> None:
    stored = answer("x")
    assert stored.receipt is not None
    stored.receipt["prompt"]["selection"] = "relevant"
    request = stored_request("a.wav", stored)
    plain = Ask(glossary="brands", revision=3, selection="relevant")
    assert request.asks(None) == (replace(plain, language="en"), plain)
    assert request.asks("de") == (replace(plain, language="de"),)


def test_the_language_may_have_been_detected() -> None:
    """Terms of one language are in the prompt only when it is named, or heard and has terms of its own."""
    request = stored_request("a.wav", answer("Take Velnora."))
    fresh = iter([answer("Take Velna.", prompt="q"), answer("Take Velnora."), answer("never asked")])
    assert judge_replay([replayed(request, fresh)])[0] is Verdict.KEPT
    assert next(fresh).text == "never asked"
    other = [answer("Take Velna.", prompt="q"), answer("Take Velna.")]
    assert "with the same prompt and fingerprint" in judge_replay([replayed(request, other)])[1][0]
