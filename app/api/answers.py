"""A transcript in the shape that was asked for. In: a Transcript, a format. Out: a response; formats without room for
a receipt carry its essentials in headers. Event loop thread."""

from fastapi import Response
from fastapi.responses import JSONResponse, PlainTextResponse

from app.api.schemas import TranscriptShape
from app.transcript.formats import ResponseFormat, as_srt, as_text, as_vtt
from app.transcript.transcript import Receipt, Transcript

_HEADER_CHARACTERS = 1_000


def answer(transcript: Transcript, wanted: ResponseFormat) -> Response:
    """`json` and `verbose_json` are the same here: text, segments, receipt."""
    headers = receipt_headers(transcript.receipt)
    match wanted:
        case ResponseFormat.TEXT:
            return PlainTextResponse(as_text(transcript), headers=headers)
        case ResponseFormat.SRT:
            return PlainTextResponse(as_srt(transcript), headers=headers)
        case ResponseFormat.VTT:
            return PlainTextResponse(as_vtt(transcript), headers=headers, media_type="text/vtt")
        case _:
            shape = TranscriptShape.model_validate(transcript)
            return JSONResponse(shape.model_dump(mode="json"), headers=headers)


def receipt_headers(receipt: Receipt) -> dict[str, str]:
    """The essentials of a receipt. Warnings are counted and, as far as a header reasonably goes, spelled out."""
    headers = {
        "X-Lexicue-Prompt-Sha256": receipt.prompt.sha256,
        "X-Lexicue-Prompt-Tokens": str(receipt.prompt.tokens),
        "X-Lexicue-Prompt-Headroom": str(receipt.prompt.headroom),
        "X-Lexicue-Fallbacks": str(sum(receipt.decoding.fallbacks.values())),
        "X-Lexicue-Warnings": str(len(receipt.warnings)),
    }
    if receipt.warnings:
        spelled = "; ".join(receipt.warnings)[:_HEADER_CHARACTERS]
        headers["X-Lexicue-Warning"] = spelled.encode("ascii", "replace").decode()
    return headers
