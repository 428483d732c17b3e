"""Stories about an ensemble whose configuration an operator changes by editing zoo.cfg and restarting servers."""

from __future__ import annotations

from kwalk.invariants import ensembles
from kwalk.model.language import Scenario, actions_of, default_bounds
from kwalk.model.zookeeper import ensemble as zookeeper
from kwalk.model.zookeeper import operator, zab
from kwalk.model.zookeeper.ensemble import (
    FIRST_SIZE,
    SERVERS,
    VARIANTS,
    Ensemble,
    Phase,
    Process,
    ServerState,
)

ENSEMBLE = (
    ensembles.one_leader_is_active,
    ensembles.epoch_has_one_leader,
    ensembles.committed_write_is_kept,
    ensembles.current_epoch_is_accepted,
    ensembles.follower_has_its_leaders_history,
    ensembles.new_leader_has_a_new_epoch,
    ensembles.new_leader_has_a_quorum,
    ensembles.logged_write_is_committed,
    ensembles.majorities_intersect,
    ensembles.service_is_available,
    ensembles.leader_changes,
)
GROWN = (*ENSEMBLE, ensembles.change_is_rolled_out)


def serving_ensemble(ensemble: Ensemble) -> None:
    """Server 1 leads the first servers in epoch 1; the others have an empty disk and were never started."""
    ensemble.size = FIRST_SIZE
    for n in SERVERS:
        server = ensemble.servers[n]
        if n < FIRST_SIZE:
            server.configuration, server.accepted_epoch, server.current_epoch = FIRST_SIZE, 1, 1
            server.state, server.phase = ServerState.FOLLOWING, Phase.BROADCAST
            server.leader = 0
        else:
            server.process = Process.STOPPED
    ensemble.servers[0].state, ensemble.servers[0].leader = ServerState.LEADING, None


GROWTH = Scenario(
    name="ensemble-growth",
    story="An ensemble of three servers grows to five: zoo.cfg is edited, and servers are restarted in any order.",
    state=Ensemble,
    initial=serving_ensemble,
    actions=actions_of(zab, operator),
    properties=GROWN,
    bounds={**default_bounds(zookeeper), "servers": 5, "first_size": 3, "last_size": 5, "epochs": 3, "writes": 1},
    flags={
        "edits": True,
        "waits": False,
        "new_first_leaving_last": False,
        "leader_last": False,
        "one_at_a_time": False,
    },
    variants=VARIANTS,
    source="ZooKeeper 3.4.9 and 3.5.9: QuorumMaj, FastLeaderElection, Leader, Learner",
)
GROWTH_NEW_SERVERS_FIRST = GROWTH.varied(
    name="ensemble-growth-new-servers-first",
    story="Both new servers are started, then the followers are restarted, and the leader last; each step is checked.",
    properties=(*GROWN, ensembles.crash_is_tolerated),
    bounds={"crashes": 1},
    flags={"waits": True, "new_first_leaving_last": True, "leader_last": True},
)
GROWTH_ONE_AT_A_TIME = GROWTH_NEW_SERVERS_FIRST.varied(
    name="ensemble-growth-one-at-a-time",
    story="All servers get a configuration of four before any gets one of five; each step is checked.",
    flags={"one_at_a_time": True},
)
TWO_SERVERS_STOPPED = GROWTH.varied(
    name="ensemble-two-servers-stopped",
    story="Two of five servers are stopped for good, and every zoo.cfg keeps listing them.",
    properties=(*ENSEMBLE, ensembles.crash_is_tolerated),
    bounds={"first_size": 5, "last_size": 3, "crashes": 1},
    flags={"edits": False},
)
RETIREMENT_ONE_AT_A_TIME = GROWTH_ONE_AT_A_TIME.varied(
    name="ensemble-retirement-one-at-a-time",
    story="Two of five servers leave, one after the other: each time all that stay get a configuration without it.",
    bounds={"first_size": 5, "last_size": 3},
)

SCENARIOS = (
    GROWTH,
    GROWTH_NEW_SERVERS_FIRST,
    GROWTH_ONE_AT_A_TIME,
    TWO_SERVERS_STOPPED,
    RETIREMENT_ONE_AT_A_TIME,
)
