"""The page of text: every figure of the plan, a ruler that is true to scale."""

from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.plan import Block
from app.prompt.planner import PromptPlanner, RequestWords
from app.prompt.preview import BlockTotal, as_text, preview_of

SNAPSHOT = GlossarySnapshot(
    "clinic",
    7,
    token_budget=20,
    terms=(
        Term("Sonalift", Placement.PINNED),
        Term("Sonaline", Placement.SEED),
        Term("Grafana"),
        Term("rhinoseptal spreader graft"),
    ),
)
PAGE = """\
clinic, revision 7, language en
15 of 20 tokens, headroom 5; estimated without a tokenizer: at most 15
36 characters, 4 terms, 1 left out
profile whisper: more than 223 tokens would be cut in silence, from one end or the other
sha256 {sha256}

0                   20
|-------------------|
rrrrQQQQSSSSPPP.....|
P pinned 3  S seed 4  Q request 4  r ranked 4  . free 5
precedence: pinned > seed > request > ranked; sent in reverse, the most important last

   0   +4  ranked   Grafana
   4   +4  request  Vexarin
   8   +4  seed     Sonaline
  12   +3  pinned   Sonalift

left out: 1 over_budget
       +8  ranked   rhinoseptal spreader graft  (over_budget)

easily taken for one another:
           Sonaline / Sonalift  (looks_alike, 0.75)
"""


def test_the_page_shows_everything(planner: PromptPlanner) -> None:
    plan = planner.plan(SNAPSHOT, language="en", words=RequestWords(keywords=("Vexarin",)))
    assert as_text(preview_of(plan, SNAPSHOT, "en")) == PAGE.format(sha256=plan.sha256)


def test_blocks_add_up_to_the_prompt(planner: PromptPlanner) -> None:
    plan = planner.plan(SNAPSHOT)
    blocks = preview_of(plan, SNAPSHOT, None).blocks
    assert blocks == (
        BlockTotal(Block.PINNED, 1, 3),
        BlockTotal(Block.SEED, 1, 4),
        BlockTotal(Block.REQUEST, 0, 0),
        BlockTotal(Block.RANKED, 2, 12),
    )
    assert sum(block.tokens for block in blocks) == plan.tokens == 19


def test_a_stale_glossary_and_an_empty_prompt_are_said(planner: PromptPlanner) -> None:
    snapshot = GlossarySnapshot("empty", 1, stale=True)
    page = as_text(preview_of(planner.plan(snapshot), snapshot, None))
    assert "empty, revision 1, language not known, STALE: the database is away\n0 of 223 tokens" in page


def test_a_long_list_of_what_is_left_out_is_cut_and_counted(planner: PromptPlanner) -> None:
    snapshot = GlossarySnapshot("long", 1, max_terms=1, terms=tuple(Term(f"term {number}") for number in range(40)))
    page = as_text(preview_of(planner.plan(snapshot), snapshot, None))
    assert "of 1 terms, 39 left out" in page
    assert "left out: 39 max_terms" in page
    assert "... and 19 more; the JSON form lists them all" in page


def test_the_ruler_of_a_full_budget_is_to_scale(planner: PromptPlanner) -> None:
    snapshot = GlossarySnapshot("ranked", 1, terms=tuple(Term(f"Grafana {number}") for number in range(100)))
    plan = planner.plan(snapshot)
    scale, ticks, ruler = as_text(preview_of(plan, snapshot, None)).split("\n\n")[1].split("\n")[:3]
    assert scale.split() == ["0", "50", "100", "150", "200", "223"]
    assert [column for column, mark in enumerate(ticks) if mark == "|"] == [
        scale.index(number) for number in scale.split()
    ]
    assert ruler.count("r") == -(-plan.tokens * 76 // 223)
