"""Plots as SVG that needs nothing else. In: figures. Out: markup that stands in a page as it is. Pure; any thread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

_WIDTH, _LEFT, _RIGHT, _NOTES = 760, 230, 48, 160
_ROW = 26
_KEPT, _LOST, _MARK, _INK, _GRID = "#1a7f5a", "#c0392b", "#b7791f", "#24292f", "#d8dee4"


@dataclass(frozen=True, slots=True)
class Dot:
    """`good`: filled green, else hollow red; the two differ in shape as well as in colour."""

    at: float
    good: bool
    tip: str


@dataclass(frozen=True, slots=True)
class Bar:
    """`value` with its interval, or without one when all three are the same."""

    label: str
    value: float
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True)
class Stretch:
    start: float
    end: float
    marked: bool


def dots(rows: Sequence[tuple[str, Sequence[Dot]]], *, line: float | None, unit: str) -> Markup:
    """One row of dots for each label, over one axis from 0; `line` is drawn through all rows."""
    top = max((dot.at for _, row in rows for dot in row), default=1.0) * 1.02
    parts = [_axis(top, len(rows), unit)]
    if line is not None:
        parts.append(_upright(_x(line, top), len(rows), f"{line:.0f}"))
    for number, (label, row) in enumerate(rows):
        parts.append(_label(number, label))
        for dot in row:
            fill = _KEPT if dot.good else "#fff"
            parts.append(
                Markup('<circle cx="{:.1f}" cy="{}" r="4.5" fill="{}" stroke="{}"><title>{}</title></circle>').format(
                    _x(dot.at, top), _y(number), fill, _KEPT if dot.good else _LOST, dot.tip
                )
            )
    return _svg(len(rows), parts)


def bars(rows: Sequence[Bar], *, top: float = 1.0) -> Markup:
    """A point and its interval for each row, from 0 to `top` or to the largest; its note to the right of all."""
    top = max([top, *(row.high for row in rows)])
    parts = [_axis(top, len(rows), "", right=_NOTES)]
    for number, row in enumerate(rows):
        y = _y(number)
        low, value, high = (_x(each, top, _NOTES) for each in (row.low, row.value, row.high))
        parts.append(_label(number, row.label))
        parts.append(
            Markup(
                '<line x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}" stroke="{}" stroke-width="7" stroke-opacity=".3"/>'
                '<circle cx="{:.1f}" cy="{}" r="5" fill="{}"><title>{}</title></circle>'
            ).format(low, high, y, y, _KEPT, value, y, _KEPT, row.note)
        )
        parts.append(_text(_WIDTH - _NOTES + 12, y + 4, row.note, size=11))
    return _svg(len(rows), parts)


def timelines(rows: Sequence[tuple[str, float, Sequence[Stretch], Sequence[float]]]) -> Markup:
    """Recordings on one clock: label, seconds, the windows (marked: with a fallback), the places to point at."""
    top = max((seconds for _, seconds, _, _ in rows), default=1.0) or 1.0
    parts = [_axis(top, len(rows), "s")]
    for number, (label, _, stretches, places) in enumerate(rows):
        y = _y(number)
        parts.append(_label(number, label))
        for stretch in stretches:
            x, width = _x(stretch.start, top), max(1.5, _x(stretch.end, top) - _x(stretch.start, top) - 1)
            parts.append(
                Markup('<rect x="{:.1f}" y="{}" width="{:.1f}" height="10" fill="{}" fill-opacity="{}"/>').format(
                    x, y - 5, width, _MARK if stretch.marked else _KEPT, ".9" if stretch.marked else ".35"
                )
            )
        for place in places:
            x = _x(place, top)
            parts.append(
                Markup('<path d="M{:.1f} {} l-5 -8 h10 z" fill="{}"><title>{:.1f} s</title></path>').format(
                    x, y - 5, _LOST, place
                )
            )
    return _svg(len(rows), parts)


def _svg(rows: int, parts: Iterable[Markup]) -> Markup:
    height = rows * _ROW + 44
    head = Markup('<svg viewBox="0 0 {} {}" width="100%" role="img" xmlns="http://www.w3.org/2000/svg">')
    return head.format(_WIDTH, height) + Markup("").join(parts) + Markup("</svg>")


def _axis(top: float, rows: int, unit: str, right: int = _RIGHT) -> Markup:
    parts = []
    for step in range(5):
        value = top * step / 4
        x = _x(value, top, right)
        shown = f"{value:.0f} {unit}" if top > 4 else f"{value:.2f}"
        parts.append(
            Markup('<line x1="{:.1f}" x2="{:.1f}" y1="14" y2="{}" stroke="{}"/>').format(x, x, rows * _ROW + 18, _GRID)
        )
        parts.append(_text(x, rows * _ROW + 34, shown, anchor="middle", size=11))
    return Markup("").join(parts)


def _upright(x: float, rows: int, shown: str) -> Markup:
    line = Markup('<line x1="{:.1f}" x2="{:.1f}" y1="12" y2="{}" stroke="{}" stroke-width="2" stroke-dasharray="5 3"/>')
    return line.format(x, x, rows * _ROW + 18, _MARK) + _text(x + 4, 11, shown, size=12)


def _label(row: int, label: str) -> Markup:
    return _text(_LEFT - 10, _y(row) + 4, label if len(label) < 36 else label[:34] + "…", anchor="end")


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> Markup:
    shape = Markup('<text x="{:.1f}" y="{:.1f}" font-size="{}" text-anchor="{}" fill="{}">{}</text>')
    return shape.format(x, y, size, anchor, _INK, text)


def _x(value: float, top: float, right: int = _RIGHT) -> float:
    return _LEFT + (_WIDTH - _LEFT - right) * value / top


def _y(row: int) -> int:
    return 28 + row * _ROW
