"""Selection: what is kept, what gives way to what, and that the costs are those of the finished text."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from token_strings import ANY_TEXT

from app.prompt.budget import PRECEDENCE, Group, Limits, Selection, select
from app.prompt.costs import CostTable
from app.prompt.joiner import COMMA, IDEOGRAPHIC, Gap
from app.prompt.plan import Block, DropReason
from app.prompt.tokens import WhisperTokens

WORDS = st.one_of(
    st.sampled_from(["Grafana", "Sonalift", "A/B", "3D", "X-123/4", "Acme Inc.", "a", "(beta)", "Øl", "™x", "é", "🚀"]),
    st.sampled_from(["ソナリフト", "クバネティス", "和", "云原生", "、x", "和、", "โซนาลิฟต์", "เสียง", "쿠버네티스"]),
    st.sampled_from(["그라파나 클라우드", "Кубернетес", "نقاء", "שלום"]),
)
TEXTS = st.lists(st.one_of(WORDS, ANY_TEXT.map(str.strip)), max_size=30, unique=True)
GAPS = st.sampled_from([COMMA, IDEOGRAPHIC])


@st.composite
def group_lists(draw: st.DrawFn) -> list[Group]:
    texts = draw(TEXTS)
    blocks = [draw(st.sampled_from(PRECEDENCE)) for _ in texts]
    groups = [
        Group(block, [text for text, own in zip(texts, blocks, strict=True) if own is block]) for block in PRECEDENCE
    ]
    prose = draw(st.sampled_from(["", "A meeting about clusters.", "今日の会議です。", "and so on"]))
    return [*groups[:3], Group(Block.REQUEST, [prose] if prose else [], prose=True), groups[3]]


def chosen(groups: Sequence[Group], counter: WhisperTokens, gap: Gap, **limits: int) -> Selection:
    return select(groups, limits=Limits(**limits), gap=gap, costs=CostTable(counter))


@settings(max_examples=40)
@given(groups=group_lists(), gap=GAPS, budget=st.integers(0, 223))
def test_costs_add_up_to_the_count_of_the_text_and_never_exceed_the_budget(
    groups: list[Group], gap: Gap, budget: int, counters: tuple[WhisperTokens, WhisperTokens]
) -> None:
    for counter in counters:
        selection = chosen(groups, counter, gap, tokens=budget)
        real = len(counter.encode(f" {selection.text}")) if selection.text else 0
        assert sum(term.tokens for term in selection.kept) == selection.tokens == real <= budget


@settings(max_examples=25)
@given(
    groups=group_lists(), gap=GAPS, budget=st.integers(0, 223), most=st.integers(0, 10), characters=st.integers(0, 300)
)
def test_every_term_is_kept_or_dropped_once_and_every_limit_holds(
    groups: list[Group], gap: Gap, budget: int, most: int, characters: int, multilingual: WhisperTokens
) -> None:
    selection = chosen(groups, multilingual, gap, tokens=budget, terms=most, characters=characters)
    outcome = sorted(term.text for term in (*selection.kept, *selection.dropped))
    assert outcome == sorted(text for group in groups for text in group.texts)
    assert len(selection.text) <= characters
    kept = Counter(term.block for term in selection.kept)
    tail = kept[Block.PINNED] + kept[Block.SEED]
    assert kept[Block.RANKED] <= max(0, most - tail)  # pins and seeds count, and never give way to the number
    assert [term.position for term in selection.kept] == list(range(len(selection.kept)))


@settings(max_examples=25)
@given(groups=group_lists(), gap=GAPS, budget=st.integers(0, 223))
def test_a_dropped_term_would_not_fit_even_if_everything_below_it_left(
    groups: list[Group], gap: Gap, budget: int, multilingual: WhisperTokens
) -> None:
    order = [text for group in groups for text in group.texts]
    selection = chosen(groups, multilingual, gap, tokens=budget)
    kept = {term.text for term in selection.kept}
    for dropped in selection.dropped:
        if dropped.reason is DropReason.INVALID_TEXT:
            continue
        above = set(order[: order.index(dropped.text)]) & kept | {dropped.text}
        wanted = [Group(each.block, [t for t in each.texts if t in above], each.prose) for each in groups]
        assert chosen(wanted, multilingual, gap, tokens=1 << 30).tokens > budget


@settings(max_examples=25)
@given(groups=group_lists(), gap=GAPS, less=st.integers(0, 223), more=st.integers(0, 223))
def test_with_more_budget_a_term_gives_way_only_to_one_of_higher_rank(
    groups: list[Group], gap: Gap, less: int, more: int, multilingual: WhisperTokens
) -> None:
    less, more = sorted((less, more))
    order = [text for group in groups for text in group.texts]
    small, large = (
        {term.text for term in chosen(groups, multilingual, gap, tokens=budget).kept} for budget in (less, more)
    )
    for lost in small - large:
        assert any(order.index(gained) < order.index(lost) for gained in large - small)


@settings(max_examples=25)
@given(groups=group_lists(), gap=GAPS)
def test_the_most_important_stands_last(groups: list[Group], gap: Gap, multilingual: WhisperTokens) -> None:
    order = [text for group in groups for text in group.texts]
    ranks = [order.index(term.text) for term in chosen(groups, multilingual, gap, tokens=223).kept]
    assert ranks == sorted(ranks, reverse=True)


def test_a_term_that_does_not_fit_is_skipped_for_the_next(multilingual: WhisperTokens) -> None:
    groups = [Group(Block.RANKED, ["Grafana", "rhinoseptal spreader graft", "Nguyen"])]
    selection = chosen(groups, multilingual, COMMA, tokens=8)
    assert selection.text == "Nguyen, Grafana"
    assert [(term.text, term.tokens, term.reason) for term in selection.dropped] == [
        ("rhinoseptal spreader graft", 8, DropReason.OVER_BUDGET)
    ]


def test_a_pin_takes_the_place_of_everything_else(multilingual: WhisperTokens) -> None:
    groups = [Group(Block.PINNED, ["Sonalift"]), Group(Block.SEED, ["Grafana"]), Group(Block.RANKED, ["a"])]
    selection = chosen(groups, multilingual, COMMA, tokens=3)
    assert selection.text == "Sonalift"
    assert [term.reason for term in selection.dropped] == [DropReason.TAIL_OVER_BUDGET, DropReason.OVER_BUDGET]


def test_a_word_that_stands_twice_is_sent_once(multilingual: WhisperTokens) -> None:
    groups = [Group(Block.REQUEST, ["Grafana"]), Group(Block.RANKED, ["Grafana", "Nguyen"])]
    selection = chosen(groups, multilingual, COMMA, tokens=223)
    assert selection.text == "Nguyen, Grafana"
    assert [(term.block, term.reason) for term in selection.dropped] == [(Block.RANKED, DropReason.DUPLICATE)]


def test_characters_are_counted_not_bytes(multilingual: WhisperTokens) -> None:
    groups = [Group(Block.RANKED, ["쿠버네티스", "그라파나"])]
    assert chosen(groups, multilingual, COMMA, tokens=223, characters=11).text == "그라파나, 쿠버네티스"
    fewer = chosen(groups, multilingual, COMMA, tokens=223, characters=10)
    assert (fewer.text, fewer.dropped[0].reason) == ("쿠버네티스", DropReason.OVER_CHARACTERS)


def test_prose_that_ends_in_a_full_stop_needs_no_comma(multilingual: WhisperTokens) -> None:
    def sent(prose: str, term: str, gap: Gap) -> str:
        groups = [Group(Block.PINNED, [term]), Group(Block.REQUEST, [prose], prose=True)]
        return chosen(groups, multilingual, gap, tokens=223).text

    assert sent("We met.", "Grafana", COMMA) == "We met. Grafana"
    assert sent("We met", "Grafana", COMMA) == "We met, Grafana"
    assert sent("会議です。", "ソナ", IDEOGRAPHIC) == "会議です。ソナ"
    assert sent("We met.", "ソナ", IDEOGRAPHIC) == "We met.、ソナ"
