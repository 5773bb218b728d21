"""The editors' HTTP face against a real database."""

import json
from collections.abc import AsyncIterator

import httpx
import pytest
from glossary_app import build_app

from app.db import Database


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(build_app(database), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as connected:
        yield connected


@pytest.fixture
async def clinic(client: httpx.AsyncClient) -> httpx.AsyncClient:
    created = await client.post("/glossaries", json={"slug": "clinic", "language": "Korean"})
    assert created.status_code == 201
    assert (created.headers["ETag"], created.headers["Location"]) == ('"1"', "/glossaries/clinic")
    assert created.json()["language"] == "ko"
    return client


def error(response: httpx.Response) -> tuple[int, str, str | None]:
    body = response.json()["error"]
    return response.status_code, body["code"], body["param"]


async def add(client: httpx.AsyncClient, **term: object) -> httpx.Response:
    return await client.post("/glossaries/clinic/terms", json=term)


async def import_file(client: httpx.AsyncClient, data: str | bytes, **params: str) -> httpx.Response:
    headers = {"Content-Type": "text/csv"}
    return await client.post("/glossaries/clinic/terms:import", content=data, params=params, headers=headers)


async def test_a_glossary_lives_and_ends(clinic: httpx.AsyncClient) -> None:
    changed = await clinic.patch("/glossaries/clinic", json={"token_budget": 30})
    assert changed.json() == {
        "slug": "clinic", "revision": 2, "language": "ko", "token_budget": 30, "max_terms": None, "selection": "static",
        "terms": 0,
    }  # fmt: skip
    assert (await clinic.get("/glossaries/clinic")).headers["ETag"] == '"2"'
    assert error(await clinic.post("/glossaries", json={"slug": "clinic"})) == (409, "slug_taken", "slug")
    assert error(await clinic.post("/glossaries", json={"slug": "Not A Slug"})) == (400, "invalid_slug", "slug")
    assert (await clinic.post("/glossaries", json={"slug": "x", "budget": 5})).status_code == 422
    assert (await clinic.delete("/glossaries/clinic")).status_code == 204
    assert error(await clinic.get("/glossaries/clinic")) == (404, "glossary_not_found", "slug")
    assert (await clinic.get("/glossaries")).json() == {"glossaries": [], "next": None}


async def test_a_term_lives_and_ends(clinic: httpx.AsyncClient) -> None:
    added = await add(clinic, text=" Velnora ", placement="pinned", sounds_like=["vel nora"], language="en-US")
    assert (added.status_code, added.headers["ETag"]) == (201, '"2"')
    address = added.headers["Location"]
    assert (await clinic.get(address)).json() == {
        "id": added.json()["id"], "text": "Velnora", "placement": "pinned", "priority": 0, "language": "en",
        "sounds_like": ["vel nora"], "note": "", "active": True,
    }  # fmt: skip
    changed = await clinic.patch(address, json={"priority": 7, "language": None})
    assert (changed.json()["priority"], changed.json()["language"], changed.json()["placement"]) == (7, None, "pinned")
    assert (await clinic.delete(address)).status_code == 204
    assert error(await clinic.get(address)) == (404, "term_not_found", "id")


async def test_of_two_editors_the_second_gets_412(clinic: httpx.AsyncClient) -> None:
    address = (await add(clinic, text="Velnora")).headers["Location"]
    seen = {"If-Match": (await clinic.get(address)).headers["ETag"]}
    assert (await clinic.patch(address, json={"note": "mine"}, headers=seen)).status_code == 200
    lost = await clinic.patch(address, json={"note": "yours"}, headers=seen)
    assert error(lost) == (412, "precondition_failed", "If-Match")
    assert lost.json()["error"]["details"] == {"revision": 3}
    assert (await clinic.get(address)).json()["note"] == "mine"
    assert error(await clinic.delete(address, headers={"If-Match": "3"})) == (400, "invalid_etag", "If-Match")
    assert (await clinic.delete(address, headers={"If-Match": '"1", "3"'})).status_code == 204


async def test_twins_and_overfull_tails_are_conflicts_with_the_facts(clinic: httpx.AsyncClient) -> None:
    first = (await add(clinic, term="Nguyễn")).json()
    twin = await add(clinic, term="Nguye\u0302\u0303n ")
    assert error(twin) == (409, "twin_term", "text")
    assert twin.json()["error"]["details"] == {"id": first["id"], "text": "Nguyễn", "language": None}
    over = await add(clinic, text="x" * 50, placement="pinned")
    assert error(over) == (409, "tail_over_budget", None)
    assert over.json()["error"]["details"]["budget"] == 40
    assert over.json()["error"]["details"]["tokens"] > 50
    assert (await clinic.get("/glossaries/clinic/terms")).json()["revision"] == 2


@pytest.mark.parametrize(
    ("term", "status"),
    [
        ({"term": "a\0b"}, 400),
        ({"term": ""}, 400),
        ({"term": "x" * 201}, 400),
        ({"term": "x" * 1_000_000}, 400),
        ({"term": "<|endoftext|>"}, 400),
        ({"term": "x", "language": "klingon"}, 400),
        ({"term": "x", "priority": 2**40}, 400),
        ({"term": "x", "priority": "high"}, 422),
        ({"term": "x", "placement": "top"}, 422),
        ({"term": "x", "weight": 1}, 422),
        ({"term": 5}, 422),
        ([], 422),
    ],
)
async def test_bad_terms_are_the_clients_fault(clinic: httpx.AsyncClient, term: object, status: int) -> None:
    answer = await clinic.post("/glossaries/clinic/terms", json=term)
    assert answer.status_code == status
    assert set(answer.json()["error"]) >= {"message", "type", "param", "code"}


async def test_half_a_surrogate_pair_is_refused(clinic: httpx.AsyncClient) -> None:
    body = b'{"term": "a\\ud800b"}'
    answer = await clinic.post("/glossaries/clinic/terms", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}


@pytest.mark.parametrize(
    "query", ["q=%00", "q=%1b", "after=zzz", "after=W10", "limit=0", "limit=5000", "placement=top"]
)
async def test_bad_questions_are_the_clients_fault(clinic: httpx.AsyncClient, query: str) -> None:
    assert (await clinic.get(f"/glossaries/clinic/terms?{query}")).status_code in {400, 422}


@pytest.mark.parametrize("path", ["/terms/0", f"/terms/{2**70}", f"/revisions/{2**70}", "/terms/x", "/diff?from=99"])
async def test_numbers_out_of_range_are_not_found_or_refused(clinic: httpx.AsyncClient, path: str) -> None:
    assert (await clinic.get(f"/glossaries/clinic{path}")).status_code in {400, 404, 422}


async def test_pages_hold_still_while_others_edit(clinic: httpx.AsyncClient) -> None:
    texts = [f"term {number:02}" for number in range(25)]
    await import_file(clinic, "text,priority\n" + "".join(f"{text},{25 - n // 2}\n" for n, text in enumerate(texts)))
    seen: list[str] = []
    after: str | None = None
    while True:
        page = (
            await clinic.get("/glossaries/clinic/terms", params={"limit": 4} | ({"after": after} if after else {}))
        ).json()
        seen += [term["text"] for term in page["terms"]]
        if (after := page["next"]) is None:
            break
        await add(clinic, text=f"new {len(seen)}", priority=999)
        await clinic.delete(f"/glossaries/clinic/terms/{page['terms'][0]['id']}")
    assert seen == texts
    slugs = [f"g{number}" for number in range(5)]
    for slug in slugs:
        await clinic.post("/glossaries", json={"slug": slug})
    first = (await clinic.get("/glossaries?limit=4")).json()
    rest = (await clinic.get(f"/glossaries?limit=4&after={first['next']}")).json()
    assert [glossary["slug"] for glossary in first["glossaries"] + rest["glossaries"]] == ["clinic", *slugs]
    assert first["glossaries"][0]["terms"] > 0


async def test_search_finds_either_spelling(clinic: httpx.AsyncClient) -> None:
    for text in ("Nguyễn Văn", "100% sicher", "1000 mal"):
        await add(clinic, text=text)

    async def found(q: str) -> list[str]:
        return [
            term["text"] for term in (await clinic.get("/glossaries/clinic/terms", params={"q": q})).json()["terms"]
        ]

    assert await found("nguye\u0302\u0303n") == ["Nguyễn Văn"]
    assert await found("ＶĂＮ") == ["Nguyễn Văn"]
    assert await found("100%") == ["100% sicher"]
    assert (await clinic.get("/glossaries/clinic/terms?placement=pinned")).json()["terms"] == []


async def test_a_file_goes_in_and_comes_out_the_same(clinic: httpx.AsyncClient) -> None:
    sent = '\ufeffterm;priority;sounds_like\r\n"Smith; Jones\r\n& Co";10;\r\nÖl;5;oil|oel\r\n=1+1;1;\r\n'
    result = (await import_file(clinic, sent)).json()
    assert (result["rows"], result["added"], result["revision"]) == (3, 3, 2)
    exported = await clinic.get("/glossaries/clinic/terms:export")
    assert exported.headers["Content-Disposition"] == 'attachment; filename="clinic.csv"'
    again = (await import_file(clinic, exported.content, mode="replace")).json()
    assert (again["unchanged"], again["revision"]) == (3, 2)
    file = await clinic.get("/glossaries/clinic/terms:export?format=json")
    assert file.text.endswith("\n")
    as_json = file.json()
    assert [term["text"] for term in as_json["terms"]] == ["Smith; Jones & Co", "Öl", "=1+1"]
    await import_file(clinic, "text\nonly\n", mode="replace")
    old = await clinic.get("/glossaries/clinic/terms:export?revision=2")
    assert old.content == exported.content


async def test_a_bad_file_changes_nothing_and_names_the_rows(clinic: httpx.AsyncClient) -> None:
    refused = await import_file(clinic, "text,priority\nfine,1\nbad\0,2\nfine,x\nFINE,3\n")
    assert error(refused) == (400, "import_rejected", None)
    rows = refused.json()["error"]["details"]["errors"]
    assert [(row["line"], row["code"]) for row in rows] == [
        (3, "control_character"), (4, "bad_value"), (5, "twin_term"),
    ]  # fmt: skip
    assert (await clinic.get("/glossaries/clinic")).json()["revision"] == 1
    latin = await import_file(clinic, "text\nÖl\n".encode("latin-1"))
    assert error(latin) == (400, "bad_encoding", None)
    unknown = await clinic.post("/glossaries/clinic/terms:import", content=b"x", headers={"Content-Type": "image/png"})
    assert error(unknown) == (400, "unknown_format", "format")
    assert error(await clinic.post("/glossaries/new/terms:import?format=txt", content=b"x"))[:2] == (
        404,
        "glossary_not_found",
    )
    rehearsed = (await import_file(clinic, "text\nA\n", dry_run="true")).json()
    assert (rehearsed["added"], rehearsed["dry_run"]) == (1, True)
    assert (await clinic.get("/glossaries/clinic")).json()["terms"] == 0


async def test_progress_is_told_line_by_line(clinic: httpx.AsyncClient) -> None:
    rows = "text\n" + "".join(f"term {number}\n" for number in range(6000))
    headers = {"Content-Type": "text/csv", "Accept": "application/x-ndjson"}
    address = "/glossaries/clinic/terms:import"
    lines = (await clinic.post(address, content=rows, headers=headers)).text.splitlines()
    assert [json.loads(line) for line in lines[:-1]] == [{"rows_written": 5000}, {"rows_written": 6000}]
    assert json.loads(lines[-1])["added"] == 6000
    refused = (await clinic.post(address, content="text\na\nA\n", headers=headers)).text.splitlines()
    assert json.loads(refused[-1])["error"]["code"] == "import_rejected"


async def test_history_says_what_was_and_what_the_model_was_told(clinic: httpx.AsyncClient) -> None:
    await import_file(clinic, "text,priority\nAlpha,3\nBeta,2\n")
    await import_file(clinic, "text,priority\nBeta,2\nGamma,1\n", mode="replace")
    log = (await clinic.get("/glossaries/clinic/revisions")).json()["revisions"]
    assert [(entry["revision"], entry["action"], entry["added"], entry["removed"]) for entry in log] == [
        (3, "import_replace", 1, 1), (2, "import_merge", 2, 0), (1, "create", 0, 0),
    ]  # fmt: skip
    assert all(entry["actor"] == "anonymous" for entry in log)
    older = (await clinic.get("/glossaries/clinic/revisions?limit=1&before=3")).json()
    assert ([entry["revision"] for entry in older["revisions"]], older["next"]) == ([2], 2)
    changes = (await clinic.get("/glossaries/clinic/revisions/3")).json()["changes"]
    assert [(c["before"] and c["before"]["text"], c["after"] and c["after"]["text"]) for c in changes] == [
        ("Alpha", None), (None, "Gamma"),
    ]  # fmt: skip
    diff = (await clinic.get("/glossaries/clinic/diff?from=2&to=3")).json()
    assert (diff["terms_in"], diff["terms_out"], diff["reordered"]) == (["Gamma"], ["Alpha"], False)
    assert diff["from_sha256"] != diff["to_sha256"]
    same = (await clinic.get("/glossaries/clinic/diff?from=3")).json()
    assert (same["terms_in"], same["terms_out"], same["to_revision"]) == ([], [], 3)
