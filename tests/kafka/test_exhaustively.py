"""What holds of the old client's story in every state within its bounds, and how short its shortest harm is."""

from __future__ import annotations

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength, Verdict
from tests.kafka.lengths import shortest


def searched(variant: str, *invariants: str, keep_going: bool = False, **bounds: int) -> Verdict:
    model = Model(OLD_CLIENT_EXPANSION, variant, bounds)
    properties = tuple(prop for name in invariants for prop in model.properties_of(name)) or None
    return exhaust(model, properties=properties, keep_going=keep_going)


def test_when_a_new_client_expands_only_a_lost_expansion_is_ever_wrong_and_replica_ids_always_agree():
    verdict = searched("2.8.2", keep_going=True, expansions=0, new_expansions=1, brokers=2)
    assert (verdict.strength, verdict.distinct_states) == (Strength.EXHAUSTIVE, 169_166)
    assert shortest(verdict) == {"no_partition_lost": 4}
    assert all(verdict.premises.values())
    taken = {key.partition("(")[0] for key, count in verdict.action_counts.items() if count.taken}
    assert taken >= {"stop", "crash", "restart", "broker_startup", "broker_failure", "controller_moved"}


def test_in_2_8_2_one_failover_alone_makes_no_replica_differ():
    verdict = searched("2.8.2", keep_going=True, restarts=0)
    assert (verdict.distinct_states, verdict.quiescent_states, verdict.bounds_hit) == (39_821, 56, {})
    assert shortest(verdict) == {
        "no_partition_lost": 4,
        "zk_id_not_erased": 4,
        "topic_id_stable": 8,
        "context_agrees": 11,
    }


def test_in_3_9_0_one_failover_alone_makes_every_replica_differ():
    verdict = searched("3.9.0", keep_going=True, restarts=0)
    assert (verdict.quiescent_states, verdict.bounds_hit) == (44, {})
    assert shortest(verdict)["replica_id_matches_zookeeper"] == 21
    assert "partition_servable" not in shortest(verdict)
