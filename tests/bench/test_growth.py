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


def test_a_power_law_is_fitted_exactly():
    assert fitted([(x, 3 * (x / 1e6) ** 1.5) for x in (1e4, 1e5, 1e7)]) == pytest.approx((1.5, 3))


def test_the_page_says_what_was_searched(tmp_path):
    lines = list(page([Bounds(2, 2, 3, 1, 1)], [], 1, tmp_path))
    (row,) = (line for line in lines if "2-2-3-1-1" in line)
    assert " 3,092 |" in row
