"""`kwalk explore --graph`: a DOT file that every reader of DOT can read, and figures that say what they are about."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from kwalk.model.language import Model
from kwalk.model.language.registry import announced
from kwalk.reports import files
from kwalk.reports.options.parser import parser
from kwalk.reports.pages.state_graph import LABELS, Drawing, dot_text, quoted
from kwalk.search.analyses import state_graph as graphs
from kwalk.search.analyses.state_graph import MOST, explore, statistics_of
from tests.bad_input.refusals import assert_refused, left_in
from tests.reports.dot_grammar import Picture, label, read_dot
from tests.reports.traces import HOSTILE, REFERENCE, labelled

DIE_HARD = "kwalk.model.examples.die_hard:DIE_HARD"
LOST_UPDATE = "kwalk.model.examples.lost_update:LOST_UPDATE"
SCRIPTS = (Path(__file__).parents[2] / "docs/reference/scripts.md").read_text("utf-8")
SMALL = ("--bound", "houses=1", "--bound", "seals=2", "--bound", "miles=2")
RECEIVED = ("receive_prepared", "receive_commit", "receive_abort")
NASTY = ('"]; s9 [label="', "back\\slash\\N\\", "a\nb", "&lt;b&gt;", *HOSTILE)


def picture(ran) -> Picture:
    return read_dot(ran.file("Graph").read_text("utf-8"))


def test_a_whole_graph_is_drawn_and_counted(kwalk, tmp_path):
    ran = kwalk("explore", "--graph", DIE_HARD)
    assert ran.code == 0 and ran.err == ""
    assert ran.out.startswith("GRAPH  all 16 states within the bounds\n  die-hard, variant default; no bounds\n")
    assert "  states by depth, from 0 on: 1, 2, 3, 2, 2, 2, 2, 2\n" in ran.out
    assert "least 2, median 4, most 4, mean 3.62\n" in ran.out
    assert "  steps: 96, of which 38 idle; edges drawn between states: 58\n" in ran.out
    assert "  strongly connected components: 1, the largest of 16; states on a cycle with others: 16\n" in ran.out
    assert "  violated: not_solved(), 2 times\n" in ran.out
    assert ran.out.endswith(f"  Reproduce: kwalk explore {DIE_HARD} --graph\n")
    assert [path.relative_to(tmp_path) for path in (tmp_path / "kwalk-out").iterdir()] == [ran.file("Graph")]


def test_the_file_has_every_state_and_every_edge(kwalk):
    drawn = picture(kwalk("explore", "--graph", DIE_HARD))
    assert drawn.name == "die-hard" and list(drawn.states) == [f"s{number}" for number in range(16)]
    loops = [edge for edge in drawn.edges if edge[0] == edge[1]]
    assert len(drawn.edges) - len(loops) == 58 and len(loops) == 16
    assert label(drawn.defaults["graph"])[1] == "all 16 states within the bounds"
    assert label(drawn.states["s0"]) == ["0, initial, quiescent"]
    assert label(drawn.states["s5"]) == ["5, quiescent", "small 0 → 3", "big 5 → 2"]
    assert label(drawn.states["s13"]) == ["13, quiescent", "small 2 → 3", "big 5 → 4", "violates not_solved()"]
    assert label(drawn.edges["s0", "s1"]) == ["fill_small()"]
    assert len(label(drawn.edges["s0", "s0"])) == 4 and drawn.edges["s0", "s0"]["style"] == "dotted"


def test_what_is_special_about_a_state_shows_in_its_frame(kwalk):
    drawn = picture(kwalk("explore", "--graph", LOST_UPDATE)).states
    initial = {name for name, state in drawn.items() if state.get("penwidth") == "3"}
    ends = {name for name, state in drawn.items() if state.get("shape") == "octagon"}
    quiescent = {name for name, state in drawn.items() if state.get("peripheries") == "2"}
    red = {name for name, state in drawn.items() if "filled" in state["style"]}
    assert (len(initial), len(ends), len(quiescent), len(red)) == (1, 3, 3, 1)
    assert initial == {name for name, state in drawn.items() if "initial" in label(state)[0]}
    assert ends == {name for name, state in drawn.items() if "dead end" in label(state)[0]}
    assert quiescent == {name for name, state in drawn.items() if "quiescent" in label(state)[0]}
    assert red == {name for name, state in drawn.items() if any(line.startswith("violates") for line in label(state))}


def test_a_step_that_violates_a_property_is_red(kwalk):
    ran = kwalk("explore", "--graph", REFERENCE, *SMALL, "--property", "boxes_only_fill", "--most", 1000)
    drawn = picture(ran)
    red = [name for name, edge in drawn.edges.items() if "color" in edge]
    assert red and all(label(drawn.edges[name])[-1] == "violates boxes_only_fill(0)" for name in red)
    assert "  violated: boxes_only_fill(0), " in ran.out and "no_card_stays" not in ran.out


def test_a_capped_graph_says_what_is_left_out(kwalk):
    ran = kwalk("explore", "--graph", REFERENCE, "--most", 20)
    found = re.search(r"^GRAPH  the first 20 states \(capped\): at least (\d+) states more left out", ran.out)
    assert found and "about the drawn states" in ran.out
    assert re.search(r"by depth, from 0 on: 1, 6, \d+ \(13 drawn\), at least \d+ \(0 drawn\)\n", ran.out)
    drawn = picture(ran)
    assert len(drawn.states) == 20 and {name for edge in drawn.edges for name in edge} <= set(drawn.states)
    assert f"at least {found[1]} states more left out" in label(drawn.defaults["graph"])[1]
    dashed = [state for state in drawn.states.values() if "dashed" in state["style"]]
    assert dashed and all(re.fullmatch(r"→ \d+ states? left out", label(state)[-1]) for state in dashed)
    assert ran.out.endswith(f"kwalk explore {REFERENCE} --most 20 --graph\n")


def test_initial_states_that_are_left_out_are_counted(kwalk):
    ran = kwalk("explore", "--graph", "ewd840", "--most", 5)
    assert ran.out.splitlines()[0].endswith(" more left out, those initial or one step away")
    assert "one step away" in label(picture(ran).defaults["graph"])[1]


def test_a_graph_of_every_scenario_can_be_read():
    for scenario in announced().values():
        graph = explore(Model(scenario), most=5)
        drawn = read_dot(dot_text(Drawing(graph)))
        between = sum(one != other for one, other in drawn.edges)
        assert (len(drawn.states), between) == (len(graph.nodes), statistics_of(graph).edges)


def test_json_says_the_same_and_every_field_is_documented(kwalk):
    found = kwalk("explore", "--graph", REFERENCE, "--most", 20, "--json").object
    assert (found["states"], found["interrupted"], found["exit_code"]) == (20, False, 0)
    assert sum(depth["drawn"] for depth in found["depths"]) == 20
    assert sum(depth["states"] for depth in found["depths"]) == 20 + found["left_out"]
    assert len(read_dot(Path(found["file"]).read_text("utf-8")).states) == 20
    fields = {*found, *found["depths"][0], *found["branching"]}
    assert [field for field in fields if f"`{field}`" not in SCRIPTS] == []


def test_a_state_can_say_every_part_that_varies(kwalk):
    drawn = picture(kwalk("explore", "--graph", DIE_HARD, "--label", "state"))
    values = {tuple(line for line in label(state)[1:] if "violates" not in line) for state in drawn.states.values()}
    assert len(values) == 16 and ("small 3", "big 4") in values


def test_initial_states_say_how_they_differ():
    from tests.search.post_office import post_office

    drawn = read_dot(dot_text(Drawing(explore(post_office()))))
    initial = [label(state)[1:3] for state in drawn.states.values() if "initial" in label(state)[0]]
    assert initial == [["at 0", "weather sun"], ["at 1", "weather sun"], ["at 1", "weather rain"]]


def test_idle_steps_of_one_action_are_drawn_as_one(kwalk):
    drawn = picture(kwalk("explore", "--graph", "two-phase-commit"))
    labels = {line for (one, other), edge in drawn.edges.items() if one == other for line in label(edge)}
    one = {f"{name}({number}), idle" for name in RECEIVED for number in range(3)}
    assert labels == one | {f"{name} ×{times}, idle" for name in RECEIVED for times in (2, 3)}


@pytest.mark.parametrize("labels", LABELS)
def test_hostile_names_stay_text(labels):
    model = Model(labelled({"houses": NASTY[:2], "seals": NASTY[2:5]}))
    text = dot_text(Drawing(explore(model, most=200), labels, 'kwalk explore --graph "x\n}\\'))
    drawn = read_dot(text)
    assert list(drawn.states) == [f"s{number}" for number in range(200)]
    assert {character for character in text if not character.isprintable()} == {"\n"}
    lines = [line for state in drawn.states.values() for line in label(state)]
    assert any("&lt;b&gt;" in line for line in lines) and any("a\\x0ab" in line for line in lines)
    assert any("back\\slash\\N\\" in line for line in lines) and any(NASTY[0] in line for line in lines)


def test_a_quoted_text_is_one_token():
    for name in NASTY:
        read = read_dot(f"digraph g {{ graph [label={quoted([name, name])}]; }}")
        assert len(label(read.defaults["graph"])) == 2
        assert read_dot(f"digraph {quoted([name], plain=True)} {{ }}").name


def test_other_bounds_go_to_another_file(kwalk, tmp_path):
    for size in (1, 2):
        kwalk("explore", "--graph", REFERENCE, "--most", 3, "--bound", f"miles={size}")
    kwalk("explore", "--graph", REFERENCE, "--most", 3, "--bound", "miles=1")
    assert len(list((tmp_path / "kwalk-out").iterdir())) == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("die-hrd",), ["Did you mean 'die-hard'?"]),
        ((DIE_HARD, "--most", "0"), ["argument --most", "'0' is not a whole number in 1 … "]),
        ((DIE_HARD, "--variant", "2"), ["No variant named '2'"]),
        ((DIE_HARD, "--bound", "x=2"), ["No bound named 'x'"]),
        ((DIE_HARD, "--flag", "x=on"), ["'x'"]),
        ((DIE_HARD, "--property", "x"), ["No property named 'x'"]),
        ((DIE_HARD, "--label", "x"), ["argument --label"]),
        (("tests.search.post_office:BROKEN", "--most", "1000"), ["overflow() leaves its domain", "happens after"]),
    ],
)
def test_what_makes_no_sense_is_refused(kwalk, tmp_path, words, expected):
    assert_refused(kwalk("explore", "--graph", *words), *expected)
    assert left_in(tmp_path) == set()


def test_a_folder_that_is_no_use_is_refused_before_anything_runs(kwalk, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr("kwalk.reports.handlers.graph.explore", None)
    assert_refused(kwalk("explore", "--graph", DIE_HARD, "--out", "taken"), "Cannot write to 'taken'")
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_full_disk_leaves_the_figures_and_no_file(kwalk, tmp_path, monkeypatch):
    synced = []

    def full(handle):
        synced.append(handle)
        if len(synced) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    ran = kwalk("explore", "--graph", DIE_HARD)
    assert_refused(ran, "no space left on device", printed=True)
    assert ran.out.startswith("GRAPH  all 16 states") and "Graph:" not in ran.out
    assert left_in(tmp_path) == set()


def test_an_interrupted_graph_is_drawn_as_far_as_it_is_known(kwalk, monkeypatch):
    visit, visits = graphs.Visit, []

    def interrupted(model, vector):
        visits.append(vector)
        if len(visits) > 5:
            raise KeyboardInterrupt
        return visit(model, vector)

    monkeypatch.setattr(graphs, "Visit", interrupted)
    ran = kwalk("explore", "--graph", DIE_HARD)
    assert ran.code == 3 and ran.out.startswith("GRAPH  the first 5 states (interrupted): at least ")
    assert len(picture(ran).states) == 5


def test_the_help_knows_the_defaults(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["explore", "--help"])
    shown = capsys.readouterr().out
    assert f"(default: {MOST})" in shown and "{" + ",".join(LABELS) + "}" in shown
