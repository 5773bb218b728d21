from hypothesis import given
from hypothesis import strategies as st

from app.glossary.term import GlossarySnapshot, Placement, Term
from app.prompt.sound import sound_classes, sounds_of
from app.prompt.sound_index import SoundIndex
from app.prompt.term_indexes import TermIndexes

NAMES = st.lists(st.text("abdeiklmnoprstuvz", min_size=3, max_size=10), max_size=30, unique=True)


def found(index: SoundIndex, heard: str) -> list[tuple[int, int, list[str]]]:
    classes = sound_classes(sounds_of(heard))
    return [(start, end, [spoken.term for spoken in forms]) for start, end, forms in index.frames(classes)]


def as_index(names: list[str]) -> SoundIndex:
    return SoundIndex({name: (name,) for name in names})


def test_a_term_is_found_where_most_of_its_sounds_are() -> None:
    index = as_index(["Sonalift", "Kubernetes", "Grafana"])
    frames = found(index, "please deploy the cubanites cluster")
    assert frames[0][2][0] == "Kubernetes"
    assert all("Sonalift" not in terms for *_, terms in frames)
    assert found(index, "nothing") == []
    assert found(as_index([]), "anything at all") == []


def test_a_term_is_found_by_how_it_is_said() -> None:
    index = SoundIndex({"Xyzzq": ("Xyzzq", "magic word")})
    assert [terms for *_, terms in found(index, "a magic word")] == [["Xyzzq"]]


@given(NAMES, NAMES, st.text("abdeiklmnoprstuvz ", max_size=60))
def test_what_is_found_does_not_depend_on_how_the_index_came_about(old: list[str], new: list[str], heard: str) -> None:
    assert found(as_index(old).updated({name: (name,) for name in new}), heard) == found(as_index(new), heard)


def test_an_index_is_made_once_a_revision_of_its_ranked_terms() -> None:
    terms = (Term("Sonalift"), Term("Velmaris", Placement.PINNED), Term("타벨린", language="ko"))
    indexes, snapshot = TermIndexes(), GlossarySnapshot("clinic", 1, terms=terms)
    index = indexes.of(snapshot, "en")
    assert set(index.terms) == {"Sonalift"}
    assert set(indexes.of(snapshot, "ko").terms) == {"Sonalift", "타벨린"}
    assert indexes.of(snapshot, "en") is index
    after = GlossarySnapshot("clinic", 2, terms=(*terms, Term("Nubrisk", sounds_like=("new brisk",))))
    assert indexes.of(after, "en").terms == {"Sonalift": ("Sonalift",), "Nubrisk": ("Nubrisk", "new brisk")}


def test_an_edit_costs_what_it_changes_and_many_edits_do_not_pile_up() -> None:
    names = [f"{first}{last}" for first in ("dar", "mun", "kesh", "pol") for last in ("tin", "gav", "lor", "bisk")]
    index = as_index(names)
    (whole,) = (part.segment for part in index._parts)
    index = index.updated({name: (name,) for name in [*names[1:], "velmaris"]})
    assert next(part.segment for part in index._parts) is whole
    assert names[0] not in str(found(index, f"we saw {names[0]} there"))
    for number in range(40):
        names[0] = f"vel{'abdegiklm'[number % 9]}{'oprst'[number % 5]}ax"
        index = index.updated({name: (name,) for name in names})
    assert len(index._parts) <= 8
    assert found(index, f"we saw {names[0]} there") == found(as_index(names), f"we saw {names[0]} there")


def test_sounds_that_are_taken_for_one_another_are_looked_up_as_one() -> None:
    index = as_index(["룬디코", "塔维林", "Kubernetes"])
    assert found(index, "룸디코")[0][2] == ["룬디코"]
    assert found(index, "塔維尼的")[0][2] == ["塔维林"]
