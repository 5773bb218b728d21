"""When a window goes down the ladder, and which attempt is kept."""

from hypothesis import given
from hypothesis import strategies as st

from app.decoding.ladder import LADDER, Attempt, Reason, best, compression_ratio, is_echo, judge


def attempt(
    text: str = "She compared it.", *, logprob: float = -0.3, no_speech: float = 0.1, rung: str = "first"
) -> Attempt:
    return Attempt(rung, (1, 2), text, logprob, no_speech)


def test_a_sure_text_is_accepted() -> None:
    assert judge(attempt(), prompt_text="") is None


def test_a_loop_goes_on_with_its_reason() -> None:
    assert judge(attempt("see you later. " * 30), prompt_text="") == Reason.REPETITIVE


def test_an_unsure_text_goes_on_with_its_reason() -> None:
    assert judge(attempt(logprob=-1.2), prompt_text="") == Reason.UNSURE


def test_doubt_about_speech_and_text_is_silence_and_accepted() -> None:
    silent = attempt(logprob=-1.2, no_speech=0.8)
    assert silent.is_silence
    assert judge(silent, prompt_text="") is None


def test_the_prompt_given_back_on_silence_is_an_echo() -> None:
    """Silence with a glossary came back as 'Kubernetes, Grafana, Nguyen, Nguyen' with a good log-probability and a
    no-speech probability of 0.91 (public report a08)."""
    echoed = attempt("Kubernetes, Grafana, Nguyen, Nguyen", logprob=-0.05, no_speech=0.91)
    assert judge(echoed, prompt_text=" Kubernetes, Grafana, Nguyen") == Reason.ECHO


def test_the_same_words_really_spoken_are_kept() -> None:
    spoken = attempt("Kubernetes, Grafana.", logprob=-0.2, no_speech=0.02)
    assert judge(spoken, prompt_text=" Kubernetes, Grafana, Nguyen") is None


def test_other_words_are_no_echo() -> None:
    assert not is_echo(attempt("Kubernetes is down", no_speech=0.9), " Kubernetes, Grafana")


def test_the_likeliest_text_that_does_not_loop_is_kept() -> None:
    loop = attempt("no no no no " * 40, logprob=-0.1, rung="first")
    unsure = attempt("something else", logprob=-1.4, rung="beam")
    better = attempt("something near", logprob=-1.1, rung="no_prompt")
    assert best([loop, unsure, better]) is better
    assert best([loop]) is loop


@given(st.lists(st.floats(-5, 0), min_size=1, max_size=6))
def test_the_choice_does_not_depend_on_anything_but_the_attempts(logprobs: list[float]) -> None:
    attempts = [attempt(logprob=value, rung=str(index)) for index, value in enumerate(logprobs)]
    kept = best(attempts)
    assert kept.avg_logprob == max(logprobs)
    assert kept is best(attempts)
    assert attempts.index(kept) == logprobs.index(max(logprobs))


def test_rungs_have_names_of_their_own_and_the_first_is_plain() -> None:
    names = [rung.name for rung in LADDER]
    assert len(set(names)) == len(names)
    assert LADDER[0].with_prompt
    assert LADDER[0].no_repeat_ngram == 0


@given(st.text())
def test_compression_ratio_is_finite_and_zero_only_for_nothing(text: str) -> None:
    assert (compression_ratio(text) == 0) == (text == "")
