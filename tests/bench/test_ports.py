"""The bench of ports: kwalk counts what a port says, other counts fail, and what is missing is named."""

from __future__ import annotations

import pytest
from attrs import evolve

from bench import building, ports
from bench.reading import search
from bench.rounds import WrongCount
from bench.running import Run

SMALL = evolve(ports.PORTS[1], bounds={"nodes": 2, "numbers": 3}, distinct=6_960, generated=84_497)


def test_one_run_of_kwalk_prints_the_counts_of_the_port():
    found = search(Run(ports.searched_once(SMALL), 1.0, 1.0, 1))
    assert found.counts == (6_960, 84_497)


@pytest.mark.parametrize("port", ports.PORTS, ids=lambda port: port.scenario)
def test_the_modules_of_an_original_are_there(port):
    assert (ports.ORIGINALS / f"{port.module}.tla").is_file()


def test_another_count_fails_the_bench(monkeypatch):
    monkeypatch.setattr(ports, "tlc_command", lambda port: ("tlc",))
    printed = "distinct=1 generated=2 t=1.0 states/s=1"
    monkeypatch.setattr(ports, "run", lambda command, seconds: Run(printed, 1.0, 1.0, 1))
    with pytest.raises(WrongCount, match=r"kwalk counted \(1, 2\) in ewd998, not \(1520618, 8900621\)"):
        list(ports.lines(1, 60, print))


def test_a_table_has_the_counts_and_rates_of_both(monkeypatch):
    def fake(command, seconds):
        if command == ("tlc",):
            return Run("88663 states generated, 6960 distinct states found, 0 states left on queue.", 10.0, 10.0, 1)
        return Run("distinct=6960 generated=84497 t=1.0 states/s=6960", 1.0, 1.0, 1)

    monkeypatch.setattr(ports, "PORTS", (evolve(SMALL, by_tlc=88_663),))
    monkeypatch.setattr(ports, "tlc_command", lambda port: ("tlc",))
    monkeypatch.setattr(ports, "run", fake)
    (row,) = [line for line in ports.lines(3, 60, lambda line: None) if line.startswith("| checkpoint-lease")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["checkpoint-lease", "6,960", "84,497", "6.96 k", "88,663", "696", "10"]


def test_without_tlc_the_section_says_so(monkeypatch):
    def missing():
        raise building.Missing("no java on the path")

    monkeypatch.setattr(building, "tlc_machine", missing)
    assert "Left out: no java on the path" in list(ports.lines(1, 60, print))
