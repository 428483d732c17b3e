"""The page about growth: its pictures are well formed, its fit is right, and it is made of what processes measure."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.curve import Axis, Curve, drawing
from bench.growth import fitted, page
from bench.reference import Bounds

SVG = "{http://www.w3.org/2000/svg}"


def test_an_axis_holds_all_values_in_whole_decades():
    axis = Axis.over([3, 4000], 100, 400)
    assert (axis.low, axis.high, axis.at(1), axis.at(100), axis.at(10_000)) == (0, 4, 100, 250, 400)
    assert Axis.over([10], 0, 1).decades == [10, 100]  # one value still has an axis


def test_a_drawing_has_every_point_and_escapes_names():
    picture = ElementTree.fromstring(drawing("a < b", ("x", "y"), [Curve("one & two", [(1, 2), (10, 20)])]))
    assert len(picture.findall(f"{SVG}circle")) == 2
    assert "one & two" in [text.text for text in picture.findall(f"{SVG}text")]


@pytest.mark.parametrize("close", [1.0, 1.02, 1.3])
def test_no_text_of_a_drawing_covers_another(close):
    curves = [Curve(f"curve {n}", [(x, x * close**n) for x in (10, 11, 200, 3000)]) for n in range(4)]
    picture = ElementTree.fromstring(drawing("title", ("x", "y"), curves))
    texts = picture.findall(f"{SVG}text")
    boxes = []
    for text in texts:
        x, y, width = float(text.get("x", 0)), float(text.get("y", 0)), 6 * len(text.text or "")
        left = x - {"middle": width / 2, "end": width}.get(text.get("text-anchor", ""), 0)
        boxes.append((left, y - 9, left + width, y))
    covering = [
        (texts[n].text, texts[m].text)
        for n, one in enumerate(boxes)
        for m, other in enumerate(boxes[:n])
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert covering == []
    assert {curve.name for curve in curves} <= {text.text for text in texts}


def test_a_power_law_is_fitted_exactly():
    assert fitted([(x, 3 * (x / 1e6) ** 1.5) for x in (1e4, 1e5, 1e7)]) == pytest.approx((1.5, 3))


def test_the_page_says_what_was_searched(tmp_path):
    lines = list(page([Bounds(2, 2, 3, 1, 1)], [], 1, tmp_path))
    (row,) = (line for line in lines if "2-2-3-1-1" in line)
    assert " 3,092 |" in row
