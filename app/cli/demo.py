"""`lexicue demo`: the project in one picture. In: the sample clip and glossary. Out: both transcripts side by side,
the brand names coloured, and the receipt. Main thread, blocking; starts a server of its own if none answers."""

from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.cli.client import DEFAULT_URL, Url, call, connect
from app.cli.local_server import local_server
from app.cli.samples import SAMPLE_CLIP, SAMPLE_GLOSSARY
from app.cli.transcribe import transcribe_file


def demo(
    clip: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Recording to play.")] = SAMPLE_CLIP,
    glossary: Annotated[str, typer.Option(help="Slug of the glossary.")] = SAMPLE_GLOSSARY,
    url: Url = DEFAULT_URL,
) -> None:
    """Transcribe a clip without and with a glossary and show both side by side."""
    if _answers(url):
        _show(url, clip, glossary)
        return
    with local_server(sample=True) as local_url:
        _show(local_url, clip, glossary)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=2).is_success
    except httpx.TransportError:
        return False


def _show(url: str, clip: Path, glossary: str) -> None:
    with connect(url) as client:
        before = transcribe_file(client, clip)
        after = transcribe_file(client, clip, glossary=glossary)
        terms = call(client, "GET", "/prompt/preview", params={"glossary": glossary}).json()["kept"]
    names = sorted({term["text"] for term in terms}, key=len, reverse=True)
    console = Console(width=None if Console().is_terminal else 100, highlight=False)
    table = Table(title=f"{clip.name}, {before['duration']:.1f} s", expand=True)
    table.add_column("without glossary", ratio=1)
    table.add_column(f"with glossary “{glossary}”", ratio=1)
    table.add_row(_marked(before["text"], names), _marked(after["text"], names))
    table.add_row(_score(before["text"], names), _score(after["text"], names), style="dim")
    console.print(table)
    console.print(_receipt(after["receipt"]))


def _marked(text: str, names: list[str]) -> Text:
    marked = Text(text)
    marked.highlight_words(names, style="bold green")
    return marked


def _score(text: str, names: list[str]) -> str:
    return f"glossary terms spelled right: {sum(text.count(name) for name in names)}"


def _receipt(receipt: dict[str, Any]) -> Table:
    prompt, decoding = receipt["prompt"], receipt["decoding"]
    table = Table(title="receipt", show_header=False, expand=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for name, value in (
        ("prompt", f"{prompt['sha256'][:16]}…, glossary revision {prompt['revision']}"),
        (
            "tokens",
            f"{prompt['tokens']} exact, {prompt['estimated_tokens']} estimated, of {prompt['budget']}; "
            f"headroom {prompt['headroom']}",
        ),
        ("kept", ", ".join(prompt["kept"])),
        ("dropped", ", ".join(f"{term['text']} ({term['reason']})" for term in prompt["dropped"]) or "none"),
        ("fingerprint", decoding["fingerprint"]),
        (
            "decoding",
            f"{decoding['windows']} window(s), fallbacks {decoding['fallbacks'] or 'none'}, "
            f"{decoding['covered_seconds']} of {decoding['speech_seconds']} s of speech covered",
        ),
        ("warnings", "; ".join(receipt["warnings"]) or "none"),
    ):
        table.add_row(name, value)
    return table
