"""What is asked of a server and how its answers are read, without a socket."""

from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path

import httpx
import pytest

from app.audit.probe import Answer, Ask, Piece
from app.audit.server import LexicueServer, OpenAIServer, lexicue_answer, server_at
from app.errors import InvalidRequest, NotFound, NotReady

SEGMENT = {"avg_logprob": -0.2, "no_speech_prob": 0.1, "compression_ratio": 1.2, "rung": "first"}
LEXICUE = {
    "text": "One. Two. Three.",
    "language": "en",
    "duration": 61.0,
    "segments": [
        {"start": 0, "end": 2, "text": "One.", **SEGMENT},
        {"start": 2, "end": 4, "text": " Two.", **SEGMENT},
        {"start": 30, "end": 33, "text": " Three.", **SEGMENT, "avg_logprob": -0.4, "rung": "no_prompt"},
    ],
    "receipt": {"prompt": {"sha256": "ab"}, "decoding": {"fingerprint": "f"}},
}


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    path = tmp_path / "clip.wav"
    path.write_bytes(b"sound")
    return path


def client(answering: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    return httpx.Client(base_url="http://server", transport=httpx.MockTransport(answering))


def fields(request: httpx.Request) -> list[tuple[str, str]]:
    head = b"Content-Type: " + request.headers["Content-Type"].encode() + b"\r\n\r\n"
    form = BytesParser(policy=HTTP).parsebytes(head + request.read())
    named = [(str(p.get_param("name", header="content-disposition")), p) for p in form.iter_parts()]
    return [(name, part.get_content()) for name, part in named if name != "file"]


@pytest.mark.parametrize(("owner", "kind"), [("lexicue", LexicueServer), ("openai", OpenAIServer)])
def test_lexicue_is_told_by_its_models(owner: str, kind: type) -> None:
    listed = httpx.Response(200, json={"data": [{"id": "base", "owned_by": owner}]})
    assert isinstance(server_at(client(lambda _: listed), model="m"), kind)


def test_a_server_without_a_list_of_models_is_asked_by_the_usual_route() -> None:
    assert isinstance(server_at(client(lambda _: httpx.Response(404, text="no")), model="m"), OpenAIServer)


def test_segments_of_one_window_share_its_figures() -> None:
    answer = lexicue_answer(LEXICUE)
    assert [(piece.window, piece.fallback) for piece in answer.pieces] == [(0, False), (0, False), (1, True)]
    assert (answer.fingerprint, answer.prompt, answer.seconds) == ("f", "ab", 61.0)
    assert Answer.from_json(answer.as_json()) == answer


def test_no_segments_are_no_pieces() -> None:
    assert lexicue_answer({**LEXICUE, "segments": []}).pieces == ()


def test_an_answer_without_receipt_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="receipt"):
        lexicue_answer({"text": "One.", "segments": []})


def test_lexicue_gets_every_word_of_a_question(audio: Path) -> None:
    seen: list[httpx.Request] = []

    def answering(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=LEXICUE)

    ask = Ask(keywords=("a", "b"), glossary="brands", revision=3, selection="relevant", language="en")
    LexicueServer(client(answering)).transcribe(audio, ask)
    assert seen[0].url.path == "/transcribe"
    assert sorted(fields(seen[0])) == [
        ("glossary", "brands"),
        ("keywords[]", "a"),
        ("keywords[]", "b"),
        ("language", "en"),
        ("revision", "3"),
        ("selection", "relevant"),
    ]


def test_windows_of_another_server_share_a_seek(audio: Path) -> None:
    segments = [
        {"start": 0, "end": 2, "text": "a", "seek": 0, "temperature": 0},
        {"start": 2, "end": 4, "text": "b", "seek": 0, "temperature": 0},
        {"start": 30, "end": 31, "text": "c", "seek": 3000, "temperature": 0.2},
    ]
    body = {"text": " a b c", "duration": 31, "language": "english", "segments": segments}
    answer = OpenAIServer(client(lambda _: httpx.Response(200, json=body)), "m").transcribe(audio, Ask())
    assert answer.text == "a b c"
    assert answer.pieces[2] == Piece(30.0, 31.0, "c", 1, True)


def test_a_busy_server_is_asked_again(audio: Path) -> None:
    answers = iter([429, 503, 200])

    def answering(_: httpx.Request) -> httpx.Response:
        return httpx.Response(next(answers), json={"text": "in the end"}, headers={"Retry-After": "0"})

    assert OpenAIServer(client(answering), "m").transcribe(audio, Ask()).text == "in the end"


def test_a_server_that_stays_busy_has_not_answered(audio: Path) -> None:
    """Else a journal would hold the refusal for good, and a prompt would count as one that is too long."""
    busy = httpx.Response(429, json={"error": {"message": "later"}}, headers={"Retry-After": "0"})
    with pytest.raises(NotReady, match=r"stays busy.* 429: later"):
        OpenAIServer(client(lambda _: busy), "m").transcribe(audio, Ask())


@pytest.mark.parametrize("body", ["<html>", "[]", "{}", "One. Two."])
def test_a_page_is_not_taken_for_silence(audio: Path, body: str) -> None:
    with pytest.raises(InvalidRequest, match="without a text"):
        OpenAIServer(client(lambda _: httpx.Response(200, text=body)), "m").transcribe(audio, Ask())


@pytest.mark.parametrize("segments", [["One."], [{"start": "soon"}], 3])
def test_segments_of_another_shape_are_named(audio: Path, segments: object) -> None:
    answering = client(lambda _: httpx.Response(200, json={"text": "One.", "segments": segments}))
    with pytest.raises(InvalidRequest, match="segments of another shape"):
        OpenAIServer(answering, "m").transcribe(audio, Ask())


@pytest.mark.parametrize(("status", "fault"), [(400, False), (413, False), (422, False), (500, True), (504, True)])
def test_a_refusal_is_told_from_a_fault(audio: Path, status: int, fault: bool) -> None:
    refusing = client(lambda _: httpx.Response(status, json={"error": {"message": "too long"}}))
    answer = OpenAIServer(refusing, "m").transcribe(audio, Ask(prompt="x"))
    assert (answer.refused, answer.is_fault) == (f"{status}: too long", fault)


def test_a_glossary_that_is_gone_is_told_apart(audio: Path) -> None:
    gone = httpx.Response(404, json={"error": {"message": "no such revision"}})
    with pytest.raises(NotFound, match="404: no such revision"):
        LexicueServer(client(lambda _: gone)).transcribe(audio, Ask(glossary="brands", revision=9))


@pytest.mark.parametrize("status", [401, 403, 405])
def test_a_wrong_key_or_address_ends_the_audit(audio: Path, status: int) -> None:
    with pytest.raises(InvalidRequest, match="cannot be audited like this"):
        OpenAIServer(client(lambda _: httpx.Response(status, text="<html>")), "m").transcribe(audio, Ask())


def test_nobody_there(audio: Path) -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(NotReady, match="No answer from http://server"):
        OpenAIServer(client(away), "m").transcribe(audio, Ask())


def test_another_server_takes_no_glossary(audio: Path) -> None:
    with pytest.raises(InvalidRequest, match="a prompt only"):
        OpenAIServer(client(lambda _: httpx.Response(200)), "m").transcribe(audio, Ask(glossary="brands"))
