"""The bench beside other tools: what they print is read, what is missing is named, other counts fail. No timings."""

from __future__ import annotations

import resource
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import building, reading
from bench.reference import PEERS, SIZES, Plan, Work
from bench.rounds import Contest, Series, WrongCount
from bench.running import Failed, NotFinished, Run, run
from bench.table import document
from bench.tools import IN_A_FRESH_CACHE, TOOLS, Entry, entries_of

PRINTED = {
    "C": (
        reading.search,
        "c1 bits=61 distinct=805904 generated=4390996 depth=20 i1bad=0 i2bad=0 t=0.1220 "
        "states/s=6605770 gen/s=35991770 rssMB=47 lg=21",
    ),
    "Stateright": (
        reading.search,
        "stateright-bfs1 distinct=805904 generated=4390996 maxdepth=21 t=0.830 "
        "states/s=970969 gen/s=5290356 rssMB=81\n  I1: path of 19 steps",
    ),
    "SPIN": (
        reading.pan_search,
        "State-vector 36 byte, depth reached 74, errors: 0\n   805905 states, stored\n"
        "  3585092 states, matched\n  4390997 transitions (= stored+matched)\n        0 atomic steps\n"
        "pan: elapsed time 0.55 seconds\npan: rate 1465281.8 states/second",
    ),
    "TLC": (
        reading.tlc_search,
        "Progress(12): 4,000 states generated, 3,000 distinct states found, 1 states left\n"
        "4390996 states generated, 805904 distinct states found, 0 states left on queue.\nFinished in 15s",
    ),
}


def printed(text: str, wall: float = 16.0) -> Run:
    return Run(text, wall, cpu=wall, peak_bytes=1 << 20)


@pytest.mark.parametrize("tool", PRINTED)
def test_counts_are_read_in_the_words_of_each_tool(tool):
    read, text = PRINTED[tool]
    assert read(printed(text)).counts == (805_904, 4_390_996)


def test_rates_are_by_the_clock_of_the_tool_and_those_of_tlc_by_its_process():
    rates = {tool: read(printed(text)).rate for tool, (read, text) in PRINTED.items()}
    assert rates == pytest.approx({"C": 6_605_770, "Stateright": 970_969, "SPIN": 805_904 / 0.55, "TLC": 805_904 / 16})


def test_walks_are_read_as_steps_a_second():
    found = [
        reading.walks(printed(text))
        for text in (
            "c walk threads=1 depth=100 walks=9 steps=190 steps/s=301234 i1bad=1",
            "stateright-siminv1 depth=100 states=190 t=0.01 steps/s=301234 maxdepth=21",
            "hypothesis throughput I1 steps=100 seed=1 examples=9 ex/s=2.0 modelsteps=190 steps/s=301234",
        )
    ]
    assert [one.units for one in found] == [190, 190, 190]
    assert [one.rate for one in found] == pytest.approx(3 * [301_234])
    assert reading.tlc_walks(printed("The number of states generated: 129979", wall=2.0)).rate == 129_979 / 2


TRACES = {
    "C": (reading.trace, "c1 find I2 steps=9 t=0.011212 distinct=84999 gen=243898"),
    "SPIN": (reading.pan_trace, "State-vector 44 byte, depth reached 9, errors: 1\n    37158 states, stored"),
    "TLC": (
        reading.tlc_trace,
        "State 1: <Initial predicate>\n/\\ up = {1}\n"
        + "".join(f"State {number}: <Deliver(1,0) line 58>\n" for number in range(2, 11)),
    ),
    "kwalk": (reading.kwalk_trace, '{"findings": [{"property": "leaders_when_settled()", "length": 9}]}'),
}


@pytest.mark.parametrize("tool", TRACES)
def test_the_steps_of_a_trace_are_read_and_its_seconds_are_those_of_the_process(tool):
    read, text = TRACES[tool]
    found = read(printed(text, wall=0.5))
    assert (found.steps, found.seconds) == (9, 0.5)


def test_a_cold_start_has_a_cache_of_its_own():
    entries, _ = entries_of(("kwalk",), Plan(SIZES["3k"], cores=1))
    shells = [entry.command[:4] for entry in entries if entry.tool == "kwalk, model not yet compiled"]
    assert shells == [IN_A_FRESH_CACHE, IN_A_FRESH_CACHE]
    look = (sys.executable, "-c", "import os; print(os.environ['XDG_CACHE_HOME'], os.getcwd())")
    cache, folder = run((*IN_A_FRESH_CACHE, *look), seconds=60).output.split()
    assert cache == f"{folder}/cache"


def test_a_trace_that_is_not_the_shortest_fails_the_bench():
    entry = Entry("mine", Work.TO_I2, (sys.executable, "-c", "print('steps=12')"), reading.trace)
    with pytest.raises(WrongCount, match="mine found a trace of 12 steps; the shortest has 7"):
        Contest(SIZES["3k"], [Series(entry)], seconds=60).round(0)


READERS = [*(read for read, _ in [*PRINTED.values(), *TRACES.values()]), reading.walks, reading.tlc_walks]


@pytest.mark.parametrize("read", list(dict.fromkeys(READERS)))
def test_a_tool_that_did_not_finish_is_not_read_as_if_it_had(read):
    with pytest.raises(reading.Unreadable, match="out of memory"):
        read(printed("1000 states generated, 900 distinct states found, 5 states left on queue.\nout of memory\n"))


def test_a_machine_without_the_tools_names_each_and_still_measures_kwalk_and_python(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(building, "BUILT", tmp_path)
    entries, absent = entries_of(tuple(TOOLS), Plan(SIZES["3k"], cores=2))
    assert {tool.tool: tool.reason for tool in absent} == {
        "C": "no cc on the path",
        "Stateright": "no cargo on the path",
        "SPIN": "no spin on the path",
        "TLC": "no java on the path",
    }
    assert {entry.tool for entry in entries} == {
        "kwalk",
        "kwalk, one by one",
        "kwalk, a swarm",
        "kwalk, model not yet compiled",
        "plain Python",
        "Hypothesis, unchecked",
    }


def test_a_missing_archive_of_tlc_says_how_to_name_or_build_it(monkeypatch, tmp_path):
    monkeypatch.setattr(building, "BUILT", tmp_path)
    monkeypatch.delenv("TLA2TOOLS", raising=False)
    with pytest.raises(building.Missing, match=r"TLA2TOOLS=.*build_tlc\.sh"):
        building.tla2tools()


def test_plain_python_counts_what_the_size_has():
    size = SIZES["3k"]
    naive = (sys.executable, str(PEERS / "python" / "naive.py"), "bfs", *size.bounds.words)
    assert reading.search(run(naive, seconds=60)).counts == (size.distinct, size.generated)


def counting(distinct: int, tool: str = "mine", rate: int = 1000) -> Entry:
    source = f"print('distinct={distinct} generated=8129 states/s={rate}')"
    return Entry(tool, Work.ONE_CORE, (sys.executable, "-c", source), reading.search)


def test_another_count_fails_the_bench(monkeypatch, capsys):
    contest = Contest(SIZES["3k"], [Series(counting(3_093))], seconds=60)
    with pytest.raises(WrongCount, match=r"mine counted 3,093 distinct and 8,129 generated states; .* 3,092 and 8,129"):
        contest.round(0)
    monkeypatch.setattr(bench, "entries_of", lambda tools, plan: ([counting(3_093)], []))
    assert bench.main(["--size", "3k", "--runs", "1"]) == 1
    assert "Wrong count: mine" in capsys.readouterr().err


def test_a_tool_past_its_time_is_left_out_by_name_and_the_others_continue():
    slow = Entry("slow", Work.ONE_CORE, (sys.executable, "-c", "import time; time.sleep(60)"), reading.search)
    contest = Contest(SIZES["3k"], [Series(counting(3_092, "kwalk", 3000)), Series(slow), Series(counting(3_092))], 2)
    for number in range(2):
        contest.round(number)
    page = "\n".join(document(contest, []))
    assert [len(series.rates) for series in contest.series] == [2, 0, 2]
    assert contest.series[2].ratios(contest.series[0]) == pytest.approx([3, 3])
    assert "- slow, exhaustive, one core, distinct states/s: not finished in 2 s" in page


def test_a_run_ends_with_its_time_or_with_the_error_of_its_tool():
    with pytest.raises(NotFinished, match=r"not finished in 0\.2 s"):
        run((sys.executable, "-c", "import time; time.sleep(60)"), seconds=0.2)
    with pytest.raises(Failed, match="ended with 3: no table"):
        run((sys.executable, "-c", "import sys; print('no table'); sys.exit(3)"), seconds=60)


def test_ratios_by_cpu_are_of_the_rounds_that_both_were_in():
    ours = Series(counting(3_092, "kwalk"), cpu_rates={0: 6.0, 1: 8.0, 2: 9.0})
    assert Series(counting(3_092), cpu_rates={0: 2.0, 1: 8.0}).cpu_ratios(ours) == [3, 1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a peak is at least that of the bench")
def test_the_peak_and_the_seconds_are_those_of_the_tool_alone():
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    small = run(("sh", "-c", "echo done"), seconds=60)
    assert small.output == "done\n" and small.peak_bytes < 8 << 20 < ours
    large = run((sys.executable, "-c", "b'1' * (100 << 20)\nwhile __import__('time').process_time() < 0.3: pass"), 60)
    assert 100 << 20 < large.peak_bytes < 200 << 20 and 0.25 < large.cpu < 3


def test_the_modules_of_kwalk_are_compiled_before_they_are_measured(monkeypatch, tmp_path):
    module = tmp_path / "model" / "steps.py"
    module.parent.mkdir()
    module.write_text("STEPS = 3\n")
    monkeypatch.setattr(building, "ROOT", tmp_path)
    building.kwalk()
    assert Path(cache_from_source(str(module))).is_file()
