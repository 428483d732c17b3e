"""What makes an operator's act harmful while something else is wrong with a cluster, and what comes first.

A way out has *acts* (`Act`), which its kind states: it starts brokers, stops them, or lets the controller fail over. A
*hazard* is a kind of finding that makes some acts harmful, for as long as nothing was done about it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from attrs import frozen

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.finding_kinds import Act
from kwalk.model.language.inspection import FindingKind, Observation

OF_IDS = (
    kinds.LEADER_REFUSES,
    kinds.LEADER_REFUSES_MIXED,
    kinds.FETCH_REFUSED,
    kinds.FETCH_REFUSED_MIXED,
    kinds.REPLICA_REFUSES,
    kinds.STALE_IN_ISR,
    kinds.EARLIER_LOG,
    kinds.MEMBER_AHEAD,
    kinds.DIVERGED,
    kinds.WITHOUT_STATE_SERVED,
    kinds.IDS_MIXED,
    kinds.ID_DIFFERS,
    kinds.ID_SENT,
    kinds.DOWN_WITH_ANOTHER_LOG,
    kinds.REPLICA_OF_ANOTHER,
)
"""Kinds about topic ids, whose way out depends on the lineages of logs."""
OF_MISSING_STATES = (kinds.WITHOUT_STATE, kinds.WITHOUT_STATE_SERVED, kinds.STATE_IS_LOST, kinds.NO_LIVE_REPLICA)
OF_STRAYS = (kinds.STRAY_LOG, kinds.ORPHANED_LOG)
OF_STATES = (kinds.STATE_BEHIND_LOGS, kinds.STATE_BEHIND_UNNOTICED)
OF_LAST_COPIES = (
    kinds.RECORDS_ARE_LOST,
    kinds.RECORDS_ELSEWHERE,
    kinds.LAST_COPY_IS_DELETED,
    kinds.LAST_COPY_MOVES,
    kinds.LOG_SET_ASIDE,
    kinds.DOWN_WITH_ANOTHER_ID,
    kinds.TWO_DIRECTORIES,
)
"""Kinds about records of which a broker may have the last copy."""
OF_NO_REPLICAS = (kinds.ORPHANED_LOG, kinds.LOGS_ONLY, kinds.PARTITION_LOST)
"""Kinds about logs of partitions of which ZooKeeper has no replicas."""
IN_MEMORY = (kinds.LEADER_REFUSES_IN_MEMORY, kinds.FETCH_REFUSED_IN_MEMORY, kinds.ID_DIFFERS_IN_MEMORY)
"""Kinds about topic ids that brokers may hold in memory only."""
LED = (kinds.LEADER_DOES_NOT_LEAD, kinds.LEADER_IGNORES_STATE, kinds.LEADER_OUTSIDE_ISR, kinds.ISR_REPEATS, *IN_MEMORY)
"""Kinds whose way out restarts leaders."""


@frozen
class Hazard:
    """A kind of finding that makes acts harmful.

    Attributes:
        kinds: the kinds; their own ways out see to it.
        acts: the acts that it makes harmful.
        first: what has to be done before, with {} for the places; one sentence for each broker if it has {broker}.
        place: what a sentence says of a finding.
    """

    kinds: tuple[FindingKind, ...]
    acts: Act
    first: str
    place: Callable[[Observation], str] = attrgetter("subject")


UNTIL_EPOCHS_RISE = (kinds.FETCH_REFUSED, kinds.FETCH_REFUSED_MIXED, kinds.ID_DIFFERS, kinds.IDS_MIXED)
"""Kinds of topics that leaders serve until their leader epochs rise, as they do when a broker of the ISR stops."""
GARBLED = "see to partition.metadata of {} on broker {broker}, which is garbled"
CHOOSE = "choose which records to keep of {}, whose logs differ"
WOULD_LEAD = "see to {} of broker {broker}, which is another log: without it the broker would lead with nothing"
COMPARE = "collect the logs that {} of broker {broker} is compared with, and keep all until then"
COPY = "copy {} of broker {broker}, with records that the leader lacks, to another place"
COPY_DELETED = "copy the directory of {} on broker {broker} that it would delete"
COPIES = (COPY, COPY_DELETED, COMPARE)
"""What harms nothing: no way out comes before it."""
HAZARDS = (
    Hazard((kinds.ID_MISSING,), Act.FAIL_OVER, "write the topic id of {}: a failover mints others"),
    Hazard(kinds.OF_LOST_TOPICS, Act.FAIL_OVER | Act.START, "find out whether ZooKeeper's earlier data is left"),
    Hazard(
        (kinds.ISR_MEMBER_HAS_NO_LOG,),
        Act.FAIL_OVER,
        "see that each live ISR member of {} has its log: one without may be elected",
    ),
    Hazard(
        (kinds.NO_REPLICAS,),
        Act.FAIL_OVER,
        "write the replicas of {} into the znode of the topic: no controller starts without",
    ),
    Hazard(
        (kinds.PARTITION_LOST,),
        Act.FAIL_OVER,
        "put {} back into the znode of the topic: after a failover its records cannot be read",
    ),
    Hazard(
        (kinds.SHARED_ID,),
        Act.FAIL_OVER,
        "give the topics of one id ({}) their own: no controller starts with it",
        attrgetter("detail"),
    ),
    Hazard(
        OF_MISSING_STATES,
        Act.ANY,
        "see to {}, which has logs and no state znode: its first live replica would lead, whatever its log has",
    ),
    Hazard(
        (kinds.ID_DIFFERS, kinds.IDS_MIXED),
        Act.ANY,
        "see to the log of {} with another topic id, whose broker may be elected",
    ),
    Hazard(
        (kinds.ID_SENT,),
        Act.STOP | Act.START,
        "see to {}, of which the controller sends another topic id than ZooKeeper has: who starts may refuse it",
    ),
    Hazard(
        (kinds.LEADER_BY_HAND, kinds.LEADERLESS_BY_HAND),
        Act.ANY,
        "write the state of {}, whose leader was written by hand",
    ),
    Hazard((kinds.ISR_BY_HAND,), Act.ANY, "write the state of {}, whose ISR was written by hand"),
    Hazard((kinds.IDS_NOT_READ,), Act.ANY, "find out which logs of {} are the topic's"),
    Hazard(
        (kinds.CONTROLLER_EPOCH_BEHIND,),
        Act.FAIL_OVER | Act.START,
        "set /controller_epoch, which is below that of a state",
    ),
    Hazard(
        (kinds.DELETION_OF_LATER_LOGS,),
        Act.FAIL_OVER | Act.START,
        "see to the mark for deletion of {}, whose logs may be later",
    ),
    Hazard(
        (kinds.DELETION_NOT_BEGUN,), Act.START | Act.STOP, "see to the mark for deletion of {}, which brokers serve"
    ),
    Hazard((kinds.RECORDS_ELSEWHERE,), Act.ANY, "see to {}, whose records are on brokers that are no replicas"),
    Hazard(
        (kinds.ORPHANED_LOG,),
        Act.START,
        "see to {}, whose topic ZooKeeper has not: brokers that start delete its records by their own retention",
    ),
    Hazard((kinds.NO_CLUSTER_ID,), Act.START, "create /cluster/id with the id of the log directories"),
    Hazard(
        (kinds.EARLIER_LOG, kinds.MEMBER_AHEAD, kinds.REPLICA_REFUSES, kinds.STALE_IN_ISR, kinds.REPLICA_OF_ANOTHER),
        Act.ANY,
        "see to {}, of which a broker has a log of another topic",
    ),
    Hazard((kinds.EMPTY_ISR,), Act.ANY, "see to {}, whose ISR is empty: choose who leads it next"),
    Hazard(
        (kinds.LEADER_OUTSIDE_ISR, kinds.FOREIGN_ISR),
        Act.STOP | Act.FAIL_OVER,
        "see to {}, whose leader is not in the ISR, or whose ISR has a broker that is no replica",
    ),
    Hazard(OF_STATES, Act.FAIL_OVER | Act.START, "write the state of {}, which is older than the logs"),
    Hazard(
        (kinds.DIVERGED,),
        Act.ANY,
        "see to {}, of which ISR members have different records: the others take what an elected one has",
    ),
    Hazard((kinds.RECORDS_ARE_LOST,), Act.ANY, COPY),
    Hazard(kinds.OF_LACKING, Act.ANY, "see to {}, of which an ISR member lacks records: it may be elected"),
    Hazard((kinds.LAST_COPY_IS_DELETED,), Act.START, COPY_DELETED),
    Hazard(
        (kinds.UNCLEAN_AHEAD,),
        Act.ANY,
        "see to {}, of which a replica outside of the ISR is elected by itself (unclean.leader.election.enable)",
    ),
    Hazard((kinds.DISK_OF_ANOTHER,), Act.START, "see to the log directory of {} that is another's"),
    Hazard((kinds.IN_KRAFT_MODE,), Act.START, "set {} back to ZooKeeper mode"),
    Hazard((kinds.GARBLED_ID,), Act.START, GARBLED),
    Hazard((kinds.GARBLED_CHECKPOINT,), Act.START, "move the garbled checkpoint of {} away"),
    Hazard((kinds.TWO_DIRECTORIES,), Act.START, "see to {}, which broker {broker} has in two log directories"),
    Hazard(
        (kinds.MISNAMED,),
        Act.START,
        "see to the directory of {} on broker {broker}, which may have the log of another partition",
    ),
    Hazard((kinds.DOWN_WITH_ANOTHER_LOG,), Act.START, "move {} away on broker {broker}"),
    Hazard((kinds.DOWN_WITH_ANOTHER_ID,), Act.START, "see to {} of broker {broker}, with another topic id"),
)
"""What comes before an act, in the order of sentences."""


RANKS = {kind.name: number for number, hazard in enumerate(HAZARDS) for kind in hazard.kinds}
"""Which of two kinds comes first whose ways out wait for each other: the one with the lower number; others before all.

Neither is safe before the other: the first one then says that the other belongs to it.
"""
