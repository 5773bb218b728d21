"""What goes to the model together: equal prompts only, nobody overtaken."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.decoding.batching import BatchPolicy, batch_key, next_batch
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, WindowRequest

SILENCE = np.zeros(16, dtype=np.float32)


def window(request: str, index: int, prompt_tokens: int, language: str | None = "en") -> WindowRequest:
    prompts = PromptSet({ANY_LANGUAGE: tuple(range(prompt_tokens))})
    return WindowRequest(request, index, SILENCE, prompts, DecodeOptions(language=language))


queues = st.lists(
    st.lists(st.integers(0, 2), max_size=5).map(
        lambda prompts: [window("r", index, tokens) for index, tokens in enumerate(prompts)]
    ),
    max_size=5,
)
policies = st.builds(BatchPolicy, max_windows=st.integers(1, 4), scope=st.sampled_from(["request", "shared"]))


@given(queues, policies)
def test_windows_of_a_batch_have_equal_prompt_lengths(pending: list[list[WindowRequest]], policy: BatchPolicy) -> None:
    batch = [pending[queue][position] for queue, position in next_batch(pending, policy)]
    assert len({batch_key(item) for item in batch}) <= 1
    assert len(batch) <= policy.max_windows


@given(queues, policies)
def test_the_first_in_turn_is_always_served_and_nobody_is_overtaken(
    pending: list[list[WindowRequest]], policy: BatchPolicy
) -> None:
    batch = next_batch(pending, policy)
    waiting = [index for index, queue in enumerate(pending) if queue]
    assert bool(batch) == bool(waiting)
    if batch:
        assert batch[0] == (waiting[0], 0)
    for queue in {queue for queue, _ in batch}:
        positions = [position for owner, position in batch if owner == queue]
        assert positions == list(range(len(positions)))


@given(queues, st.integers(1, 4))
def test_what_shares_a_batch_is_a_function_of_the_request_alone(pending: list[list[WindowRequest]], most: int) -> None:
    policy = BatchPolicy(max_windows=most, scope="request")
    batch = next_batch(pending, policy)
    if batch:
        alone = next_batch([pending[batch[0][0]]], policy)
        assert [position for _, position in batch] == [position for _, position in alone]


def test_a_window_on_which_the_language_is_detected_is_a_batch_of_its_own_kind() -> None:
    assert batch_key(window("a", 0, 3, None)) != batch_key(window("b", 0, 3, "en"))
