"""Consumer groups: which releases break what, by the shortest way; what closes it; and what holds in every state."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.groups import SCENARIOS as GROUP_SCENARIOS
from kwalk.model.kafka.groups.state import ConsumerStatus, GroupCluster, GroupState
from kwalk.model.kafka.groups.versions import FIXES, RELEASES, VARIANTS
from kwalk.model.language import Kind, Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Strength, Verdict
from tests.kafka.broken import Broken
from tests.kafka.lengths import shortest
from tests.kafka.trials import audited
from tests.structure.rooms import ROOT

STORIES = {scenario.name: scenario for scenario in GROUP_SCENARIOS}
JOINED = "start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) replicate(0)"
COMMITTED = f"{JOINED} commit(0,0) replicate(0)"
MOVED = f"{COMMITTED} elect(1,1) handle_leader_and_isr(1,0) run_task(1,0)"
CRASHED = "start(0) join_group(0,0) crash(0) complete_join(0) expire_heartbeat(0,0) complete_join(0) replicate(0)"
THERE = "start(0) elect(1,1) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(1,0)"
AND_BACK = "elect(0,1) handle_leader_and_isr(0,1) handle_leader_and_isr(1,0) run_task(0,0) run_task(0,0) run_task(1,0)"
AWAY = "handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(0,0) find_coordinator(0) run_task(1,0)"
BROKEN = (
    (
        Broken(
            "group_with_an_offset_is_listed(0)",
            "consumer-group-removal",
            "0.10.0",
            f"{JOINED} commit(0,0) leave_group(0,0) complete_join(0) replicate(0)",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group-reassigned-partition",
            "0.10.1",
            f"""
            {JOINED} reassign(1) handle_leader_and_isr(1,0) run_task(1,0) handle_stop_replica(0) replicate(1)
            replicate(1)
            """,
        ),
        "0.10.2",
    ),
    (
        Broken(
            "recreated_topic_has_no_offset(0)",
            "consumer-group-recreated-topic",
            "0.10.1",
            f"{COMMITTED} recreate_topic() handle_deleted_partitions(0) handle_deleted_partitions(1)",
        ),
        "0.10.2",
    ),
    (Broken("committed_offset_is_kept(1)", "consumer-group", "0.10.2", MOVED), "1.0"),
    (Broken("committed_offset_is_kept(1)", "consumer-group", "0.11.0.0", MOVED), "1.0"),
    (
        Broken(
            "committed_offset_is_kept(0)",
            "consumer-group-retention",
            "2.0",
            f"{COMMITTED} retention_passes() clean_up(0)",
        ),
        "2.3",
    ),
    (
        Broken(
            "young_offset_is_kept(1)",
            "consumer-group-retention-after-a-move",
            "2.1.0",
            f"""
            {JOINED} commit(0,0) leave_group(0,0) complete_join(0) elect(1,1) handle_leader_and_isr(1,0) run_task(1,0)
            clean_up(1)
            """,
            flags={"old_records": True},
        ),
        "2.3",
    ),
    (
        Broken(
            "offset_is_kept_from_empty_on(1)",
            "consumer-group-retention-after-a-move",
            "2.3",
            f"""
            {JOINED} commit(0,0) leave_group(0,0) retention_passes() complete_join(0) elect(1,1)
            handle_leader_and_isr(1,0) run_task(1,0) clean_up(1)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group-compaction",
            "2.3",
            """
            start(0) join_group(0,0) crash(0) complete_join(0) expire_heartbeat(0,0) complete_join(0) clean_up(0)
            replicate(0) clean(1) elect(1,1) start(0) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0)
            run_task(0,0)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "rebalance_ends()",
            "consumer-group-stalled-member",
            "2.4.1",
            """
            start(0) start(1) join_group(0,0) crash(0) join_group(1,0) complete_join(0) sync_group(1,0,1)
            """,
            bounds={"pauses": 0, "consumer_stops": 1},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "dead_member_is_removed(0)",
            "consumer-group-removal",
            "2.4.1",
            "start(0) join_group(0,0) crash(0) complete_join(0)",
        ),
        "2.8.0",
    ),
    (
        Broken(
            "committed_offset_is_kept(0)",
            "consumer-group-retention",
            "2.8.0",
            """
            start(0) start(1) join_group(0,0) complete_join(0) sync_group(0,0,0) replicate(0) commit(0,0)
            leave_group(0,0) complete_join(0) join_group(1,0) replicate(0) retention_passes() clean_up(0)
            """,
        ),
        "2.8.2",
    ),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group-static-member",
            "2.3",
            """
            start(0) join_group(0,0) crash(0) start(0) complete_join(0) join_group(0,0) sync_group(0,0,1) replicate(0)
            replicate(0)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "settled_static_member_is_not_fenced(0)",
            "consumer-group-static-member",
            "2.3",
            f"""
            start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) start(0) join_group(0,0) replicate(0)
            sync_group(0,0,1) elect(1,1) {AWAY} heartbeat(0,1)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "static_member_can_join(0)",
            "consumer-group-static-member",
            "2.3",
            """
            start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) elect(1,1) start(0)
            handle_leader_and_isr(1,0) run_task(1,0) join_group(0,1)
            """,
        ),
        "2.4.1",
    ),
    (
        Broken(
            "rebalance_ends()",
            "consumer-group-stalled-member",
            "2.8.0",
            """
            start(0) start(1) join_group(0,0) join_group(1,0) complete_join(0) sync_group(1,0,1) stall(0,1)
            """,
        ),
        "2.8.2",
    ),
    (Broken("partition_is_consumed()", "consumer-group-there-and-back", "2.8.0", f"{THERE} {AND_BACK}"), "2.8.2"),
)
"""The shortest way to what each fix closes, in a release without it; and a release in which that way breaks nothing."""
NEVER_FIXED = (
    Broken(
        "deleted_group_stays_deleted(1)",
        "consumer-group-removal",
        "3.9.0",
        f"{CRASHED} delete_group(0) elect(1,0) handle_leader_and_isr(1,0) run_task(1,0)",
    ),
    Broken(
        "removed_group_stays_removed(1)",
        "consumer-group-removal",
        "3.9.0",
        f"{CRASHED} clean_up(0) elect(1,0) handle_leader_and_isr(1,0) run_task(1,0)",
    ),
    Broken(
        "group_is_never_listed_twice()",
        "consumer-group-removal",
        "3.9.0",
        """
           start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) elect(1,1) handle_leader_and_isr(1,0)
           run_task(1,0)
           """,
    ),
    Broken(
        "recreated_topic_has_no_offset(1)",
        "consumer-group-recreated-topic",
        "3.9.0",
        f"""
           {COMMITTED} elect(1,1) handle_leader_and_isr(1,0) recreate_topic() handle_deleted_partitions(0)
           handle_deleted_partitions(1) run_task(1,0)
           """,
    ),
    Broken(
        "static_member_is_not_fenced(0)",
        "consumer-group-static-member",
        "3.9.0",
        f"""
           start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) start(0) join_group(0,0)
           complete_join(0) elect(1,1) {AWAY} sync_group(0,1,1)
           """,
    ),
    Broken(
        "only_the_last_generation_commits()",
        "consumer-group-slow-unload",
        "3.9.0",
        """
           elect(1,1) start(1) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(1,0) join_group(1,1)
           complete_join(1) sync_group(1,1,1) replicate(1) elect(0,1) handle_leader_and_isr(0,0) commit(0,0)
           """,
    ),
    Broken(
        "committed_offset_is_kept(0)",
        "consumer-group-there-and-back",
        "3.9.0",
        """
           elect(1,1) start(0) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(1,0) join_group(0,1)
           complete_join(1) sync_group(0,1,0) replicate(1) commit(0,1) replicate(1) elect(0,1)
           handle_leader_and_isr(0,1) run_task(0,0) run_task(0,0)
           """,
    ),
)
"""The shortest way to what no release closes."""
COUNTS = {
    ("consumer-group", "2.8.2"): (417_997, 2_672, {}),
    ("consumer-group-compaction", "3.9.0"): (105_688, 1_456, {}),
    ("consumer-group-recreated-topic", "3.9.0"): (10_728, 67, {"recreated_topic_has_no_offset": 13}),
    ("consumer-group-removal", "0.10.0"): (
        35_639,
        350,
        {
            "operator_deletes_the_group": None,
            "loaded_group_is_that_of_the_log": 7,
            "group_is_never_listed_twice": 8,
            "group_with_an_offset_is_listed": 9,
            "committed_offset_is_kept": 10,
            "removed_group_stays_removed": 11,
            "stable_group_is_stored": 11,
            "records_are_in_order": 18,
        },
    ),
    ("consumer-group-removal", "3.9.0"): (
        80_765,
        471,
        {"group_is_never_listed_twice": 7, "removed_group_stays_removed": 11, "deleted_group_stays_deleted": 11},
    ),
    ("consumer-group-reassigned-partition", "2.8.2"): (1_459, 21, {}),
    ("consumer-group-retention", "2.8.2"): (42_531, 2_319, {}),
    ("consumer-group-retention-after-a-move", "2.8.2"): (257_306, 1_686, {}),
    ("consumer-group-slow-unload", "3.9.0"): (284_911, 115, {"only_the_last_generation_commits": 12}),
    ("consumer-group-stalled-member", "2.8.2"): (34_217, 1_277, {}),
    ("consumer-group-static-member", "3.9.0"): (38_274, 124, {"static_member_is_not_fenced": 15}),
    ("consumer-group-there-and-back", "3.9.0"): (
        109_804,
        461,
        {"committed_offset_is_kept": 15, "stable_group_is_stored": 15},
    ),
}
"""Distinct and quiescent states, and how short the ways to what is broken are; None: a witness is not reached."""


def judged(broken: Broken, variant: str) -> list[bool | None]:
    """Whether each state of a behaviour violates the property, in a release; it ends where a step cannot be taken."""
    model = Model(STORIES[broken.story], variant, broken.bounds, broken.flags)
    (prop,) = model.properties_of(broken.prop)
    states = [model.initial[broken.start]]
    for key in broken.actions:
        after = model.attempt(model.instance(key), states[-1]).after
        if after is None:
            break
        states.append(after)
    earlier = (None, *states[:-1]) if prop.kind is Kind.STEP else [None] * len(states)
    return [model.violates(prop, state, before) for before, state in zip(earlier, states, strict=True)]


def searched(name: str, variant: str) -> Verdict:
    return exhaust(Model(STORIES[name], variant), keep_going=True)


@pytest.mark.parametrize(("broken", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_breaks_a_later_one_does_not(broken, later):
    assert judged(broken, broken.variant) == [False] * len(broken.actions) + [True]
    assert not any(judged(broken, later))


@pytest.mark.parametrize("broken", NEVER_FIXED, ids=lambda broken: broken.invariant)
def test_what_no_release_fixes_is_broken_by_the_last_step_of_a_behaviour(broken):
    assert judged(broken, broken.variant) == [False] * len(broken.actions) + [True]


def test_every_property_that_a_story_breaks_says_what_users_and_operators_see():
    properties = {prop for scenario in GROUP_SCENARIOS for prop in scenario.properties}
    for prop in properties - {prop for prop in properties if prop.kind is Kind.REACHABLE}:
        assert prop.about and prop.symptom and prop.log


def state_after(name: str, variant: str, steps: str, **bounds: int) -> GroupCluster:
    model = Model(STORIES[name], variant, bounds)
    return model.state(run(model, model.initial[0], [key.replace(",", ", ") for key in steps.split()])[-1])


def test_a_group_is_created_by_the_first_join_and_is_in_the_log_when_its_leader_has_synced():
    cluster = state_after("consumer-group", "0.10.0", "start(0) join_group(0,0)")
    assert cluster.coordinators[0].group.state is GroupState.PREPARING_REBALANCE
    assert cluster.partition.log.is_empty
    cluster = state_after("consumer-group", "0.10.0", JOINED)
    assert (cluster.coordinators[0].group.state, cluster.coordinators[0].group.generation) == (GroupState.STABLE, 1)
    assert [(record.generation, record.is_tombstone) for record in cluster.partition.log] == [(1, False)]


@pytest.mark.parametrize(
    ("variant", "state", "tombstones"),
    [("0.10.0", GroupState.DEAD, [False, True]), ("0.10.1", GroupState.EMPTY, [False, False])],
)
def test_a_group_that_loses_its_last_member_is_removed_in_0_10_0_and_becomes_empty_later(variant, state, tombstones):
    cluster = state_after("consumer-group-removal", variant, f"{JOINED} leave_group(0,0) complete_join(0)")
    assert cluster.coordinators[0].group.state is state
    assert [record.is_tombstone for record in cluster.partition.log] == tombstones


def test_a_consumer_of_another_protocol_is_refused():
    steps = f"{JOINED} start(1) join_group(1,0)"
    cluster = state_after("consumer-group", "3.9.0", steps, other_protocols=1)
    assert cluster.consumers[1].status is ConsumerStatus.REFUSED
    assert cluster.coordinators[0].group.state is GroupState.STABLE


def test_a_version_flag_is_on_from_the_release_that_brought_it():
    since = {name: [release for release in RELEASES if VARIANTS[release][name]] for name in VARIANTS["2.8.2"]}
    assert since["load_whole_log"] == [release for release in RELEASES if release != "0.11.0.0"]
    for name in ("expire_stable_only", "coordinator_epoch", "pending_sync_expires"):
        assert since[name] == ["2.8.2", "3.9.0"]
    assert set(RELEASES) - set(since["delete_groups"]) == {"0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0"}
    assert set(RELEASES) - set(since["empty_groups_stay"]) == {"0.10.0"}
    assert since["stale_cache_is_fenced"] == since["removal_waits"] == []


def test_every_version_flag_has_a_fix():
    assert {fix.flag.name for fix in FIXES} == VARIANTS["2.8.2"].keys()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("variant", "states", "found"),
    [("0.10.1", 67, {"recreated_topic_has_no_offset": 10}), ("0.10.2", 71, {})],
)
def test_while_the_coordinator_stays_the_offsets_of_a_deleted_topic_go_since_0_10_2(variant, states, found):
    verdict = exhaust(Model(STORIES["consumer-group-recreated-topic"], variant, {"moves": 0}), keep_going=True)
    assert (verdict.strength, verdict.distinct_states, shortest(verdict)) == (Strength.EXHAUSTIVE, states, found)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "variant"), COUNTS)
def test_a_search_of_all_states_finds_what_is_broken_and_nothing_else(name, variant):
    verdict = searched(name, variant)
    found = (verdict.distinct_states, verdict.quiescent_states, shortest(verdict))
    assert (verdict.strength, found) == (Strength.EXHAUSTIVE, COUNTS[name, variant])
    untested = {key.partition("(")[0] for key, count in verdict.premises.items() if not count}
    later = {
        "deleted_group_stays_deleted": "delete_groups",
        "deletion_removes_the_group": "delete_groups",
        "removed_offset_has_a_tombstone": "delete_groups",
        "offset_belongs_to_a_group": "empty_groups_stay",
    }
    assert untested <= {prop for prop, flag in later.items() if not VARIANTS[variant][flag]}


@pytest.mark.parametrize(
    ("page", "name", "variant"),
    [
        ("consumer-groups", "consumer-group", "2.8.2"),
        ("consumer-groups", "consumer-group-compaction", "3.9.0"),
        ("committed-offsets", "consumer-group-retention", "2.8.2"),
        ("committed-offsets", "consumer-group-retention-after-a-move", "2.8.2"),
        ("stalled-members", "consumer-group-stalled-member", "2.8.2"),
        ("static-members", "consumer-group-static-member", "3.9.0"),
    ],
)
def test_a_page_has_the_number_of_states(page, name, variant):
    text = (ROOT / "docs" / "stories" / f"{page}.md").read_text(encoding="utf-8")
    assert f"{COUNTS[name, variant][0]:,} states" in " ".join(text.split())


@pytest.mark.thorough
def test_what_each_fix_closes_and_where_it_has_a_hole():
    assert audited(FIXES) == {
        "empty_groups_stay": [("closes", 9, -292), ("has a hole", 11, 12)],
        "stop_replica_unloads": [("closes", 11, -1_556)],
        "deleted_topics_lose_offsets": [("closes", 10, -71), ("has a hole", 10, 13)],
        "load_to_log_end": [("closes", 10, -1_640)],
        "load_whole_log": [("closes", 10, -1_640)],
        "delete_groups": [("closes", None, -80_765), ("makes worse", -47_197, 11)],
        "retention_from_empty": [("closes", 9, -42_531)],
        "expire_stable_only": [("closes", 13, -42_531)],
        "unset_expiry_is_none": [("closes", 12, -276_648)],
        "state_time_is_loaded": [("closes", 13, -257_306)],
        "load_ends_at_gap": [("closes", 14, -105_688)],
        "new_members_expire": [("closes", 7, -3_472), ("closes", 4, -80_765)],
        "static_membership": [("closes", None, -38_274), ("makes worse", -28_976, 15)],
        "static_ids_are_random": [("closes", 10, -31_118)],
        "static_rejoin_rebalances": [("closes", 9, -38_274)],
        "static_rejoin_is_stored": [("closes", 16, -38_274)],
        "heartbeat_while_completing": [("makes worse", -34_047, 7)],
        "pending_sync_expires": [("closes", 7, -34_217)],
        "coordinator_epoch": [("closes", 11, -109_804), ("makes worse", -118_300, 15)],
        "stale_cache_is_fenced": [("closes", 12, -270_541), ("closes", 15, -92_135)],
        "removal_waits": [("closes", 11, -65_270), ("closes", 11, -65_270)],
    }
