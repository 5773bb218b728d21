"""The input, entry by entry. In: a manifest (TSV, CSV, JSON lines) or a folder of recordings with their text beside
them. Out: entries and rejects, in the input's order, one at a time: never the whole list. Blocking; main thread."""

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from app.errors import InvalidRequest
from app.finetune.entries import Entry, Reason, Reject, Rejected
from app.finetune.transcripts import Piece, Spoken, read_json, read_subtitles, spoken_of

Found = Iterator[Entry | Reject]


class _Tabs(csv.excel_tab):
    """Quotes are letters like any other: transcripts begin with them."""

    quoting = csv.QUOTE_NONE


# A corpus whose columns have these names needs no conversion; the first name that is there counts.
_COLUMNS = {
    "source": ("audio", "file", "audio_filepath", "path"),
    "text": ("text", "transcript", "transcription", "sentence"),
    "language": ("language", "lang", "locale"),
    "split": ("split",),
    "start": ("start",),
    "end": ("end",),
}
_TEXTS = (".json", ".txt", ".vtt", ".srt")
_AUDIO = {
    *(".wav", ".flac", ".mp3", ".m4a", ".mp4", ".ogg", ".oga", ".opus", ".webm", ".aac", ".aif", ".aiff"),
    *(".caf", ".wma", ".mka", ".mkv", ".mov", ".w64", ".amr"),
}


def read_source(path: Path, language: str = "") -> Found:
    """`language` is for what names none. Raises InvalidRequest for an input that cannot be read at all."""
    if path.is_dir():
        found = _read_folder(path)
    elif not path.is_file():
        raise InvalidRequest(f"There is no manifest or folder {path}.", param="manifest")
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        found = _read_lines(path)
    elif path.suffix.lower() in (".tsv", ".csv"):
        found = _read_table(path, _Tabs if path.suffix.lower() == ".tsv" else csv.excel)
    else:
        raise InvalidRequest("A manifest is a .tsv, .csv or .jsonl file, or a folder.", param="manifest")
    return (_spoken_in(entry, language) for entry in found)


def _spoken_in(found: Entry | Reject, language: str) -> Entry | Reject:
    if not found.source.isascii() and any("\ud800" <= character <= "\udfff" for character in found.source):
        return Reject(ascii(found.source), Reason.BAD_ROW, "the path is not UTF-8")
    if isinstance(found, Reject) or found.language.strip() or not language:
        return found
    return Entry(found.source, found.text, language, found.split, found.start, found.end)


def _read_table(path: Path, dialect: type[csv.Dialect]) -> Found:
    """Quotes mean something in CSV (RFC 4180) and nothing in TSV."""
    with path.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as file:
        lines = (line.replace("\0", "\ufffd") for line in file)
        rows = csv.DictReader(lines, dialect=dialect)
        names = _columns(rows.fieldnames or ())
        for row in rows:
            cells = {field: row.get(name) or "" for field, name in names.items()}
            yield _entry(cells, f"line {rows.line_num}", surplus=None in row)


def _columns(header: Iterable[str]) -> dict[str, str]:
    written = {name.strip().lower(): name for name in header}
    names = {
        field: written[next(alias for alias in aliases if alias in written)]
        for field, aliases in _COLUMNS.items()
        if any(alias in written for alias in aliases)
    }
    missing = [aliases[0] for field, aliases in _COLUMNS.items() if field in ("source", "text") and field not in names]
    if missing:
        raise InvalidRequest(
            f"The manifest's first line must name its columns; missing: {', '.join(missing)}. "
            "Columns: audio, text, language; if you like split, start, end.",
            param="manifest",
            code="bad_manifest",
        )
    return names


def _entry(cells: dict[str, str], place: str, *, surplus: bool = False) -> Entry | Reject:
    source = cells["source"].strip()
    if not source or surplus:
        return Reject(source, Reason.BAD_ROW, f"{place}: " + ("too many cells" if surplus else "no audio path"))
    try:
        start, end = _seconds(cells.get("start", "")), _seconds(cells.get("end", ""))
    except ValueError:
        return Reject(source, Reason.BAD_TIMES, f"{place}: start and end are seconds")
    return _checked(Entry(source, cells["text"], cells.get("language", ""), cells.get("split", ""), start, end), place)


def _checked(entry: Entry, place: str) -> Entry | Reject:
    start, end = entry.start or 0.0, entry.end
    if not 0 <= start < (float("inf") if end is None else end) or end == float("inf"):
        return Reject(entry.source, Reason.BAD_TIMES, f"{place}: 0 <= start < end is needed")
    return entry


def _seconds(text: str) -> float | None:
    return float(text) if text.strip() else None


def _read_lines(path: Path) -> Found:
    """One JSON object a line; one with `segments` is a transcript as `lexicue transcribe --json` prints it."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield from _read_line(line, f"line {number}")


def _read_line(line: str, place: str) -> Found:
    try:
        row = json.loads(line)
        if not isinstance(row, dict):
            raise ValueError
    except ValueError:
        yield Reject("", Reason.BAD_ROW, f"{place}: no JSON object")
        return
    cells = {field: next((row[a] for a in names if row.get(a) is not None), "") for field, names in _COLUMNS.items()}
    if not all(isinstance(value, str | int | float) for value in cells.values()):
        yield Reject("", Reason.BAD_ROW, f"{place}: a field is neither text nor number")
    elif row.get("segments"):
        source = str(cells["source"])
        yield from _pieces(source, lambda: spoken_of(row), place=place, split=str(cells["split"]))
    else:
        yield _entry({field: str(value) for field, value in cells.items()}, place)


def _read_folder(folder: Path) -> Found:
    """Recordings of the folder and its folders, by name; the text is in the file of the same name that ends in
    .json, .txt, .vtt or .srt, the first of these that is there."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            audio = Path(parent, name)
            if audio.suffix.lower() in _AUDIO:
                yield from _pair(audio, str(audio.relative_to(folder)))


def _pair(audio: Path, source: str) -> Found:
    text_file = next((audio.with_suffix(end) for end in _TEXTS if audio.with_suffix(end).is_file()), None)
    if text_file is None:
        yield Reject(source, Reason.NO_TEXT, "no .txt, .json, .vtt or .srt of the same name beside it")
        return
    yield from _pieces(source, lambda: _read_text(text_file), place=text_file.name)


def _read_text(file: Path) -> Spoken:
    text = file.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    match file.suffix:
        case ".json":
            return read_json(text)
        case ".txt":
            return Spoken((Piece(text),))
        case _:
            return read_subtitles(text)


def _pieces(source: str, read: Callable[[], Spoken], *, place: str, split: str = "") -> Found:
    try:
        spoken = read()
    except Rejected as rejected:
        yield Reject(source, rejected.reason, f"{place}: {rejected.detail}".removesuffix(": "))
        return
    for piece in spoken.pieces:
        yield _checked(Entry(source, piece.text, spoken.language, split, piece.start, piece.end), place)
