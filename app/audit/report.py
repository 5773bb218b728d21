"""The page that an audit leaves behind. In: what was found, plots, differences. Out: one HTML file that needs no
network and no other file. Any thread; `write` touches the disk."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from app.audit.diffing import Row
from app.audit.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Plot:
    title: str
    caption: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are shown as they are; numbers come formatted."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two transcripts on the recording's clock."""

    title: str
    left: str
    right: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Report:
    """`limits`: what cannot be concluded from it."""

    title: str
    question: str
    target: str
    verdict: Verdict
    summary: Sequence[str]
    limits: Sequence[str]
    plots: Sequence[Plot] = ()
    tables: Sequence[Table] = ()
    comparisons: Sequence[Comparison] = field(default=())


def render(report: Report) -> str:
    templates = Environment(
        loader=PackageLoader("app.audit"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("report.html.j2").render(report=report, version=version("lexicue"))


def write(report: Report, path: Path) -> None:
    """All or nothing: a reader never sees half a page."""
    staged = path.with_suffix(".part")
    staged.write_text(render(report), encoding="utf-8")
    staged.replace(path)
