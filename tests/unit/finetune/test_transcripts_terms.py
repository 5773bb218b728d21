"""Exported transcripts as pieces, splits by hash, terms in text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.finetune.entries import Entry, Reason, Rejected, Split
from app.finetune.terms import TermFinder, split_of
from app.finetune.transcripts import Piece, packed, read_json, read_subtitles


def answer(*segments: tuple[float, float, str], text: str | None = None, **more: object) -> str:
    listed = [{"start": start, "end": end, "text": said} for start, end, said in segments]
    return json.dumps({"segments": listed, "text": text, **more})


def test_segments_are_packed_to_thirty_seconds() -> None:
    spoken = read_json(answer((0, 12, " One."), (12.5, 29, " Two."), (29.5, 40, " Three."), language="english"))
    assert spoken.pieces == (Piece("One. Two.", 0, 29), Piece("Three.", 29.5, 40))
    assert spoken.language == "english"


def test_a_short_recordings_corrected_text_counts() -> None:
    assert read_json(answer((0, 5, " Nuyen"), text="Nguyen")).pieces == (Piece("Nguyen"),)


def test_a_long_recording_whose_text_and_segments_differ_is_refused() -> None:
    with pytest.raises(Rejected) as refused:
        read_json(answer((0, 20, " Nuyen"), (20, 45, " Tuesday"), text="Nguyen Tuesday"))
    assert refused.value.reason is Reason.TEXTS_DIFFER


def test_subtitles_give_times_and_text_without_tags() -> None:
    srt = "1\n00:00:01,500 --> 00:00:03,000\n<i>Hello</i>\nthere\n\n2\n00:01:00,000 --> 00:01:02,000\nBye\n"
    vtt = "WEBVTT\n\n00:01.500 --> 00:03.000\nHello\nthere\n\nNOTE x\n\n01:00.000 --> 01:02.000 align:start\nBye\n"
    for text in (srt, vtt, srt.replace("\n", "\r\n")):
        assert read_subtitles(text).pieces == (Piece("Hello there", 1.5, 3.0), Piece("Bye", 60.0, 62.0))


@pytest.mark.parametrize("text", ["[]", "{", '{"text": 3}', '{"segments": [{"text": "x"}]}', '{"segments": 3}'])
def test_what_is_no_transcript_is_refused(text: str) -> None:
    with pytest.raises(Rejected):
        read_json(text)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.01, 40)), min_size=1, max_size=30))
def test_packing_keeps_every_word_in_order_and_thirty_seconds(steps: list[tuple[float, float]]) -> None:
    at, pieces = 0.0, []
    for number, (gap, length) in enumerate(steps):
        pieces.append(Piece(f" w{number}", at + gap, at + gap + length))
        at += gap + length
    result = packed(pieces)
    assert " ".join(piece.text for piece in result).split() == [piece.text.strip() for piece in pieces]
    alone = {(piece.start, piece.end) for piece in pieces}
    assert all(p.end - p.start <= 30 or (p.start, p.end) in alone for p in result)  # type: ignore[operator]


def test_a_recording_keeps_its_split_whatever_its_neighbours_and_parts() -> None:
    names = [f"clip{number}.wav" for number in range(2000)]
    splits = [split_of(Entry(name, "x", start=1.0), 0.1) for name in names]
    assert 0.08 < splits.count(Split.VALIDATION) / 2000 < 0.12
    assert splits == [split_of(Entry(name, "y"), 0.1) for name in names]
    # Raising the share only adds to the validation split.
    assert all(
        split_of(Entry(n, "x"), 0.2) is Split.VALIDATION
        for n, s in zip(names, splits, strict=True)
        if s is Split.VALIDATION
    )


def test_a_split_by_name_counts_and_an_unknown_one_is_refused() -> None:
    assert split_of(Entry("a", "x", split=" Dev "), 0.0) is Split.VALIDATION
    assert split_of(Entry("a", "x", split="test"), 0.5) is Split.TEST
    with pytest.raises(Rejected):
        split_of(Entry("a", "x", split="holdback"), 0.5)


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("Grafana", "check the GRAFANA dashboard", True),
        ("Grafana", "Grafanas", False),
        ("Art", "start the party", False),
        ("Art", "start the art", True),
        ("Kubernetes", "Kubernetes를 배포", True),
        ("쿠버네티스", "쿠버네티스를 배포", True),
        ("K8s", "K8s2", False),
        ("Café", "a cafe\u0301 here", True),
        ("", "anything", False),
    ],
)
def test_terms_are_found_as_words_where_a_script_has_words(term: str, text: str, found: bool) -> None:
    assert TermFinder([term]).finds(text) is found
