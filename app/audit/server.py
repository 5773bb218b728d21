"""Servers that are audited from outside: Lexicue by its own route, any other by OpenAI's. In: audio file, words. Out:
what they answer. Blocking; the client may be shared by threads."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from app.audit.probe import Answer, Ask, Piece
from app.audit.transcriber import Transcriber
from app.errors import InvalidRequest, NotFound, NotReady

_BUSY = frozenset({429, 503})
_TRIES = 10
_LONGEST_PAUSE_SECONDS = 30.0


def server_at(client: httpx.Client, *, model: str) -> Transcriber:
    """Lexicue is told by its list of models. `model`: the name to ask another server for."""
    try:
        listed = client.get("/v1/models")
    except httpx.TransportError as error:
        raise _nobody(client) from error
    entries = _json(listed).get("data") or []
    if any(isinstance(entry, dict) and entry.get("owned_by") == "lexicue" for entry in entries):
        return LexicueServer(client)
    return OpenAIServer(client, model)


class OpenAIServer:
    """Any server with `POST /v1/audio/transcriptions`."""

    def __init__(self, client: httpx.Client, model: str) -> None:
        self._client = client
        self._model = model
        self.name = f"{client.base_url} (model {model})"

    def transcribe(self, audio: Path, ask: Ask) -> Answer:
        if ask.glossary is not None or ask.keywords:
            raise InvalidRequest("That server takes a prompt only; glossaries and keywords are Lexicue's.")
        fields = {"model": self._model, "response_format": "verbose_json", "temperature": "0"}
        fields |= _given(prompt=ask.prompt, language=ask.language)
        response = _post(self._client, "/v1/audio/transcriptions", audio, fields)
        if response.is_error:
            return _refusal(response)
        body = _json(response)
        try:
            pieces = _openai_pieces(body.get("segments") or [])
        except (AttributeError, TypeError, ValueError):
            raise InvalidRequest(
                f"{self._client.base_url} answers with segments of another shape than OpenAI's."
            ) from None
        if "text" not in body:
            raise InvalidRequest(
                f"{self._client.base_url} answers without a text: it speaks another language than OpenAI's."
            )
        return Answer(
            text=str(body["text"]).strip(),
            pieces=pieces,
            seconds=float(body.get("duration") or 0),
            language=body.get("language"),
        )


class LexicueServer:
    """Lexicue's own route, whose receipt names the prompt and the fingerprint."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self.name = f"Lexicue at {client.base_url}"

    def transcribe(self, audio: Path, ask: Ask) -> Answer:
        fields: dict[str, Any] = _given(
            prompt=ask.prompt,
            language=ask.language,
            glossary=ask.glossary,
            revision=None if ask.revision is None else str(ask.revision),
            selection=ask.selection,
        )
        if ask.keywords:
            fields["keywords[]"] = list(ask.keywords)
        response = _post(self._client, "/transcribe", audio, fields)
        return _refusal(response) if response.is_error else lexicue_answer(_json(response))


def lexicue_answer(body: dict[str, Any]) -> Answer:
    """An answer of `POST /transcribe`, fresh or stored. Raises InvalidRequest when it is none."""
    try:
        receipt = body["receipt"]
        return Answer(
            text=body["text"],
            pieces=_lexicue_pieces(body["segments"]),
            seconds=body["duration"],
            language=body["language"],
            fingerprint=receipt["decoding"]["fingerprint"],
            prompt=receipt["prompt"]["sha256"],
            receipt=receipt,
        )
    except (KeyError, TypeError) as error:
        raise InvalidRequest("This is no answer of POST /transcribe with its receipt.") from error


def _lexicue_pieces(segments: list[dict[str, Any]]) -> tuple[Piece, ...]:
    """Segments of one window share its figures."""
    figures = [(s["avg_logprob"], s["no_speech_prob"], s["compression_ratio"], s["rung"]) for s in segments]
    windows = [0]
    for before, after in pairwise(figures):
        windows.append(windows[-1] + (before != after))
    return tuple(
        Piece(s["start"], s["end"], s["text"], window, s["rung"] != "first")
        for s, window in zip(segments, windows, strict=False)
    )


def _openai_pieces(segments: list[dict[str, Any]]) -> tuple[Piece, ...]:
    seeks: dict[Any, int] = {}
    return tuple(
        Piece(
            round(float(s.get("start") or 0), 3),
            round(float(s.get("end") or 0), 3),
            str(s.get("text", "")),
            seeks.setdefault(s.get("seek"), len(seeks)),
            bool(s.get("temperature")),
        )
        for s in segments
    )


def _post(client: httpx.Client, path: str, audio: Path, fields: dict[str, Any]) -> httpx.Response:
    """Asks again, as often as is reasonable, where the server only says that it is busy. Raises NotReady when it stays
    so: that is no answer to the question, and none that a journal should keep."""
    for attempt in range(1, _TRIES + 1):
        try:
            with audio.open("rb") as handle:
                response = client.post(path, data=fields, files={"file": (audio.name, handle)})
        except httpx.TransportError as error:
            raise _nobody(client) from error
        if response.status_code not in _BUSY:
            return response
        pause = response.headers.get("Retry-After", "")
        time.sleep(min(_LONGEST_PAUSE_SECONDS, float(pause) if pause.isdecimal() else 2.0**attempt / 2))
    raise NotReady(f"The server stays busy; the same command goes on from here. {_reason(response)}")


def _refusal(response: httpx.Response) -> Answer:
    """Raises InvalidRequest where the reason lies in the key or the address, not in the words; NotFound where the
    address, the glossary or its revision is not there."""
    reason = _reason(response)
    if response.status_code == 404:
        raise NotFound(f"The server knows nothing of that: {reason}")
    if response.status_code in (401, 403, 405):
        raise InvalidRequest(f"The server cannot be audited like this: {reason}")
    return Answer(refused=reason, status=response.status_code)


def _reason(response: httpx.Response) -> str:
    error = _json(response).get("error")
    message = str(error.get("message", "")) if isinstance(error, dict) else ""
    return f"{response.status_code}: {message or response.reason_phrase}"


def _json(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _given(**fields: str | None) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _nobody(client: httpx.Client) -> NotReady:
    return NotReady(f"No answer from {client.base_url}. Start a server with: lexicue serve; or name one with --url.")
