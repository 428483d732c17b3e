"""A curve as an SVG picture: points over two logarithmic axes, with their values beside them.

The picture carries its own colours, so that it reads on a light page and on a dark one.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from attrs import frozen

from bench.measure import in_words

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 76, 24, 44, 48
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
        *(line for number, curve in enumerate(curves) for line in _line(curve, number, (across, up))),
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
    yield _text(LEFT, TOP - 8, labels[1], "")


def _line(curve: Curve, number: int, axes: tuple[Axis, Axis]) -> Iterator[str]:
    ink = INKS[number % len(INKS)]
    places = [(axes[0].at(x), axes[1].at(y)) for x, y in curve.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    yield f'<path d="M{path}" fill="none" stroke="{ink}" stroke-width="2"/>'
    for (x, y), (_, value) in zip(places, curve.points, strict=True):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ink}"/>'
        yield _text(x, y - 7, in_words(value), f'text-anchor="middle" fill="{ink}"')
    yield _text(WIDTH - RIGHT, TOP + 14 + 16 * number, curve.name, f'text-anchor="end" fill="{ink}" font-weight="bold"')


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
