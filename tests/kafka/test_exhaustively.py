"""What holds of the old client's story in every state within its bounds, and how short its shortest harm is."""

from __future__ import annotations

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength, Verdict
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned


def searched(variant: str, **bounds: int) -> Verdict:
    model = Model(OLD_CLIENT_EXPANSION, variant, bounds)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    return verdict


def test_when_a_new_client_expands_only_a_lost_expansion_is_ever_wrong_and_replica_ids_always_agree():
    verdict = searched("2.8.2", expansions=0, new_expansions=1, brokers=2)
    assert shortest(verdict).keys() == {"no_partition_lost"}
    assert all(verdict.premises.values())
    taken = {key.partition("(")[0] for key, count in verdict.action_counts.items() if count.taken}
    assert taken >= {"stop", "crash", "restart", "broker_startup", "broker_failure", "controller_moved"}


def test_in_2_8_2_one_failover_alone_makes_no_replica_differ():
    verdict = searched("2.8.2", restarts=0)
    assert verdict.bounds_hit == {}
    assert shortest(verdict).keys() == {"no_partition_lost", "zk_id_not_erased", "topic_id_stable", "context_agrees"}


def test_in_3_9_0_one_failover_alone_makes_every_replica_differ():
    verdict = searched("3.9.0", restarts=0)
    assert verdict.bounds_hit == {}
    assert "replica_id_matches_zookeeper" in shortest(verdict)
    assert "partition_servable" not in shortest(verdict)
