"""A curve as an SVG picture: points over two logarithmic axes, with their values beside them.

A value is written above its point, or else below, where it covers no other text and no point; else it is left out. The
picture carries its own colours, so that it reads on a light page and on a dark one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from attrs import frozen

from bench.measure import in_words

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 376, 76, 24, 64, 48
LETTER, BOLD = 6.7, 7.6
"""Pixels: the width of a character, at most."""
INKS = ("#1f6feb", "#c2410c", "#15803d", "#7c3aed")


@frozen
class Curve:
    """A named row of points (x, y), all above zero."""

    name: str
    points: Sequence[tuple[float, float]]


@frozen
class Axis:
    """A logarithmic axis in whole decades that hold all values; `begin` and `end` are where it is drawn."""

    low: int
    high: int
    begin: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], begin: float, end: float) -> Axis:
        """The axis that just holds these values."""
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), begin, end)

    def at(self, value: float) -> float:
        """Where a value is drawn."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    @property
    def decades(self) -> list[float]:
        """The powers of ten on it."""
        return [10.0**exponent for exponent in range(self.low, self.high + 1)]


def drawing(title: str, labels: tuple[str, str], curves: Sequence[Curve]) -> str:
    """The picture as SVG text; `labels` are what x and y are, with their units."""
    across = Axis.over([x for curve in curves for x, _ in curve.points], LEFT, WIDTH - RIGHT)
    up = Axis.over([y for curve in curves for _, y in curve.points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 20, title, 'font-weight="bold" font-size="14"'),
        *_grid(across, up, labels),
        *_names(curves),
        *(line for number, curve in enumerate(curves) for line in _line(curve, number, (across, up))),
        *_values(curves, (across, up)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(across: Axis, up: Axis, labels: tuple[str, str]) -> Iterator[str]:
    for value in across.decades:
        x = across.at(value)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#d0d7de"/>'
        yield _text(x, HEIGHT - BOTTOM + 16, in_words(value), 'text-anchor="middle"')
    for value in up.decades:
        y = up.at(value)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#d0d7de"/>'
        yield _text(LEFT - 6, y + 4, in_words(value), 'text-anchor="end"')
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, labels[0], 'text-anchor="middle"')
    yield _text(LEFT, 38, labels[1], "")


def _names(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield the names of the curves, in a line above them."""
    x = float(LEFT)
    for number, curve in enumerate(curves):
        yield _text(x, TOP - 10, curve.name, f'fill="{INKS[number % len(INKS)]}" font-weight="bold"')
        x += BOLD * len(curve.name) + 16


def _line(curve: Curve, number: int, axes: tuple[Axis, Axis]) -> Iterator[str]:
    ink, places = INKS[number % len(INKS)], _places(curve, axes)
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    yield f'<path d="M{path}" fill="none" stroke="{ink}" stroke-width="2"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ink}"/>' for x, y in places)


def _places(curve: Curve, axes: tuple[Axis, Axis]) -> list[tuple[float, float]]:
    return [(axes[0].at(x), axes[1].at(y)) for x, y in curve.points]


Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def _values(curves: Sequence[Curve], axes: tuple[Axis, Axis]) -> Iterator[str]:
    """Yield the values of the points that have room."""
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for curve in curves for x, y in _places(curve, axes)]
    for number, curve in enumerate(curves):
        for (x, y), (_, value) in zip(_places(curve, axes), curve.points, strict=True):
            words = in_words(value)
            for line in (y - 7, y + 16):
                box = _box(x, line, words)
                if box[1] >= TOP - 6 and box[3] <= HEIGHT - BOTTOM and not any(_overlap(box, other) for other in taken):
                    taken.append(box)
                    yield _text(x, line, words, f'text-anchor="middle" fill="{INKS[number % len(INKS)]}"')
                    break


def _box(x: float, y: float, words: str) -> Box:
    """Return what a text around x takes whose letters stand on y."""
    half = LETTER * len(words) / 2
    return x - half, y - 10, x + half, y + 2


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
