import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from app.prompt.sound import sound_classes, sound_key, sounds_of, units


def alike(one: str, other: str) -> float:
    return Levenshtein.normalized_similarity(sound_key(sounds_of(one)), sound_key(sounds_of(other)))


@pytest.mark.parametrize(
    ("term", "heard"),
    [
        ("Kirmlift", "Kermlift"),
        ("Thiackix", "Thia kicks"),
        ("Jephflex", "Jeff Flex"),
        ("Calderix", "caulder X"),
        ("Zephyra", "Zefira"),
        ("브라이토모", "브라이터모"),
        ("ゼフィラ", "ぜひら"),
        ("泽菲拉", "则菲拉"),
        ("Größwerk", "Grosswerk"),
        ("Луминара", "Люминара"),
        ("Élégance", "Elegans"),
    ],
)
def test_what_is_heard_sounds_like_the_term(term: str, heard: str) -> None:
    assert alike(term, heard) >= 0.85


@pytest.mark.parametrize(
    "spellings",
    [
        ("Nubrisk", "ヌブリスク", "누브리스크"),
        ("Brightomo", "ブライトモ", "브라이토모", "布莱托莫"),
        ("Zephyra", "ゼフィラ", "제피라", "泽菲拉"),
        ("Luminara", "ルミナーラ", "루미나라", "Луминара"),
    ],
)
def test_one_brand_in_several_scripts_is_nearer_to_itself_than_to_another(spellings: tuple[str, ...]) -> None:
    for other in spellings[1:]:
        assert alike(spellings[0], other) >= 0.65
        assert alike(spellings[0], other) > alike("Kestrova", other)


def test_names_that_differ_do_not_sound_alike() -> None:
    assert alike("Sonalift", "Kubernetes") < 0.5
    assert alike("브라이토모", "타벨린") < 0.5


def test_a_single_letter_is_read_by_its_name() -> None:
    assert sounds_of("X") == "eks"
    assert sounds_of("F") == "ef"


def test_words_are_units_and_so_are_characters_of_scripts_that_join_them() -> None:
    text = "Thia kicks 클라비오 シャツ 泽"
    assert [text[unit.start : unit.end] for unit in units(text)] == ["Thia", "kicks", *"클라비오", "シャ", "ツ", "泽"]


@given(st.text(max_size=40))
def test_any_text_has_units_in_order_inside_it(text: str) -> None:
    at = 0
    for unit in units(text):
        assert at <= unit.start < unit.end <= len(text)
        assert unit.sounds
        at = unit.end
    assert set(sound_classes(sounds_of(text))) <= set("VPTSKRMN")
