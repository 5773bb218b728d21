"""Terms in a glossary for the length of an audit."""

import json

import httpx
import pytest

from app.audit.placing import glossary_on_server
from app.audit.probe import Ask
from app.audit.recall import Placement
from app.errors import InvalidRequest


def test_spoken_terms_get_the_placement_and_the_order_of_the_prompt_is_kept() -> None:
    seen: list[httpx.Request] = []

    def answering(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"revision": 7})

    with (
        httpx.Client(base_url="http://server", transport=httpx.MockTransport(answering)) as client,
        glossary_on_server(client, "audit-1") as glossary,
    ):
        sent = glossary.placed(Ask(keywords=("a", "said", "b"), language="en"), frozenset({"said"}), Placement.PINNED)
    assert sent == Ask(glossary="audit-1", revision=7, language="en")
    assert json.loads(seen[0].read()) == [
        {"text": "a", "placement": "ranked", "priority": 1},
        {"text": "said", "placement": "pinned", "priority": 2},
        {"text": "b", "placement": "ranked", "priority": 3},
    ]
    assert [(request.method, request.url.path) for request in seen] == [
        ("POST", "/glossaries/audit-1/terms:import"),
        ("DELETE", "/glossaries/audit-1"),
    ]


def test_a_key_that_may_not_edit_is_told_so() -> None:
    refusing = httpx.MockTransport(lambda _: httpx.Response(403, json={"error": {"message": "ops key needed"}}))
    with (
        httpx.Client(base_url="http://server", transport=refusing) as client,
        glossary_on_server(client, "audit-1") as glossary,
        pytest.raises(InvalidRequest, match="403: ops key needed"),
    ):
        glossary.placed(Ask(keywords=("a",)), frozenset(), Placement.SEED)


def test_a_server_that_went_away_does_not_hide_the_reason() -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with (
        pytest.raises(KeyError, match="the reason"),
        httpx.Client(base_url="http://server", transport=httpx.MockTransport(away)) as client,
        glossary_on_server(client, "audit-1"),
    ):
        raise KeyError("the reason")


def test_a_glossary_is_filled_once_for_all_files_that_share_it() -> None:
    seen: list[httpx.Request] = []

    def answering(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"revision": len(seen)})

    with (
        httpx.Client(base_url="http://server", transport=httpx.MockTransport(answering)) as client,
        glossary_on_server(client, "audit-1") as glossary,
    ):
        asked = [
            glossary.filled(Ask(selection=way), terms) for terms in ("ab", "abc") for way in ("static", "relevant")
        ]
    assert [(ask.revision, ask.selection, ask.keywords) for ask in asked] == [
        (1, "static", ()), (1, "relevant", ()), (2, "static", ()), (2, "relevant", ())
    ]  # fmt: skip
    assert json.loads(seen[0].read()) == [
        {"text": "b", "placement": "ranked", "priority": 1},
        {"text": "a", "placement": "ranked", "priority": 2},
    ]
