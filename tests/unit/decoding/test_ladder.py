"""When a window goes down the ladder, and which attempt is kept."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.decoding.ladder import LADDER, Attempt, Climb, Reason, best, climb, compression_ratio, is_echo, judge, leads_to


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


def path(*reasons: Reason, beam_size: int = 1, has_prompt: bool = True) -> list[str]:
    """Rungs that a window is decoded by when its attempts fail for `reasons`, one after another."""
    names: list[str] = []
    reason: Reason | None = None
    for rung in LADDER:
        if len(names) <= len(reasons) and leads_to(rung, reason, beam_size=beam_size, has_prompt=has_prompt):
            names.append(rung.name)
            reason = reasons[len(names) - 1] if len(names) <= len(reasons) else reason
    return names


def test_a_window_that_fails_loses_its_prompt_first() -> None:
    assert path() == ["first"]
    for reason in Reason:
        assert path(reason) == ["first", "no_prompt"]


def test_a_doubtful_text_is_searched_more_widely_and_a_loop_is_kept_from_repeating() -> None:
    assert path(Reason.UNSURE, Reason.UNSURE) == ["first", "no_prompt", "no_prompt_beam"]
    assert path(Reason.UNSURE, Reason.REPETITIVE) == ["first", "no_prompt", "no_prompt_penalty"]
    assert path(Reason.REPETITIVE, Reason.UNSURE, Reason.REPETITIVE)[2:] == ["no_prompt_beam", "no_prompt_penalty"]


def test_nothing_is_decoded_twice_the_same_way() -> None:
    assert path(Reason.UNSURE, has_prompt=False) == ["first", "no_prompt_beam"]
    assert path(Reason.UNSURE, has_prompt=False, beam_size=5) == ["first"]
    assert path(Reason.REPETITIVE, Reason.REPETITIVE, has_prompt=False) == ["first", "no_prompt_penalty"]


@given(st.text())
def test_compression_ratio_is_finite_and_zero_only_for_nothing(text: str) -> None:
    assert (compression_ratio(text) == 0) == (text == "")


ECHOED = attempt("Kubernetes, Grafana", logprob=-0.05, no_speech=0.91)


def climbed(*attempts: Attempt, prompt_text: str = " Kubernetes, Grafana") -> Climb:
    """The way down when the rungs that are tried give `attempts`, one after another."""
    given = iter(attempts)
    return climb(lambda rung: replace(next(given), rung=rung.name), prompt_text=prompt_text, beam_size=1)


def test_an_echo_is_not_kept_when_every_rung_fails_however_sure_it_was() -> None:
    """With the echo among the candidates, its high log-probability made the glossary the transcript of noise."""
    way = climbed(ECHOED, attempt("hiss", logprob=-1.4, no_speech=0.5), attempt("wind", logprob=-1.2, no_speech=0.5))
    assert (way.kept.text, way.accepted) == ("wind", False)
    assert [(rung.name, reason) for rung, reason in way.left] == [
        ("first", Reason.ECHO),
        ("no_prompt", Reason.UNSURE),
        ("no_prompt_beam", Reason.UNSURE),
    ]


def test_the_words_of_the_prompt_heard_without_it_are_no_echo() -> None:
    way = climbed(ECHOED, attempt("Kubernetes, Grafana.", logprob=-0.4, no_speech=0.7))
    assert (way.kept.rung, way.accepted) == ("no_prompt", True)


@given(st.lists(st.tuples(st.floats(-3, 0), st.floats(0, 1), st.booleans()), min_size=4, max_size=4), st.booleans())
def test_whatever_the_figures_something_is_kept_and_what_was_left_is_named(
    figures: list[tuple[float, float, bool]], prompted: bool
) -> None:
    texts = {True: "Grafana", False: "She compared it."}
    attempts = [attempt(texts[echoes], logprob=logprob, no_speech=unheard) for logprob, unheard, echoes in figures]
    way = climbed(*attempts, prompt_text=" Kubernetes, Grafana" if prompted else "")
    names = [rung.name for rung, _ in way.left]
    assert way.accepted == (way.kept.rung not in names)
    assert not (Reason.ECHO in dict(way.left).values() and way.kept.rung == "first")
