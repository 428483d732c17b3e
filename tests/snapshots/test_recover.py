"""Plans that repair captured clusters: the steps, what they claim, and what is said if there is none."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.invariants.reading.carried_out_plans import CARRIED_OUT
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import Actor, Model, Scenario, action, flag, require, state, when_quiescent
from kwalk.model.language.recovery import Move, Problem, Procedure, World
from kwalk.reports.command_line import main
from kwalk.search.analyses.recovery import Recovery, foresee, plan_recovery
from tests.examples.reading import parts_of, squeezed
from tests.snapshots import test_inspect as damages
from tests.snapshots.captured import FILES, changed
from tests.snapshots.test_incident_page import BROKEN, text_of
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "recover-a-cluster.md"
OLD_ID = "hbcto079Q-K_O7AoNlw-Ig"
LATENT = "scenario-01-05-produce-consume"


def problem(damage) -> Problem:
    def change(capture: dict) -> None:
        damages.settled(capture)
        damage(capture)
        if damage is not damages.partition_without_state:  # brokers that know its leader still serve it
            damages.settled(capture)

    return recovery_problem(changed(change))


def names(recovery: Recovery) -> list[str]:
    assert recovery.plan is not None
    return [one.name for one in recovery.plan.procedures]


def only(found: Problem, *worlds: str) -> Problem:
    """The problem with these worlds only."""
    kept = [number for number, world in enumerate(found.worlds) if world.name in worlds]

    def moves(one):
        return evolve(one, moves=tuple(one.moves[number] for number in kept))

    return evolve(
        found,
        worlds=tuple(found.worlds[number] for number in kept),
        procedures=tuple(map(moves, found.procedures)),
        what_ifs=tuple(map(moves, found.what_ifs)),
    )


@pytest.mark.parametrize(
    ("damage", "steps"),
    [
        (damages.id_is_missing, [f"write-topic-id t {OLD_ID}"]),
        (damages.id_differs, [f"write-topic-id t {OLD_ID}", "fail-over"]),
        (damages.leader_refuses, [f"write-topic-id t {OLD_ID}", "fail-over"]),
        (damages.ids_are_mixed, ["restart-without-metadata-files t 1 2 3"]),
        (damages.files_are_edited, ["restart 1 2 3"]),
        (damages.files_are_gone_and_fetches_refused, ["restart 1 2 3"]),
        (damages.leader_is_stuck, ["fail-over"]),
        (damages.isr_is_down, ["start-broker 3"]),
        (damages.orphaned_log, ["move-directories gone 2"]),
    ],
)
def test_each_damage_has_the_plan_that_the_page_names(damage, steps: list[str]) -> None:
    recovery = plan_recovery(problem(damage), seconds=300)
    assert (names(recovery), recovery.healthy) == (steps, False)
    assert recovery.plan is not None and recovery.plan.at_any_moment


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("damage", "steps"),
    [
        (damages.stray_log, ["move-directories t 3"]),
        (damages.deletion_hangs, ["fail-over"]),
        (damages.partition_without_state, ["write-states-of-first-leaders", "fail-over"]),
    ],
)
def test_damages_with_deletions_have_the_plan_that_the_page_names(damage, steps: list[str]) -> None:
    assert names(plan_recovery(problem(damage), seconds=300)) == steps


def test_a_partition_of_which_the_controller_may_not_know_is_not_waited_for() -> None:
    """Its znode may be unread; or the controller has dropped the event, and only the next one creates it."""

    def unserved(capture: dict) -> None:
        damages.partition_without_state(capture)
        damages.settled(capture)

    (world,) = (one for one in recovery_problem(changed(unserved)).worlds if one.name == "t-1")
    assert len(world.initial) == 2


def test_the_controller_and_the_leader_know_a_state_that_is_lost() -> None:
    """Without failover no controller creates the state; the leader has its followers in an ISR of its own."""
    (world,) = (one for one in problem(damages.partition_without_state).worlds if one.name == "t-1")
    (state,) = world.initial
    with world.model.active():
        cluster = world.model.state(state)
        (controller,) = (one.controller for one in cluster.brokers if one.controller.is_active)
        (leader,) = (number for number in range(3) if cluster.replica_of(number, 0, 0).is_leader)
        isr = cluster.replica_of(leader, 0, 0).replication.isr
        known = controller.topics[0].leadership[0]
        assert (known.leader, known.leader_epoch, known.isr) == (leader, 0, isr) and len(isr) > 1
        assert not cluster.zookeeper.state_of(0, 0).exists and not controller.events


def test_a_dead_broker_in_the_isr_needs_no_operator() -> None:
    assert plan_recovery(problem(damages.dead_in_isr)).healthy


def test_no_restart_is_planned_where_the_id_on_disk_was_not_read() -> None:
    """With another id on disk a restart leaves the partition without a leader."""
    found = problem(damages.fetches_are_refused_and_logs_not_read)
    assert found.uncovered == ("fetch-by-id-refused-not-read",)
    assert names(plan_recovery(found)) == []


def test_the_id_that_is_written_must_fit_all_partitions_of_the_topic() -> None:
    """After the failover of 2.8.2 old partitions have the old id in files, new ones the new id."""
    found = recovery_problem(FILES["scenario-01-08g-controller-failover-again"])
    alone = plan_recovery(only(found, "t-0"), seconds=300, faults=0)
    assert names(alone) == [f"write-topic-id t {OLD_ID}", "fail-over"]
    together = plan_recovery(only(found, "t-0", "t-2"), seconds=300, faults=0)
    assert names(together) == ["restart-without-metadata-files t 1 2 3"]


@pytest.mark.thorough
def test_a_failover_while_files_are_removed_may_need_another_restart_of_every_broker() -> None:
    """The next controller is elected while the one before still initializes: a replica is not informed."""
    found = recovery_problem(FILES["scenario-01-08g-controller-failover-again"])
    both = only(found, "t-0", "t-2")
    recovery = plan_recovery(both, seconds=600)
    assert names(recovery) == ["restart-without-metadata-files t 1 2 3"] * 2
    assert recovery.plan is not None and recovery.plan.early[0]


@pytest.mark.thorough
def test_an_isr_with_a_broker_that_is_no_replica_gets_it_back_and_loses_it() -> None:
    """A crash of the broker while its log is deleted leaves a stray log, so that the plan has the step twice."""

    def foreign(capture: dict) -> None:
        damages.foreign_isr(capture)
        del capture["brokers"]["3"]["dirs"]["t-0"]

    recovery = plan_recovery(problem(foreign), seconds=600)
    assert set(names(recovery)) == {"put-back t 3"}


def test_what_defeats_the_candidates_is_not_looked_for_where_there_is_a_plan() -> None:
    found = plan_recovery(copying("copy", "write"))
    assert (names(found), found.defeats) == (["write"], ())


def test_without_the_procedure_that_helps_there_is_no_plan_and_each_candidate_has_a_trace() -> None:
    found = only(problem(damages.id_is_missing), "t-0")
    left = tuple(one for one in found.procedures if one.name == "fail-over")
    alone = evolve(found, procedures=left)
    recovery = plan_recovery(alone, seconds=300)
    assert (recovery.plan, recovery.best, recovery.complete) == (None, None, True)
    (defeat,) = recovery.defeats
    assert defeat.violated == {"replica_id_matches_zookeeper"}
    assert defeat.deeds[0].description == "deletes /controller"


@state
class Copying:
    """A file that is missing, is being copied, is torn or is whole."""

    copying: bool = flag()
    torn: bool = flag()
    whole: bool = flag()


OPERATOR, SYSTEM, FAULT = Actor("operator", system=False), Actor("system"), Actor("fault", system=False)


@action(by=OPERATOR, description="begins to copy")
def copy(files: Copying) -> None:
    """The copy takes a step of the system."""
    files.copying = True


@action(by=OPERATOR, description="writes the file")
def write(files: Copying) -> None:
    """An atomic write, also over a torn file."""
    files.torn, files.whole = False, True


@action(by=SYSTEM, description="ends the copy")
def end_copy(files: Copying) -> None:
    """The file is whole."""
    require(files.copying)
    files.copying, files.whole = False, True


@action(by=FAULT, description="crashes")
def crash(files: Copying) -> None:
    """Only a copy that is under way is torn."""
    require(files.copying)
    files.copying, files.torn = False, True


@when_quiescent(symptom="the file cannot be read")
def file_is_whole(files: Copying) -> bool:
    """The claim."""
    return files.whole and not files.torn


COPYING = Scenario(
    name="copying",
    story="A file is copied.",
    state=Copying,
    actions=(copy, write, end_copy, crash),
    properties=(file_is_whole,),
    bounds={},
    variants={"only": {}},
)


def copying(*names: str) -> Problem:
    model = Model(COPYING, "only")
    world = World("the file", model, model.initial, model.properties, faults=("crash()",), plain=True)
    costs = {"copy": 1, "write": 2}
    procedures = (Procedure(name, f"{name}.", ((Move(((f"{name}()",),)),),), costs[name]) for name in names)
    return Problem(inspect_snapshot(FILES[LATENT]), (world,), tuple(procedures))


def test_a_fault_strikes_between_two_steps_of_the_system_too() -> None:
    """At rest the copy is never torn, so that a plan that copies would be safe if faults struck only there."""
    assert names(plan_recovery(copying("copy", "write"))) == ["write"]
    recovery = plan_recovery(copying("copy"))
    assert recovery.plan is None and recovery.best is not None
    assert (recovery.best.faults, recovery.best.at_any_moment) == (1, False)
    assert [deed.description for deed in recovery.defeats[0].deeds] == ["begins to copy", "crashes"]


@action(by=SYSTEM, description="replaces the file")
def replace(files: Copying) -> None:
    """A copy ends, also over a torn file."""
    require(files.copying)
    files.copying, files.torn, files.whole = False, False, True


@pytest.mark.parametrize(("shared", "is_safe"), [(("disk", "disk"), True), (("one disk", "another disk"), False)])
def test_an_operator_stops_where_all_worlds_are_in_order_and_a_fault_that_strikes_all_strikes_once(shared, is_safe):
    """A second copy repairs what the fault has torn; where no file is torn, the fault could strike the second one."""
    model = Model(COPYING.varied(actions=(copy, replace, crash)), "only")
    worlds = tuple(
        World(name, model, model.initial, model.properties, faults=("crash()",), shared=frozenset({name}), plain=True)
        for name in shared
    )
    again = Procedure("copy", "Copy.", ((Move((("copy()",),)),),) * 2, 1)
    recovery = plan_recovery(Problem(inspect_snapshot(FILES[LATENT]), worlds, (again,)))
    assert (recovery.plan is not None and recovery.plan.at_any_moment) is is_safe
    if is_safe:
        assert names(recovery) == ["copy", "copy"]


def test_what_would_happen_is_foreseen_as_real_clusters_showed_it() -> None:
    """`tests/captures`: the next failover mints an id; a crash of the controller leaves the old partitions unserved."""
    outlook = foresee(only(recovery_problem(FILES[LATENT]), "t-0"))
    after = {event.what_if.title: event.outcomes for event in outlook.events}
    assert after["the controller fails over"] == {frozenset({"replica_id_matches_zookeeper"})}
    assert all("partition_servable" in one for one in after["broker 1 crashes and starts again"])
    assert after["broker 2 restarts"] == outlook.now[0]
    assert outlook.compared > 0


def test_following_the_page_prints_what_it_shows(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    compared = 0
    for part in parts_of(PAGE):
        assert main(part.code.split()[1:]) == 0
        printed = squeezed(capsys.readouterr().out)
        for line in filter(None, map(squeezed, part.shown)):
            assert line in printed
            compared += 1
    assert compared == 15


def test_json_and_the_page_have_every_step_and_the_experiments_that_carried_it_out(capsys, tmp_path) -> None:
    markdown = tmp_path / "way.md"
    names = "recover-fresh-before-failover recover-before-failover"
    words = ["diagnose", str(FILES[LATENT]), "--plan", "--json", "--html", "--out", str(tmp_path)]
    assert main([*words, "--markdown", str(markdown)]) == 0
    (html,) = tmp_path.glob("incident-*.html")
    shown = json.loads(capsys.readouterr().out)
    assert (shown["answer"], " ".join(shown["carried_out"])) == ("plan", names)
    assert [step["name"] for step in shown["plan"]] == [f"write-topic-id t {OLD_ID}"]
    (step,) = shown["plan"]
    assert {"before", "after", "risk", "commands", "title"} <= set(step)
    scripts = (ROOT / "docs" / "reference" / "scripts.md").read_text("utf-8")
    assert [field for field in (*shown, *step) if f"`{field}`" not in scripts] == []
    for page in (text_of(html.read_text()), text_of(markdown.read_text())):
        assert step["title"] in page and all(" ".join(command.split()) in page for command in step["commands"])
        assert f"kwalk lab reproduce {names}" in page and OLD_ID in page


def test_the_plans_that_were_carried_out_are_those_of_the_lab() -> None:
    for plan in CARRIED_OUT:
        case = EXPERIMENTS[plan.name].run.keywords["case"]
        assert all(plan.damage == set(case.kinds[release]) for release in plan.releases)
        assert len(plan.steps) == len({*plan.steps}), "the steps of a plan are compared once each"


def test_a_plan_of_other_steps_or_against_other_damage_was_not_carried_out() -> None:
    problem = recovery_problem(FILES[LATENT])
    fail_over = next(one for one in problem.procedures if one.name == "fail-over")
    assert problem.carried_out and not problem.carried_out_as([fail_over])
    assert not recovery_problem(FILES[BROKEN]).carried_out_as([fail_over])


def test_a_healthy_cluster_needs_nothing(capsys) -> None:
    assert main(["diagnose", "--plan", str(FILES["scenario-01-exact-06-delete-controller"])]) == 0
    assert "NOTHING TO DO" in capsys.readouterr().out


def test_a_topic_created_again_over_old_logs_comes_with_a_choice() -> None:
    def recreated(capture: dict) -> None:
        damages.settled(capture)
        damages.topic(capture)["version"] = 0
        damages.znode_id(capture, "C" * 22)

    found = recovery_problem(changed(recreated))
    premises = [found.premise, *(one.premise for one in found.alternatives)]
    assert premises[:2] == [
        "to keep the records that topic t has on broker 1, 2 and 3",
        "to begin topic t with empty logs",
    ]
