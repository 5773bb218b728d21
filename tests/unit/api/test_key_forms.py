"""Keys out of settings: every documented form is read, a wrong one is named by place, and no secret shows anywhere."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.keys import KeyRing, Role, parse_keys
from app.errors import InvalidRequest

SECRETS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=","), min_size=1).filter(
    lambda secret: not secret.lower().startswith("sha256:")
)


@given(secret=SECRETS, hashed=st.booleans(), glossary=st.sampled_from(["", "clinic", "a-1_b"]))
def test_a_key_is_found_by_its_secret_alone(secret: str, hashed: bool, glossary: str) -> None:
    written = f"sha256:{hashlib.sha256(secret.encode()).hexdigest()}" if hashed else secret
    keys = parse_keys(f"other=x{secret},web{'@' + glossary if glossary else ''}={written}", "ops=" + secret + "y")
    found = keys.find(secret)
    assert found is not None
    assert (found.name, found.role, found.glossary) == ("web", Role.APP, glossary or None)
    assert keys.find(secret + "z") is None
    assert keys.find("") is None
    if hashed:
        assert keys.find(written) is None  # who reads the setting cannot call with it


def test_separators_and_rotation() -> None:
    keys = parse_keys(" web=old-one\n web=new-one,,  app2=s=e=c== ", "\tanna=ops-secret\n")
    assert [(key.name, key.role) for key in keys] == [
        ("web", Role.APP),
        ("web", Role.APP),
        ("app2", Role.APP),
        ("anna", Role.OPS),
    ]
    assert {key.name for secret in ("old-one", "new-one") if (key := keys.find(secret))} == {"web"}
    assert (found := keys.find("s=e=c==")) is not None
    assert found.name == "app2"


def test_nothing_set_is_no_keys() -> None:
    assert not parse_keys("", " , \n")
    assert not KeyRing()


@pytest.mark.parametrize(
    ("app_keys", "ops_keys", "named"),
    [
        ("hunter2", "", "LEXICUE_APP_KEYS: entry 1"),
        ("web=fine,=hunter2", "", "LEXICUE_APP_KEYS: entry 2"),
        ("web=", "", "LEXICUE_APP_KEYS: entry 1"),
        ("we b=hunter2", "", "LEXICUE_APP_KEYS: entry 1"),
        ("web@Clinic=hunter2", "", "LEXICUE_APP_KEYS: entry 1"),
        ("web=hunter2ü", "", "LEXICUE_APP_KEYS: entry 1"),
        ("", "anna=sha256:hunter2", "LEXICUE_OPS_KEYS: entry 1"),
        ("web=hunter2", "anna=hunter2", "LEXICUE_OPS_KEYS: entry 1"),
    ],
)
def test_wrong_syntax_is_named_by_its_place_and_shows_no_secret(app_keys: str, ops_keys: str, named: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_keys(app_keys, ops_keys)
    assert named in caught.value.message
    assert "hunter2" not in caught.value.message


def test_no_secret_and_no_digest_in_a_repr() -> None:
    (key,) = parse_keys("web=hunter2", "")
    assert "hunter2" not in repr(key)
    assert key.digest.hex() not in repr(key)
    assert repr(key.digest) not in repr(key)
