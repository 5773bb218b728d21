"""Work kept for unchanged glossaries: found for the same terms only, and bounded."""

from app.glossary.term import Term
from app.prompt.recent import RecentlyUsed

ONE, TWO, THREE = ((Term(str(number)),) for number in range(3))


def test_a_value_is_found_for_its_very_terms() -> None:
    recent: RecentlyUsed[str] = RecentlyUsed(most_terms=10)
    recent.put("key", ONE, "made of one")
    assert recent.get("key", ONE) == "made of one"
    assert recent.get("key", (Term("0"),)) == "made of one"
    assert recent.get("key", TWO) is None
    assert recent.get("other", ONE) is None


def test_the_least_recently_used_goes_first() -> None:
    recent: RecentlyUsed[str] = RecentlyUsed(most_terms=2)
    recent.put("a", ONE, "a")
    recent.put("b", TWO, "b")
    assert recent.get("a", ONE) == "a"
    recent.put("c", THREE, "c")
    assert (recent.get("a", ONE), recent.get("b", TWO), recent.get("c", THREE)) == ("a", None, "c")


def test_putting_anew_replaces_and_does_not_count_twice() -> None:
    recent: RecentlyUsed[str] = RecentlyUsed(most_terms=2)
    for value in ("old", "newer", "new"):
        recent.put("a", ONE, value)
    recent.put("b", TWO, "b")
    assert (recent.get("a", ONE), recent.get("b", TWO)) == ("new", "b")


def test_one_glossary_larger_than_the_bound_is_kept_alone() -> None:
    recent: RecentlyUsed[str] = RecentlyUsed(most_terms=1)
    recent.put("small", ONE, "small")
    recent.put("large", ONE + TWO + THREE, "large")
    assert (recent.get("small", ONE), recent.get("large", ONE + TWO + THREE)) == (None, "large")
