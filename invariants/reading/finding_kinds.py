"""The kinds of findings: what users notice now, what comes later, and the way out."""

from __future__ import annotations

from enum import IntFlag, auto

from attrs import evolve

from kwalk.invariants import controllers, deletion, partitions, sessions, topic_ids
from kwalk.model.kafka.snapshots.diagnosis import LATER_IDS
from kwalk.model.language.inspection import FindingKind, Severity


class Act(IntFlag):
    """What a way out does that may elect leaders, which other replicas follow, whatever their logs have."""

    NONE = 0
    START = auto()
    """It starts brokers that are down."""
    STOP = auto()
    FAIL_OVER = auto()
    """It has another controller elected."""
    RESTART = STOP | FAIL_OVER
    """It stops brokers that run, of which one may be the controller's, and starts them."""
    ANY = START | STOP | FAIL_OVER


BROKEN, LATENT, NOTE = Severity

REPAIR, FULL_ISR, BY_HAND, STRAY, DELETION = (
    "docs/stories/repair-topic-ids.md",
    "docs/stories/full-isr.md",
    "docs/stories/delete-by-hand.md",
    "docs/stories/stray-logs.md",
    "docs/stories/topic-deletion.md",
)
REFUSAL = (
    "state-change.log, ERROR: [Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided "
    "in the request: …. (3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)"
)
REFUSAL_GREP = ("grep -E 'Topic I[dD] in memory: .* does not match the topic I[dD]' logs/state-change.log*",)
ERASED = (
    "a client older than 2.8 wrote the topic's znode (kafka-topics.sh --zookeeper --alter), which drops its topic_id; "
    "the next controller minted another id, and the replicas keep the first one (KAFKA-14190)"
)
NOT_AVAILABLE = "clients get LEADER_NOT_AVAILABLE"
GREW = "partitions were added, or a log was created, while the controller had another topic id than the older replicas"


LEADER_DOES_NOT_LEAD = FindingKind(
    "leader-does-not-lead",
    BROKEN,
    "the leader in ZooKeeper does not lead",
    ("partition_servable",),
    now="consumers get UNKNOWN_LEADER_EPOCH; producers get NOT_LEADER_OR_FOLLOWER, or acks=all times out, unless all "
    "replicas refuse alike",
    later="if another snapshot a minute later shows it too, it stays",
    way_out="inspect again; if it is still so, restart the leader",
    story="docs/stories/failover-during-expansion.md",
    log=partitions.partition_servable.log,
    cause="the leader did not take up the leader epoch that ZooKeeper has: a LeaderAndIsr request was refused or lost, "
    "or is on its way",
    grep=(
        "grep -E 'since we sent an old leader epoch|since the leader epoch is old' logs/server.log*   "
        "# with kafka.cluster.Partition at DEBUG",
    ),
    acts=Act.RESTART,
)
CLIENTS_KEEP = (
    "; clients since 2.4 that have seen a later leader epoch keep to the earlier leader until they are started again, "
    "or the epoch is reached"
)
LEADER_IGNORES_STATE = evolve(
    LEADER_DOES_NOT_LEAD,
    name="leader-ignores-its-state",
    title="the leader in ZooKeeper ignores its state, as it has that leader epoch or a later one already",
    now="producers get NOT_LEADER_OR_FOLLOWER, or write where consumers do not read: these get NOT_LEADER_OR_FOLLOWER "
    "or FENCED_LEADER_EPOCH",
    later="it lasts until the leader restarts, or a controller raises the leader epoch above the one that it has"
    f"{CLIENTS_KEEP}",
    way_out="restart the leader",
    story="",
    log="state-change.log, INFO: Ignoring LeaderAndIsr request from controller … with correlation id … epoch … for "
    "partition … since its associated leader epoch … matches the current leader epoch",
    cause="the state was removed, restored or written by hand, so that its leader epochs began anew: a broker ignores "
    "requests at the epoch that it has in memory, or at an earlier one",
    grep=("grep -E 'its associated leader epoch' logs/state-change.log*",),
)
NOT_ELECTED = evolve(
    LEADER_DOES_NOT_LEAD,
    name="leader-not-elected",
    title="no live broker is the leader, though one is in the ISR",
    now=f"{NOT_AVAILABLE}, or cannot connect to the leader",
    later="it lasts until the controller elects a leader: at its next failover, or when a broker starts",
    way_out="take another snapshot after a minute; if it is still so, delete /controller: the next controller elects a "
    "live broker of the ISR",
    log="none: kafka-topics.sh --describe shows Leader: none, or a broker that is down, and a live broker under Isr",
    cause="a broker has just stopped or started, or the controller has not noticed that it did",
    grep=(),
    acts=Act.FAIL_OVER,
)
LEADER_REFUSES = evolve(
    LEADER_DOES_NOT_LEAD,
    name="leader-refuses-topic-id",
    title="the leader refuses ZooKeeper's topic id",
    later="it stays so: restarts and failovers do not repair it",
    way_out="write the id that the replicas have back into the topic's znode, then fail the controller over",
    story=REPAIR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
)
LEADER_REFUSES_MIXED = evolve(
    LEADER_REFUSES,
    name="leader-refuses-mixed-topic-ids",
    title="the leader refuses ZooKeeper's topic id, and replicas have different ones",
    way_out="no id in the znode fits all replicas: kwalk diagnose --plan says which logs to move away, or which "
    "brokers to restart without partition.metadata",
    cause=GREW,
)
LEADER_REFUSES_IN_MEMORY = evolve(
    LEADER_REFUSES,
    name="leader-keeps-topic-id-in-memory",
    title="the leader may hold another topic id in memory: its partition.metadata was removed or edited",
    later="it lasts until the broker restarts",
    way_out="restart every broker that has run since the files were removed or edited, one at a time",
    cause="partition.metadata was removed or edited while the broker ran: it keeps the id in memory until it stops",
)
UNTIL_LAST = "partitions may have no leader until the last of them has restarted"
IN_BETWEEN = (
    f"; {UNTIL_LAST}. If the topic was deleted and created again "
    "since the logs were written, these are of the earlier topic, and would become its own: move them away instead, "
    "while their brokers are stopped"
)
NO_LIVE_ISR = FindingKind(
    "no-live-isr",
    BROKEN,
    "no leader: every ISR member is down",
    ("partition_has_a_live_isr_member",),
    now=NOT_AVAILABLE,
    later="it lasts until an ISR member starts; an unclean election loses records",
    way_out="start a broker of the ISR",
    log=partitions.partition_has_a_live_isr_member.log,
    cause="the brokers of the ISR stopped one after the other, and the last one is down",
    acts=Act.START,
)
NO_LIVE_REPLICA = evolve(
    NO_LIVE_ISR,
    name="no-live-replica",
    title="a partition never had a leader, and all its replicas are down",
    properties=(),
    later="it lasts until one of the replicas starts; a deletion of the topic waits for all of them",
    way_out="start the brokers of the replicas; if there are none of these ids, do not delete the topic, which would "
    "wait for them: reassign the partition to brokers that run (kafka-reassign-partitions.sh --execute), and, whatever "
    "that answers, delete /controller: the next controller elects a leader",
    log="state-change.log, ERROR, at the end of the line: No assigned replica is alive.",
    cause="the topic was created with replicas on brokers that do not exist or are down (--replica-assignment, "
    "KAFKA-7382), or its znode was written by hand",
    grep=("grep 'No assigned replica is alive' logs/state-change.log*",),
    acts=Act.START | Act.FAIL_OVER,
)
NUMBER_MISSING = evolve(
    NO_LIVE_REPLICA,
    name="partition-number-is-missing",
    title="a topic lacks a partition, and has later ones",
    now="clients that ask for it get UNKNOWN_TOPIC_OR_PARTITION; producers that choose it by a key time out",
    later="it stays so: restarts and failovers do not repair it",
    way_out="keep every log that brokers have of it. Write its replicas into the znode's JSON, with the data version "
    "that was read, and inspect again before a controller fails over",
    log="none: kafka-topics.sh --describe leaves out a number",
    cause="the topic's znode was written by hand or by a tool",
    grep=(),
    acts=Act.NONE,
)
FETCH_REFUSED = FindingKind(
    "fetch-by-id-refused",
    BROKEN,
    "the leader refuses fetches that name ZooKeeper's topic id",
    ("leader_answers_fetches_by_id",),
    now="consumers of Kafka 3.1 and later read nothing (INCONSISTENT_TOPIC_ID); older consumers work, and producers as "
    "long as the followers' fetch sessions last",
    later="a follower whose connection to the leader fails is refused as well; from 3.3 on it stays in the ISR, and "
    "acks=all times out. At the next rise of a leader epoch the partition has no working leader",
    way_out="write the id that the replicas have back into the topic's znode, then fail the controller over",
    story=FULL_ISR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
    acts=Act.RESTART,
)
FETCH_REFUSED_IN_MEMORY = evolve(
    FETCH_REFUSED,
    name="fetch-by-id-refused-in-memory",
    title="the leader refuses fetches that name ZooKeeper's topic id: it has another one in memory",
    way_out=LEADER_REFUSES_IN_MEMORY.way_out + IN_BETWEEN,
    cause=LEADER_REFUSES_IN_MEMORY.cause,
)
FETCH_REFUSED_NOT_READ = evolve(
    FETCH_REFUSED,
    name="fetch-by-id-refused-not-read",
    title="the leader refuses fetches that name ZooKeeper's topic id, and its log directory was not read",
    properties=(),
    way_out="take a snapshot with the log directories (--logs), as partition.metadata decides; do not restart before",
    cause="the topic's znode has lost its id and got another one, or partition.metadata was edited as the broker ran",
    acts=Act.NONE,
)
FETCH_REFUSED_MIXED = evolve(
    FETCH_REFUSED,
    name="fetch-by-id-refused-mixed-topic-ids",
    title="the leader refuses fetches that name ZooKeeper's topic id, and replicas have different ones",
    way_out="no id in the znode fits all replicas: kwalk diagnose --plan says which logs to move away, or which "
    "brokers to restart without partition.metadata",
    cause=GREW,
)
REPLICA_REFUSES = FindingKind(
    "replica-refuses",
    BROKEN,
    "under-replicated for good: a replica refuses the controller",
    ("replicas_converge",),
    now="acks=all fails where min.insync.replicas needs the replica",
    later="when the remaining ISR members stop, the partition has no leader",
    way_out="write the id that the replicas have back into the topic's znode and fail the controller over; where "
    "replicas have different ids, kwalk diagnose --plan says which logs to move away",
    story=REPAIR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
    acts=Act.RESTART,
)
STALE_IN_ISR = evolve(
    REPLICA_REFUSES,
    name="isr-member-refuses",
    title="the ISR is full, and a member refuses the controller: it copies nothing",
    now="acks=all times out; records with acks=1 are on the other replicas only",
    later="the leader removes the member from the ISR replica.lag.time.max.ms after the first record that it lacks; a "
    "member that is elected before does not lead",
    way_out="stop the broker, move the directory away, and start it",
    story=STRAY,
    cause="the topic was created again, and the broker has the log of the earlier one",
)
EARLIER_LOG = FindingKind(
    "log-of-an-earlier-topic",
    BROKEN,
    "a replica's log has leader epochs that the partition never had",
    ("isr_has_only_own_records",),
    now="a broker that has run since then serves the earlier topic's log to producers and consumers; replicas may have "
    "different records at one offset",
    later="as brokers restart and leaders change, earlier records return or logs are truncated; 3.0 and later refuse "
    "the log once they have restarted",
    way_out="decide which records are wanted; on brokers with the other ones: stop the broker, move the directory "
    "away, and start it",
    story=STRAY,
    log=deletion.no_stray.log,
    cause="the topic was deleted while the broker was down, or removed by hand, and created again; brokers up to 2.8 "
    "do not compare the log with the topic",
    acts=Act.RESTART,
)
NOT_FOLLOWING = FindingKind(
    "isr-member-does-not-follow",
    BROKEN,
    "a member of the ISR that the leader knows does not follow it: it copies nothing",
    (),
    now="acks=all times out; records with acks=1 are on the other replicas only",
    later="the leader takes the member out of the ISR replica.lag.time.max.ms after the first record that it lacks; "
    "where the partition has no state, or a later one, it cannot",
    way_out="see to the state of the partition first, if another finding names it; otherwise take another snapshot "
    "after a minute and, if it is still so, restart the broker",
    log="none: kafka-topics.sh --describe shows the member under Isr",
    cause="the broker has restarted since the leader got its ISR, and no controller has told it of the partition; or "
    "it has just started",
    acts=Act.RESTART,
)
MEMBER_AHEAD = evolve(
    EARLIER_LOG,
    name="isr-member-is-ahead-of-its-leader",
    title="the log of an ISR member has leader epochs that its leader never had: it copies nothing",
    now="acks=all times out: the leader refuses the member's fetches (OFFSET_OUT_OF_RANGE), and each has other records",
    log="server.log of the member, INFO, again and again: Current offset … for partition … is out of range, which "
    "typically implies a leader change. Reset fetch offset to …",
    grep=("grep 'is out of range, which typically implies a leader change' logs/server.log*",),
)
DEAD_IN_ISR = FindingKind(
    "isr-names-a-dead-broker",
    BROKEN,
    "the ISR names a broker that is down",
    ("isr_members_live",),
    now="acks=all waits for it until the leader removes it (replica.lag.time.max.ms)",
    later="if it stays, the controller does not react to the loss of the broker",
    way_out="take another snapshot after a minute; if it is still so, start the broker or delete /controller",
    log=partitions.isr_members_live.log,
    cause="the broker has just stopped, or no controller has noticed that it did",
    acts=Act.START | Act.FAIL_OVER,
)
OFFLINE_LOG = FindingKind(
    "offline-log-directory",
    BROKEN,
    "no leader: the replica is on a disk that has failed, and its broker runs",
    ("partition_has_a_live_isr_member",),
    now=NOT_AVAILABLE,
    later="it stays so until the broker is restarted with its disk; an unclean election loses records",
    way_out="repair the disk, with the logs that it had (make room on a full one), and restart the broker",
    cause="the broker had an I/O error on a log directory, as of a full disk, and goes on with its others (KIP-112)",
    acts=Act.RESTART,
)
OFFLINE_REPLICA = evolve(
    OFFLINE_LOG,
    name="offline-replica",
    severity=LATENT,
    title="a replica is on a disk that has failed, and others serve the partition",
    properties=("replica_is_online",),
    now="acks=all fails where min.insync.replicas needs the replica",
    later="it stays so until the broker is restarted with the disk; when the remaining ISR members stop, the partition "
    "has no leader",
    way_out="repair or replace the disk, and restart the broker: the replica copies what it lacks from the leader",
)
ISR_MEMBER_HAS_NO_LOG = FindingKind(
    "isr-member-has-no-log",
    LATENT,
    "an ISR member's disk has no log of the partition",
    (),
    now="nothing while the process has the files open, which disks no longer show",
    later="once the broker has restarted, its log is empty; if it leads then, the other replicas truncate theirs",
    way_out="",
    log="server.log, as the next segment begins: Error while rolling log segment for … in dir …",
    cause="the directory was removed while the broker ran; or the partition has just been created, or the snapshot "
    "lacks one of the broker's log directories (`--logs` of kwalk collect)",
    grep=("grep 'Error while rolling log segment for' logs/server.log*",),
    acts=Act.RESTART,
)
MEMBER_LACKS_RECORDS = FindingKind(
    "isr-member-lacks-records",
    LATENT,
    "an ISR member's log lacks records that other replicas have",
    (),
    now="nothing while a broker that has the records leads",
    later="it may be elected: the others then truncate their logs to its log, and acknowledged records are lost",
    way_out="",
    log="server.log of the other replicas, once it leads: [UnifiedLog partition=…, dir=…] Truncating to offset …",
    cause="its disk was replaced or restored while it was down, and it was back before the controller noticed; or it "
    "copies what was produced just now",
    grep=("grep 'Truncating to offset' logs/server.log*",),
    acts=Act.RESTART,
)
LEADER_LACKS_RECORDS = evolve(
    MEMBER_LACKS_RECORDS,
    name="leader-lacks-records",
    severity=BROKEN,
    title="the leader's log lacks records that other replicas have",
    now="consumers cannot read these records, and producers write other ones at their offsets",
    later="each replica that fetches from the leader truncates its log: the last copies may be gone within seconds",
)
OF_LACKING = (LEADER_LACKS_RECORDS, MEMBER_LACKS_RECORDS)
STATE_BEHIND_LOGS = FindingKind(
    "state-is-behind-the-logs",
    BROKEN,
    "logs have leader epochs that ZooKeeper's state has not reached",
    ("state_has_the_latest_epoch",),
    now="brokers that have run since then refuse the controller's requests, whose leader epoch is smaller, and clients "
    "are told its leader: NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH; changes of the ISR fail",
    later="as brokers restart, they take up the smaller epoch: replicas may truncate acknowledged records, or keep "
    f"different ones{CLIENTS_KEEP}",
    way_out="",
    log="state-change.log, WARN: Ignoring LeaderAndIsr request from controller … with correlation id … epoch … for "
    "partition … since its associated leader epoch … is smaller than the current leader epoch …",
    cause="ZooKeeper was restored from a backup, or the state was written by hand; or the logs are of an earlier "
    "topic of the name, and had no id of their own",
    grep=("grep 'is smaller than the current leader epoch' logs/state-change.log*",),
    acts=Act.FAIL_OVER,
)
ANOTHER_ID = FindingKind(
    "replica-under-another-broker-id",
    BROKEN,
    "no leader: the replica's broker is gone, and another broker has a log of the partition",
    ("partition_has_a_live_isr_member",),
    now=NOT_AVAILABLE,
    later="it lasts until a broker with the replica's id and log starts",
    way_out="if the disk is the same, give the broker its earlier id again (broker.id in meta.properties, and in "
    "server.properties if it is set there), and start it; or, if it has replicas under the new one, move the directory "
    "to an empty broker of the earlier id, and start that; keep the directory",
    cause="a broker has got another id with the same disk: a lost meta.properties, a container under a new host name",
    acts=Act.START,
)
EMPTY_ISR = FindingKind(
    "empty-isr",
    BROKEN,
    "no leader: the ISR is empty",
    ("partition_has_a_live_isr_member",),
    now=NOT_AVAILABLE,
    later="no broker that starts ends it, as none is in the ISR",
    way_out="an unclean election, or a state znode that names the replica with the most records: records that it lacks "
    "are lost; compare the logs first",
    cause="the state znode was written by hand, or the last ISR member's disk failed while unclean elections are off",
    acts=Act.FAIL_OVER,
)
LEADS_WITHOUT_ISR = "the ISR is empty, and the leader leads on"
AS_THE_LEADER_KNOWS = (
    "producers and consumers go on, acks=all by the ISR that the leader has in memory; changes of the ISR fail"
)
"""What an empty ISR is, and does, while the leader of the state leads."""
DIVERGED = FindingKind(
    "replicas-diverged",
    BROKEN,
    "replicas in the ISR have different records at one offset",
    ("isr_has_only_own_records", "no_divergence"),
    now="consumers read other records after a change of leader",
    later="no request corrects it: logs are compared by leader epochs, not by records",
    way_out="decide which records are wanted; on a broker with the other ones: stop it, move the directory away, and "
    "start it",
    story=STRAY,
    log="none: kafka-dump-log.sh --files … --deep-iteration of two replicas shows it",
    cause="a replica took a log of an earlier topic of the name for its own; or a segment was removed, or cut, by hand "
    "or with a disk: nothing copies it again",
    acts=Act.RESTART,
)
STATE_BY_LOGS = (
    "with a controller_epoch of 0, a leader_epoch above those of the logs, and as leader and only ISR member the "
    "broker whose last record has the highest leader epoch, and of several the one whose log ends last"
)
TOPIC_BY_LOGS = (
    "the configuration of each topic in /config/topics, as retention.ms, or cleanup.policy=compact of "
    "__consumer_offsets: without it the brokers' own retention deletes the records; its znode, with the replicas and "
    f"the topic_id of the logs; and a state of each partition, {STATE_BY_LOGS}"
)
"""What ZooKeeper lacks of a topic that is lost. Kafka: LogManager.loadLog: a topic without a znode has defaults."""
LOST_FOR_GOOD = (
    "If it is lost for good, write while the brokers are stopped: /cluster/id with the cluster.id that meta.properties "
    "beside these logs has, if it is not there or another one, which no meta.properties may have then; "
    f"{TOPIC_BY_LOGS}; {LATER_IDS}"
)
TOPICS_ARE_LOST = FindingKind(
    "zookeeper-has-none-of-the-topics",
    BROKEN,
    "ZooKeeper has none of the topics whose logs brokers have",
    (),
    now="clients get UNKNOWN_TOPIC_OR_PARTITION, or create the topics anew (auto.create.topics.enable)",
    later="a topic that is created under one of the names is another one, and meets the old logs",
    way_out="move no log away, and let no client create topics. Find ZooKeeper's data first: zookeeper.connect with "
    "its chroot, the other servers of the ensemble, a backup. " + LOST_FOR_GOOD,
    story=STRAY,
    log="none: kafka-topics.sh --list prints no topic, or only new ones",
    cause="zookeeper.connect names another ensemble or chroot; or ZooKeeper's data is lost; or all topics were deleted "
    "while the brokers were down",
    acts=Act.FAIL_OVER,
)
SOME_TOPICS_ARE_LOST = evolve(
    TOPICS_ARE_LOST,
    name="zookeeper-has-lost-topics",
    title="ZooKeeper has lost topics whose logs brokers have",
    now="clients of these topics get UNKNOWN_TOPIC_OR_PARTITION, or create them anew (auto.create.topics.enable)",
    way_out="move no log away, not those of topics that were created again either, and let no client create topics. "
    "Find ZooKeeper's earlier data first: the other servers of the ensemble, a newer backup. " + LOST_FOR_GOOD,
    log="none: kafka-topics.sh --list lacks topics",
    cause="ZooKeeper's data was lost, or restored from an older backup, and some topics were created again since, by "
    "clients or by hand; or znodes were removed by hand",
)
OF_LOST_TOPICS = (TOPICS_ARE_LOST, SOME_TOPICS_ARE_LOST)
NO_METADATA = FindingKind(
    "broker-has-no-metadata",
    LATENT,
    "a registered broker has got nothing from the controller",
    (),
    now="clients that ask it see no topics; its replicas stay out of the ISR",
    later="if another snapshot a minute later shows it too, the controller does not act: so it is with each broker "
    "that starts, and no leader is elected when one stops",
    way_out="take another snapshot after a minute; if it is still so, delete /controller",
    story="docs/stories/authentication-failure.md",
    log="none: controller.log has no line about the broker, such as: Newly added brokers: …",
    cause="the broker has just started; or the broker in /controller has resigned and holds its session (KAFKA-13407), "
    "or does not reach this one",
    grep=("grep 'Newly added brokers' logs/controller.log*",),
    acts=Act.FAIL_OVER,
)
IN_KRAFT_MODE = FindingKind(
    "broker-in-kraft-mode-too-early",
    LATENT,
    "a broker that is not in ZooKeeper is in KRaft mode, and ZooKeeper leads the cluster",
    (),
    now="its replicas are out of the ISR; partitions that only it has, have no leader",
    later="with an image that lacks its topics it removes its logs, or sets them aside (-stray)",
    way_out="stop it, keep its log directories with those that end in -stray or -delete, and start it in ZooKeeper "
    "mode: without process.roles, and with zookeeper.metadata.migration.enable if the cluster is to migrate. A broker "
    "gets process.roles only when all metadata is copied. Where it is the only ISR member of a partition, do not start "
    "it with an empty log",
    story="docs/how-to/migrate-to-kraft.md",
    log="server.log: Kafka Server started, after lines of BrokerLifecycleManager",
    cause="process.roles=broker was set before the copy; or it is down after a rollback, and KRaft mode has left "
    "node.id in its meta.properties",
    acts=Act.RESTART,
)
NO_BROKER_IS_CONTROLLER = FindingKind(
    "controller-is-no-broker",
    LATENT,
    "/controller names a node that is no broker of this cluster",
    ("controller_lives",),
    now="if it is a KRaft controller of a migration, it works; if it is what a process that is gone has left, topics "
    "are not created, and no leader is elected when a broker stops",
    later="the same",
    way_out="do not delete /controller before you know: in a migration that begins a rollback. Look for "
    "kraftControllerEpoch in it, and for /migration: get /controller, get /migration in ZooKeeper",
    log="none: get /controller in ZooKeeper shows a brokerid that /brokers/ids does not have",
    cause="a migration to KRaft; or the session of a broker that was removed has not ended",
)
MIGRATION_UNSAFE = FindingKind(
    "migration-is-not-safe",
    LATENT,
    "a migration to KRaft is under way, and stops or loses something",
    (),
    now="each place says what; it may have happened already",
    later="each place says what: when KRaft's controller fails, brokers restart in KRaft mode, or the migration is "
    "rolled back",
    way_out="`kwalk diagnose --migration` says what each means, and how to get out; `kwalk diagnose --plan` plans it",
    log="controller.log of KRaft: Encountered ZooKeeper error during event … Will retry.",
    cause="an old client, a failure of KRaft's controller between two writes, or a znode that was deleted by hand",
    story="docs/how-to/migrate-to-kraft.md",
)
MIGRATION_NOT_SHOWN = FindingKind(
    "migration-is-not-shown",
    LATENT,  # what says nothing about KRaft's image must not pass for consistent
    "a migration to KRaft is under way, and the snapshot lacks what KRaft has",
    (),
    now="unknown: brokers follow KRaft's image, and ZooKeeper has what was written of it",
    later="unknown: what ZooKeeper lacks of it is lost in a rollback, and logs with other ids go in KRaft mode",
    way_out="copy __cluster_metadata-0 of a controller of KRaft, and take another snapshot",
    cause="the log of KRaft's controllers was not copied, or the copy was older than ZooKeeper",
    story="docs/how-to/migrate-to-kraft.md",
)
OF_MIGRATION = (MIGRATION_UNSAFE.name, MIGRATION_NOT_SHOWN.name)
"""The names of the kinds that say of a migration what `kwalk diagnose --migration` says."""
STATE_BEHIND_UNNOTICED = evolve(
    STATE_BEHIND_LOGS,
    name="state-is-behind-the-logs-unnoticed",
    severity=LATENT,
    title="logs have leader epochs that ZooKeeper's state has not reached, and no controller has read it",
    now="changes of the ISR fail",
    later="the next controller tells clients the state's leader, which the brokers that run refuse",
    log="none: the state is not read before the next failover",
    grep=(),
)
LOG_WITHOUT_ID = FindingKind(
    "log-without-topic-id",
    NOTE,
    "a log has no topic id, and its topic has one",
    (),
    now="nothing",
    later="a later topic of the name takes the log for its own",
    way_out="restart the broker of the log: it writes the id with the next LeaderAndIsr request, unless "
    "inter.broker.protocol.version is below 2.8; then inspect again",
    cause="the log was created before 2.8, or partition.metadata was removed",
    acts=Act.RESTART,
)
TWO_LEADERS = "ZooKeeper was restored from a backup, or a machine was cloned, so that one leader epoch had two leaders"
DOWN_WITH_ANOTHER_LOG = FindingKind(
    "down-broker-has-another-log",
    LATENT,
    "a broker that is down has another log than the other replicas",
    ("replica_id_matches_zookeeper", "isr_has_only_own_records"),
    now="nothing while it is down",
    later="when it starts, a broker of 3.0 and later refuses a log with another id: under-replicated for good; one "
    "before takes it, as all take one without id, or with the topic's, for its own, and replicas have different "
    "records at one offset",
    way_out="before it starts, move the directory away",
    story=STRAY,
    log=REFUSAL,
    cause=f"the topic was deleted, or removed by hand, and created again while the broker was down; or {TWO_LEADERS}",
    grep=REFUSAL_GREP,
    acts=Act.RESTART,
)
MISNAMED = evolve(
    DOWN_WITH_ANOTHER_LOG,
    name="directory-has-another-partitions-log",
    title="a directory of a broker that is down has the log of another partition",
    properties=("isr_has_only_own_records",),
    later="when it starts, it serves the records of the other partition, or copies its own partition's behind them: "
    "brokers compare topic ids, which partitions share, or logs lack",
    way_out="",
    log="none: the broker loads the directory as any other",
    cause="directories were renamed, swapped or copied while the broker was down",
    grep=(),
    acts=Act.NONE,
)
DOWN_WITH_ANOTHER_ID = evolve(
    DOWN_WITH_ANOTHER_LOG,
    name="down-broker-has-another-id",
    title="a broker that is down has the topic's records under another topic id",
    properties=("down_replica_fits",),
    later="when it starts, it refuses the log: under-replicated for good, and no leader where it is the only replica",
    way_out="",
    cause="the replicas' id was replaced while the broker was down, or an old copy of the directory was brought back",
    acts=Act.NONE,
)
REPLICA_OF_ANOTHER = evolve(
    DOWN_WITH_ANOTHER_LOG,
    name="replica-has-another-log",
    title="a live replica outside the ISR has a log that is no copy of the others",
    properties=("isr_has_only_own_records",),
    now="under-replicated",
    later="where leader epochs do not show the difference, it joins the ISR with other records; where they do, it "
    "truncates its log, which may be the last copy of its records",
    way_out="stop the broker, move the directory away, and start it",
    log=DIVERGED.log,
    cause="the topic was deleted, or removed by hand, and created again while the broker was down, and the log had no "
    f"id; or a directory was copied from elsewhere; or {TWO_LEADERS}",
    grep=(),
)
RECORDS_ARE_LOST = FindingKind(
    "replica-has-lost-records",
    LATENT,
    "a replica has committed records that the log of the leader, or of the next one, lacks",
    (),
    now="consumers cannot read these records: other ones have their offsets in the leader's log",
    later="the replica truncates its log when it fetches from the leader: the last copy of them may be gone then",
    way_out="",
    log="server.log of the replica, once it fetches: [UnifiedLog partition=…, dir=…] Truncating to offset …",
    cause="an unclean election (unclean.leader.election.enable, or kafka-leader-election.sh), or a state that was "
    "written by hand; or the leader-epoch-checkpoint is an old copy, and the records are the same",
    grep=("grep 'Truncating to offset' logs/server.log*",),
)
RECORDS_ELSEWHERE = FindingKind(
    "records-on-no-replica",
    BROKEN,
    "a broker that is no replica has records of a partition that its replicas lack",
    (),
    now="consumers cannot read these records: the replicas' logs are empty, or older",
    later="records that are written now get the offsets that they have; the log goes when the topic is deleted, or the "
    "cluster migrates to KRaft, and if the broker becomes a replica, it truncates the log to the leader's",
    way_out="",
    log="none: kafka-log-dirs.sh --describe shows the partition on a broker that is none of its replicas",
    cause="a disk was attached to another broker; or ZooKeeper was restored from a backup of before a reassignment, or "
    "replicas were written by hand",
    acts=Act.RESTART,
)
LOG_SET_ASIDE = FindingKind(
    "log-set-aside",
    LATENT,
    "a broker has set a log aside, and no ISR member shows a copy of it",
    (),
    now="its records are on the disk, and are not served",
    later="records that are written now get the offsets that it has",
    way_out="keep the directory, and let nobody write the topic before you know whether it was deleted and created "
    "again; if it was not, its records are there (kafka-dump-log.sh --print-data-log). No way back was tried in "
    "ZooKeeper mode",
    log="server.log, WARN: Log for partition … is marked as stray and renamed to …-stray",
    cause="a migration to KRaft that was rolled back: KRaft had another topic id than the log",
)
LAST_COPY_IS_DELETED = FindingKind(
    "log-is-deleted-of-which-no-replica-has-a-copy",
    LATENT,
    "a broker is about to delete a log whose records no replica in use shows",
    (),
    now="its records are on the disk, and are not served",
    later="a running broker removes the directory after file.delete.delay.ms (a minute); one that is down after its "
    "start",
    way_out="",
    log="server.log: Log for partition … is renamed to … and is scheduled for deletion",
    cause="the topic was deleted, or the replica moved away, or its broker started in KRaft mode with another topic id",
    grep=("grep -E 'scheduled for deletion|Deleted log for partition' logs/server.log*",),
)
LAST_COPY_MOVES = FindingKind(
    "moving-log-is-the-last-copy",
    LATENT,
    "a copy that was moved between log directories has records that no replica in use shows",
    (),
    now="its records are on the disk, and are not served",
    later="a move that is repeated or undone, or a deletion of the topic removes the directory",
    way_out="",
    log="none: kafka-log-dirs.sh --describe shows the log with isFuture",
    cause="the disk with the replica failed or was replaced while it moved to another one "
    "(kafka-reassign-partitions.sh with log_dirs), or the topic's znodes are gone",
)
DISK_OF_ANOTHER = FindingKind(
    "log-directory-of-another-broker",
    LATENT,
    "a log directory is that of another broker or cluster, by its meta.properties",
    (),
    now="nothing: a broker reads meta.properties when it starts",
    later="the broker does not start with this directory",
    way_out="find out whose disk it is: attach it to its own broker, or correct broker.id or zookeeper.connect. Do not "
    "remove or edit meta.properties before that: logs of another broker or cluster would enter partitions of the same "
    "names. If the process is a broker of the other cluster, leave it as it is, and take a snapshot without it",
    log="server.log: Configured broker.id … doesn't match stored broker.id … in meta.properties. (Another cluster: The "
    "Cluster ID … doesn't match stored clusterId … in meta.properties. Since 3.7: Stored node id … doesn't match "
    "previous node id … in …. and Invalid cluster.id in: …. Expected …, but read ….)",
    cause="a disk was attached to another machine, a configuration was copied, or zookeeper.connect names another "
    "cluster, or one whose data is lost",
    grep=('grep -E "doesn\'t match (stored|previous)|Invalid cluster.id" logs/server.log*',),
)
NO_CLUSTER_ID = FindingKind(
    "cluster-id-is-missing",
    LATENT,
    "ZooKeeper has no /cluster/id, and log directories have one",
    (),
    now="nothing: a broker reads it when it starts",
    later="the next broker that starts mints another id; no broker starts with the log directories that it has then",
    way_out="before a broker stops or starts, create /cluster/id with the id of the log directories: "
    '{"version":"1","id":"…"}. Do not remove or edit meta.properties',
    log="server.log: The Cluster ID … doesn't match stored clusterId … in meta.properties.",
    cause="the znode was removed, or is missing in what was copied from another ensemble",
    grep=('grep -E "doesn\'t match stored clusterId|Invalid cluster.id" logs/server.log*',),
)
ISR_REPEATS = FindingKind(
    "isr-repeats-a-broker",
    LATENT,
    "the ISR of a partition names a broker more than once",
    (),
    now="nothing",
    later="min.insync.replicas counts the broker twice",
    way_out="restart the leader: its next change of the ISR writes each broker once",
    log="none: kafka-topics.sh --describe shows a broker twice under Isr",
    cause="the state znode was written by hand",
    acts=Act.RESTART,
)
REPLICAS_REPEAT = FindingKind(
    "replicas-repeat-a-broker",
    LATENT,
    "the replicas of a partition name a broker more than once",
    (),
    now="the partition has fewer copies than its replication factor says, and counts as under-replicated",
    later="the same",
    way_out="reassign the partition to different brokers (kafka-reassign-partitions.sh --execute)",
    log="none: kafka-topics.sh --describe shows a broker twice under Replicas",
    cause="a tool, or a hand, has written the assignment into ZooKeeper",
)
GARBLED_ID = FindingKind(
    "partition-metadata-is-garbled",
    LATENT,
    "a file partition.metadata is truncated or garbled",
    (),
    now="nothing while the broker runs: it reads the file when it starts",
    later="the broker does not start, or starts without the whole log directory",
    way_out="",
    log="server.log, as the broker starts: Error while reading partition metadata file … (an empty file: a "
    "NullPointerException)",
    cause="the machine crashed, or its disk was full, while the file was written; or a hand wrote it",
    grep=("grep 'Error while reading partition metadata file' logs/server.log*",),
)
GARBLED_CHECKPOINT = FindingKind(
    "checkpoint-is-garbled",
    LATENT,
    "a checkpoint is truncated or garbled, of a broker that is down or a log directory that is offline",
    (),
    now="nothing while the broker is down",
    later="the log directory is offline once the broker has started: it has no replicas there",
    way_out="",
    log="server.log, as the broker starts: Error while reading checkpoint file …; Malformed line in checkpoint file",
    cause="the machine crashed, or its disk was full, while the file was written; or a hand wrote it",
    grep=("grep 'Error while reading checkpoint file' logs/server.log*",),
)
TWO_DIRECTORIES = FindingKind(
    "partition-in-two-log-directories",
    LATENT,
    "a broker has directories of one partition in two log directories",
    (),
    now="nothing while it runs, with the one that it has loaded",
    later="the broker does not start with both",
    way_out="",
    log="server.log: Duplicate log directories for … are found in both … and ….",
    cause="a disk failed while a replica moved between log directories; or a log directory that was taken out of "
    "log.dirs came back",
    grep=("grep 'Duplicate log directories' logs/server.log*",),
    acts=Act.RESTART,
)
REASSIGNMENT_WAITS = FindingKind(
    "reassignment-waits",
    LATENT,
    "a reassignment waits for a broker that is down, or whose disk has failed",
    ("replica_is_online",),
    now="the partition has the replicas of both assignments",
    later="it lasts until the broker starts with a disk that works; a topic that is deleted meanwhile waits, too",
    way_out="start the broker, or repair its disk and restart it",
    story="docs/stories/reassignment.md",
    cause="a broker that is to have a replica has stopped, or is gone",
    acts=Act.START | Act.RESTART,
)
REASSIGNMENT_IDLE = FindingKind(
    "reassignment-does-not-end",
    LATENT,
    "a reassignment does not end, though all replicas that the partition is to have are in the ISR",
    (),
    now="the partition has the replicas of both assignments",
    later="if another snapshot a minute later shows it too, it stays so; a topic that is deleted meanwhile waits, too",
    way_out="take another snapshot after a minute; if it is still so, delete /controller: the next controller ends it",
    story="docs/stories/reassignment.md",
    log="controller.log, ERROR: Error completing reassignment of partition …",
    cause="the controller has not noticed a change of the ISR; or it has failed to end it; or the topic's znode was "
    "written by hand",
    grep=("grep 'Error completing reassignment of partition' logs/controller.log*",),
    acts=Act.FAIL_OVER,
)

PARTITION_LOST = FindingKind(
    "partition-lost",
    BROKEN,
    "a partition has a state but the topic's znode does not list it",
    ("no_partition_lost",),
    now="the partition count has dropped; records of the partition are unreachable after the next failover",
    later="an expansion creates a new partition of that number, which meets the old logs",
    way_out="add the partition and its replicas to the znode's JSON with the data version that was read, then fail "
    "the controller over",
    story="docs/stories/two-admins.md",
    log="none: PartitionModifications handles new partitions only",
    cause="two admin clients wrote the topic's znode at once; the later one had read it before the other wrote",
    acts=Act.FAIL_OVER,
)
LOGS_ONLY = evolve(
    PARTITION_LOST,
    name="partition-is-in-logs-only",
    title="brokers have logs of a partition that the topic's znode does not list",
    properties=(),
    now="clients do not know the partition: its records are unreachable",
    way_out="move no log away, and add no partition. Stop the brokers, add the partition with these replicas to the "
    f"znode's JSON, and create its state, {STATE_BY_LOGS}",
    log="none: kafka-topics.sh --describe shows fewer partitions than brokers have directories",
    cause="ZooKeeper was restored from a backup of before partitions were added; or the logs are of an earlier topic "
    "of the name, which had more",
    acts=Act.RESTART,
)
NO_PARTITIONS = FindingKind(
    "topic-without-partitions",
    BROKEN,
    "the topic's znode lists no partition",
    (),
    now="clients get UNKNOWN_TOPIC_OR_PARTITION, unless a broker still serves the topic; no client can create it, as "
    "its znode exists",
    later="it stays so: restarts and failovers do not repair it",
    way_out="keep every log of it. If it had records, write, while the brokers are stopped, its partitions with their "
    f"replicas into the znode's JSON, with the topic_id of the logs, and a state of each, {STATE_BY_LOGS}: without a "
    "state the first live replica leads, whatever its log has",
    log="none: kafka-topics.sh --describe does not show the topic",
    cause="a tool, or a hand, has written the topic's znode",
    acts=Act.RESTART,
)
NO_REPLICAS = FindingKind(
    "partition-without-replicas",
    LATENT,
    "the topic's znode gives a partition no replica, or removes all that it has",
    (),
    now="the partition has its leader, if it had one, until that stops; preferred leaders of no topic are elected by "
    "themselves (auto.leader.rebalance.enable)",
    later="at the next failover no broker can become controller, since 2.7, if the partition has a state: each gives "
    "up as it reads it, or ends the reassignment that removes all (seen on 3.4.1); before, brokers delete the logs of "
    "a partition whose replicas are all removed (seen on 2.5.0); without a state a partition gets no leader",
    way_out="",
    log="controller.log, ERROR: [Controller id=…] Error while electing or becoming controller on broker …. Trigger "
    "controller movement immediately; NoSuchElementException",
    cause="a tool, or a hand, has written an empty list of replicas into the topic's znode, or all of them into "
    "removing_replicas",
    grep=("grep -A 1 'Error while electing or becoming controller' logs/controller.log*",),
    acts=Act.FAIL_OVER,
)
WITHOUT_STATE = FindingKind(
    "partition-without-state",
    BROKEN,
    "a partition never had a leader",
    ("partition_gets_a_leader",),
    now=NOT_AVAILABLE,
    later="it lasts until the next controller failover",
    way_out="take another snapshot after a minute; if it is still so, delete /controller",
    story=BY_HAND,
    log=deletion.partition_gets_a_leader.log,
    cause="the controller did not notice that the partition was created: its znode was written, or an earlier one "
    "removed, by hand",
    grep=("grep 'should be in one of NonExistentPartition states before moving' logs/state-change.log*",),
    acts=Act.FAIL_OVER,
)
WITHOUT_STATE_SERVED = evolve(
    WITHOUT_STATE,
    name="partition-without-state-is-served",
    severity=LATENT,
    title="a partition has no state in ZooKeeper, and brokers serve an earlier one of the name",
    now="brokers lead the logs of the earlier topic, of whose removal they were not informed; once one of them has "
    "restarted, acks=all times out",
    later="the controller elects no leader when a broker stops; at the next failover replicas get the present topic's "
    "id, and those that have the earlier one refuse it when a leader epoch rises",
    way_out="for the earlier records: write the earlier id into the topic's znode, then fail the controller over",
    cause="a topic's znodes were removed by hand, and the topic was created again",
    acts=Act.RESTART,
)
STATE_IS_LOST = evolve(
    WITHOUT_STATE_SERVED,
    name="partition-state-is-lost",
    title="a partition has lost its state in ZooKeeper, and brokers serve it by what they have in memory",
    now="changes of the ISR fail: acks=all times out when a follower stops",
    later="the controller elects no leader when the leader stops; the next controller begins at leader epoch 0, with "
    "the first live replica as leader: brokers that run refuse that, and as they restart they take it, and truncate "
    f"acknowledged records{CLIENTS_KEEP}",
    way_out="",
    cause="the state znode was removed by hand, or is missing in what was restored or copied; or, where no topic ids "
    "show it, the topic was created again",
)
NO_CONTROLLER = FindingKind(
    "no-controller",
    BROKEN,
    "the cluster has no live controller",
    ("cluster_has_a_controller", "controller_lives"),
    now="topics are not created, and no leader is elected when a broker stops; producers and consumers continue",
    later="each broker that stops takes its partitions with it",
    way_out="take another snapshot after a session timeout; if it is still so, delete /controller",
    story="docs/stories/authentication-failure.md",
    log=sessions.controller_lives.log,
    cause="the controller has resigned but holds its session, or /controller is that of a process that is gone",
    acts=Act.FAIL_OVER,
)
FAILOVER_FAILS = FindingKind(
    "failover-fails",
    LATENT,
    "a failover of the controller fails at a partition that has no state",
    (),
    now="nothing while a controller stays",
    later="each broker that is elected gives up at once: topics are not created, and no leader is elected when a "
    "broker stops",
    way_out="",
    story="docs/stories/controller-comes-back.md",
    log="controller.log, ERROR: [Controller id=…] Error while electing or becoming controller on broker …. Trigger "
    "controller movement immediately",
    cause="the partition was created, or added, while its brokers were down, and then a client asked to elect its "
    "preferred leader or to move it; or a deletion, by a controller or by hand, was interrupted",
    grep=("grep 'Trigger controller movement immediately' logs/controller.log*",),
    acts=Act.START,
)
REQUEST_WAITS = FindingKind(
    "request-waits",
    LATENT,
    "no controller has handled what a client has requested in ZooKeeper",
    (),
    now="tools that request the same there are refused",
    later="the next controller handles it, whatever has changed since: it moves leaders or replicas",
    way_out="take another snapshot after a minute; if the request is still there, delete its znode if it is not wanted "
    "any more, as it is all that is lost; to have it handled, delete /controller",
    story="docs/stories/controller-comes-back.md",
    log="none",
    cause="the znode was removed by hand before, so that the controller has no watch; it was written just now; or "
    "there was no controller",
    acts=Act.FAIL_OVER,
)
CONTROLLER_EPOCH_BEHIND = FindingKind(
    "controller-epoch-is-behind",
    LATENT,
    "/controller_epoch is below the epoch of a controller that has written a state",
    (),
    now="the controller elects no leader of a partition whose state has a later controller epoch; brokers that have "
    "known a later controller refuse its requests",
    later="each leader that stops leaves its partitions without a leader",
    way_out="",
    log="state-change.log: Aborted leader election for partition … since the LeaderAndIsr path was already written by "
    "another controller. This probably means that the current controller … went through a soft failure and another "
    "controller was elected with epoch ….",
    cause="/controller_epoch was removed or written by hand, or restored from a backup",
    grep=("grep 'was already written by another controller' logs/state-change.log*",),
    acts=Act.FAIL_OVER,
)
ID_MISSING = FindingKind(
    "topic-id-missing",
    LATENT,
    "the topic's znode has lost its id",
    ("topic_has_an_id",),
    now="nothing",
    later="the next controller failover mints another id; replicas refuse it at the next rise of a leader epoch",
    way_out="stop the client that wrote the znode, and write the topic_id that the replicas have back before the next "
    "failover",
    story="docs/stories/old-client-expansion.md",
    log=topic_ids.zk_id_not_erased.log,
    cause="a client older than 2.8 wrote the topic's znode (kafka-topics.sh --zookeeper --alter): it does not know "
    "topic_id, and drops it (KAFKA-14190)",
    grep=("grep 'New partitions to be added' logs/controller.log*   # when, and by which controller it was noticed",),
)
NO_LEADER = "the partition has no working leader"
OTHERS_LEAD = "leave the ISR; while one of them is elected, the partition has no working leader"
ID_DIFFERS = FindingKind(
    "topic-id-differs",
    LATENT,
    "replicas have another topic id than ZooKeeper",
    ("replica_id_matches_zookeeper",),
    now="nothing on 2.8 to 3.0",
    later=f"when a leader epoch rises, for example as a broker restarts, the replicas refuse it, and {NO_LEADER}",
    way_out="write the id that the replicas have back into the topic's znode, then fail the controller over",
    story=REPAIR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
    acts=Act.RESTART,
)
ID_NOT_READ = FindingKind(
    "topic-id-differs-for-later-releases",
    LATENT,
    "logs have another topic id than ZooKeeper, which brokers before 2.8 do not read",
    (),
    now="nothing: brokers before 2.8 read no topic ids",
    later="after an upgrade to 2.8 or later the controller mints an id where the znode has none; replicas refuse "
    "another id than theirs, and the partition has no working leader",
    way_out="just before an upgrade, write the topic_id that all logs have into the topic's znode, as each change of "
    "the topic before 2.8 drops it again; inspect again once the brokers run 2.8 or later, before "
    "inter.broker.protocol.version is raised",
    story=REPAIR,
    log="none: brokers before 2.8 do not compare topic ids",
    cause="brokers of 2.8 or later ran before, and those of an earlier release, whose controller drops the id from "
    "each znode that it writes, came back",
)
IDS_NOT_READ = evolve(
    ID_NOT_READ,
    name="topic-ids-mixed-for-later-releases",
    title="logs of one topic have different topic ids, or none, which brokers before 2.8 do not read",
    now="nothing, if all are logs of one topic: brokers before 2.8 take each log of the name for the topic's",
    way_out="find out which logs are the topic's, by their first batches and leader epochs, and move the others away "
    "while their brokers are down; before an upgrade no id in the znode fits all logs",
    story="",
    cause="a broker that was down kept the log of an earlier topic of the name; or a log was created after the brokers "
    "went back to a release before 2.8",
    acts=Act.RESTART,
)
ID_DIFFERS_IN_MEMORY = evolve(
    ID_DIFFERS,
    name="topic-id-differs-in-memory",
    title="replicas have another topic id than ZooKeeper in memory",
    way_out=LEADER_REFUSES_IN_MEMORY.way_out + IN_BETWEEN,
    cause=LEADER_REFUSES_IN_MEMORY.cause,
)
IDS_MIXED = evolve(
    ID_DIFFERS,
    name="topic-ids-mixed",
    title="replicas of one topic have different topic ids",
    way_out="no id in the znode fits all replicas: kwalk diagnose --plan says which logs to move away, or which "
    "brokers to restart without partition.metadata",
    cause=GREW,
)
ID_SENT = FindingKind(
    "controller-sends-another-id",
    LATENT,
    "the controller sends another topic id than ZooKeeper has",
    ("context_agrees",),
    now="nothing",
    later="the next failover sends ZooKeeper's id; replicas that have taken the other one by then refuse it",
    way_out="write the id that the controller sends into the topic's znode, if the replicas have that one; otherwise "
    "fail the controller over now",
    story=REPAIR,
    log=controllers.context_agrees.log,
    cause="the znode was written after this controller had read it",
    acts=Act.RESTART,
)
FOREIGN_ISR = FindingKind(
    "isr-outside-replicas",
    LATENT,
    "the ISR or the leader is not among the partition's replicas",
    ("leader_in_assignment",),
    now="kafka-topics.sh --describe shows a broker under Isr that is not under Replicas; if it does not fetch, "
    "acks=all waits for it until the leader removes it, replica.lag.time.max.ms after the first record",
    later="the broker keeps its log; on 2.8, once the leader epoch has risen, the leader's task isr-expiration fails "
    "there, so that dead followers may stay in other ISRs too",
    way_out="reassign the partition to its replicas and the broker, fail the controller over, and reassign it to its "
    "replicas",
    story="docs/stories/reassignment.md",
    log=partitions.leader_in_assignment.log,
    cause="a reassignment was cancelled or overwritten while replicas were added; or a hand wrote the replicas, or the "
    "ISR",
    grep=("grep \"Uncaught exception in scheduled task 'isr-expiration'\" logs/server.log*   # on the leader; 2.8",),
    acts=Act.FAIL_OVER,
)
LEADER_OUTSIDE_ISR = FindingKind(
    "leader-outside-isr",
    LATENT,
    "the leader is not in the ISR",
    (),
    now="nothing while it leads",
    later="it does not put itself back: when its followers fall behind, the ISR gets empty, and once the leader has "
    "stopped, no broker may lead",
    way_out="compare the ends of the logs (kafka-dump-log.sh); if an ISR member has all that the leader has, restart "
    "the leader: the ISR member leads, and it copies from there; records that only the leader has are then lost",
    log="none: kafka-topics.sh --describe shows a leader that is not under Isr",
    cause="the state znode was written by hand",
    acts=Act.RESTART,
)
STRAY_LOG = FindingKind(
    "stray-log",
    LATENT,
    "a broker has a log of a partition of which it is no replica",
    ("no_stray",),
    now="disk space",
    later="if the topic is deleted and created again on that broker, acks=all times out (3.0 and later), or old "
    "records return (up to 2.8)",
    way_out="move the directory away while the broker is stopped",
    story=STRAY,
    log=deletion.no_stray.log,
    cause="the broker was down, or did not get StopReplica, when the partition moved away or the topic was deleted",
    acts=Act.RESTART,
)
ORPHANED_LOG = evolve(
    STRAY_LOG,
    name="orphaned-log",
    title="a broker has a log of a topic that does not exist",
    now="disk space; if the topic's znodes were removed by hand, brokers serve it still",
    later="a topic that is created under the name meets the old log: acks=all times out (3.0 and later), or old "
    "records return (up to 2.8)",
    cause="the topic was deleted while the broker was down; or its znodes were removed by hand; or ZooKeeper was "
    "restored from a backup without it",
)
DELETION_WAITS = FindingKind(
    "deletion-hangs",
    LATENT,
    "a topic is marked for deletion, and all brokers that it needs are up",
    ("deletion_terminates",),
    now="the topic cannot be used",
    later="if another snapshot a minute later shows it too, the deletion hangs",
    way_out="delete /controller: the next controller starts the deletion again",
    story=DELETION,
    log=deletion.deletion_terminates.log,
    cause="a replica could not be deleted, and no event has started the deletion again",
    grep=("grep 'Halted deletion of topics' logs/controller.log*",),
    acts=Act.FAIL_OVER,
)
UNWANTED_MARK = (
    "if the topic is wanted, delete its mark in /admin/delete_topics, and then /controller, before a broker starts or "
    "stops: this controller may go on with the deletion, the next one does not know of it. If it is not wanted, "
)
DELETION_NOT_BEGUN = evolve(
    DELETION_WAITS,
    name="deletion-has-not-begun",
    title="a topic is marked for deletion, and brokers serve it",
    now="clients use the topic as before: no controller has begun to delete it",
    later="the next controller begins, or this one when a broker starts: logs on running brokers go at once (with "
    "delete.topic.enable=false the mark goes, and the topic stays)",
    way_out=f"{UNWANTED_MARK}take another snapshot after a minute, and if it shows the same, delete /controller",
    log="none: controller.log has no line about it since the mark, such as: Starting topic deletion for topics …",
    cause="the mark was written just now; or the controller has missed it; or it has waited with the name since an "
    "earlier deletion",
    grep=("grep 'Starting topic deletion for topics' logs/controller.log*",),
)
UNREGISTERED = FindingKind(
    "broker-not-registered",
    LATENT,
    "a broker runs but is not in /brokers/ids",
    ("running_broker_is_registered",),
    now="its partitions have other leaders or none; clients that reach it get outdated answers",
    later="its ZooKeeper session returns within seconds, or it stays a zombie; what clients write to it with acks=1 "
    "goes when it follows another leader",
    way_out="take another snapshot after a session timeout; if it is still so, restart the broker",
    story="docs/stories/zombie-controller.md",
    log=sessions.running_broker_is_registered.log,
    cause="its ZooKeeper session has ended, and the process has not registered in a new one",
    acts=Act.RESTART,
)
DELETION_PENDING = FindingKind(
    "deletion-pending",
    LATENT,
    "a topic is marked for deletion, and waits for brokers, disks or a reassignment",
    (),
    now="the topic cannot be used, nor one of its name be created",
    later="the deletion continues when the brokers start with their disks, and the reassignment has ended; a failover "
    "of the controller does not end it",
    way_out="start the brokers, repair or replace failed disks and restart their brokers, and let a reassignment end; "
    "for a broker that is gone for good, start one with its id and empty log directories: the deletion then ends. Do "
    "not remove znodes by hand",
    story=DELETION,
    log=deletion.deletion_terminates.log,
    grep=("grep 'Halted deletion of topics' logs/controller.log*",),
    cause="the topic was deleted while a broker with a replica was down, a disk had failed, or replicas were moved",
    acts=Act.START | Act.RESTART,
)
DELETION_OF_LATER_LOGS = FindingKind(
    "deletion-of-later-logs",
    LATENT,
    "a topic is marked for deletion, and its logs may be later than the mark",
    (),
    now="the topic cannot be used; what is deleted already is lost",
    later="when the brokers that it waits for run, or the controller fails over, brokers delete the logs, by the "
    "topic's name",
    way_out="before a broker starts or stops: if ZooKeeper was restored from a backup of before the logs, delete the "
    "topic's mark in /admin/delete_topics, then stop the brokers that run (a controller goes on with a mark that it "
    "has read), take a snapshot, and diagnose it; if nobody wants the records, let the deletion end",
    story=DELETION,
    log="controller.log, INFO: Starting topic deletion for topics …",
    grep=("grep 'Starting topic deletion for topics' logs/controller.log*",),
    cause="ZooKeeper was restored from a backup that still had the mark; or an earlier log of the name is left",
    acts=Act.RESTART,
)
MARK_WITHOUT_TOPIC = FindingKind(
    "deletion-mark-without-topic",
    LATENT,
    "a topic that does not exist is marked for deletion",
    (),
    now="nothing",
    later="a topic that is created under the name is deleted, with its records, when any topic is deleted next, or the "
    "controller fails over",
    way_out="create no topic of the name; take another snapshot after a minute; if the mark is still there, delete "
    "/controller: the next controller removes it",
    story=DELETION,
    log="controller.log, WARN: Ignoring request to delete non-existing topics …",
    cause="the topic's znodes were removed by hand, or no controller works",
    grep=("grep 'Ignoring request to delete non-existing topics' logs/controller.log*",),
    acts=Act.FAIL_OVER,
)
SHARED_ID = FindingKind(
    "topics-share-an-id",
    LATENT,
    "topics have one topic id",
    (),
    now="nothing, while the controller that has read the topics before lives",
    later="no broker can become controller: each gives up as it reads the second of the topics",
    way_out="before the next failover, write each topic's own id, which its logs or brokers' answers have, into its "
    "znode",
    log="controller.log, ERROR: topic name map already contained ID … and new name … did not match existing name …",
    cause="an id was written into the znode of another topic",
    grep=("grep 'topic name map already contained ID' logs/controller.log*",),
)
NOT_COMPACTED = FindingKind(
    "internal-topic-is-not-compacted",
    LATENT,
    "a topic of Kafka's own is not compacted",
    (),
    now="nothing",
    later="the brokers' retention (log.retention.hours, 7 days by default) deletes whole segments: offsets that groups "
    "committed before, so that they begin where auto.offset.reset says, or states of transactional ids",
    way_out="",
    log="server.log, INFO: Deleting segment … due to retention time …ms breach (3.9: due to log retention time …ms "
    "breach)",
    cause="ZooKeeper was restored without /config/topics, the topic was created by hand or by a tool, or its "
    "configuration was changed",
    grep=("grep 'retention time .*ms breach' logs/server.log*",),
)
LEADER_BY_HAND = FindingKind(
    "leader-written-by-hand",
    LATENT,
    "the state names another leader than all brokers do, at the same leader epoch",
    (),
    now="changes of the ISR fail",
    later="after the next failover of the controller brokers tell clients that the leader is the one in ZooKeeper, and "
    "that one does not lead: NOT_LEADER_OR_FOLLOWER, until the leader epoch rises",
    way_out="",
    log="none: kafka-topics.sh --describe shows another leader than the state znode",
    cause="the state znode was written by hand, or restored, with a leader epoch that had another leader",
    acts=Act.FAIL_OVER,
)
LEADERLESS_BY_HAND = evolve(
    LEADER_BY_HAND,
    name="leaderless-state-is-served",
    title="the state names no live leader, and all brokers know one",
    now="changes of the ISR fail; that leader serves, unless another finding about the partition says what it refuses",
    later="when that leader stops, or a controller is elected, the state decides: a live broker of the ISR that it "
    "names is elected, whose log may lack records, or the partition has no leader",
    log="none: kafka-topics.sh --describe shows a leader, and the state znode none, or one that is down",
    cause="the state znode was written by hand, or restored",
)
ISR_BY_HAND = evolve(
    LEADER_BY_HAND,
    name="isr-written-by-hand",
    title="the state names another ISR than all brokers do, at the same leader epoch",
    properties=("replicas_converge",),
    now="changes of the ISR fail: a replica outside of the leader's own does not join",
    later="when the leader stops, the ISR in ZooKeeper decides: a replica that a hand wrote into it leads, whatever it "
    "lacks, and none leads that a hand has taken out",
    log="none: kafka-topics.sh --describe shows another ISR than the state znode",
    cause="the state znode was written by hand; or inter.broker.protocol.version is below 2.7, and the leader has just "
    "changed the ISR: brokers learn of it up to a minute later",
)
REPLICA_HAS_NO_LOG = FindingKind(
    "replica-has-no-log",
    LATENT,
    "a live replica outside the ISR has no log of the partition, or copies nothing into an empty one",
    (),
    now="under-replicated",
    later="if another snapshot a minute later shows it too, it stays so; a failover of the controller alone does not "
    "end it, as the leader keeps the replicas that it knows until its leader epoch rises",
    way_out="take another snapshot after a minute; if it is still so, reassign the partition to the replicas that it "
    "has (kafka-reassign-partitions.sh --execute)",
    log="none: kafka-topics.sh --describe shows other Replicas than the leader's server.log",
    cause="the replicas were written into the topic's znode by hand: a controller reads those of a partition that it "
    "knows when it is elected; or the broker has just started",
)
BELOW_MIN_ISR = FindingKind(
    "isr-below-min-insync-replicas",
    BROKEN,
    "the ISR is smaller than min.insync.replicas: producers with acks=all are refused",
    (),
    now="producers with acks=all (the default since 3.0) get NOT_ENOUGH_REPLICAS, and try again until "
    "delivery.timeout.ms is over; what was appended as the ISR shrank gets NOT_ENOUGH_REPLICAS_AFTER_APPEND or times "
    "out, and a producer without enable.idempotence appends it again; acks=1 and consumers go on",
    later="it lasts until enough replicas are in the ISR",
    way_out="start the replicas that are down",
    log="server.log of the leader, ERROR: The size of the current ISR … is insufficient to satisfy the min.isr "
    "requirement of … for partition …",
    cause="brokers are down or replicas do not follow, and the ISR has no more members to spare",
    grep=("grep 'is insufficient to satisfy the min.isr requirement' logs/server.log*",),
    acts=Act.START,
)
HELD_BACK = "acks=1 goes on, and consumers do not get what it appends meanwhile: the high watermark stays (3.7)"
"""What min.insync.replicas does to others than producers with acks=all, from 3.7 on."""
UNCLEAN_AHEAD = FindingKind(
    "unclean-election-is-ahead",
    LATENT,
    "the controller elects a replica outside of the ISR: unclean.leader.election.enable is true",
    (),
    now="nothing else than what other findings say",
    later="",
    way_out="",
    log="none: kafka-topics.sh --describe shows a leader that was not under Isr before",
    cause="unclean.leader.election.enable is true for the topic or for the brokers, and the ISR has no other live "
    "member",
)
CATCHING_UP = FindingKind(
    "catching-up",
    NOTE,
    "a live replica is not in the ISR",
    ("replicas_converge",),
    now="under-replicated",
    later="it joins the ISR once it has the leader's records, unless the leader does not know it",
    way_out="take another snapshot later; if it is still so, read server.log of the broker and of the leader, and see "
    "whether a throttle holds it (kafka-configs.sh --describe: follower.replication.throttled.rate); where the leader "
    "fails to change the ISR (KAFKA-14154), or does not know a replica that a hand wrote into the topic's znode (it is "
    "not recognized to be one of the assigned replicas), reassign the partition to the replicas that it has "
    "(kafka-reassign-partitions.sh --execute): its leader epoch rises",
)
BROKER_DOWN = FindingKind(
    "broker-down",
    NOTE,
    "a broker is down",
    (),
    now="its replicas are out of the ISR, where others live in it: acks=all fails where min.insync.replicas needs them",
    later="nothing, while other ISR members live",
    way_out="start it",
    acts=Act.START,
)
UNDER_ANOTHER_ID = FindingKind(
    "fetched-under-another-topic-id",
    NOTE,
    "a follower may copy nothing of a sound partition: it asks for it under the topic id of another of its logs",
    (),
    now="acks=all may time out until the leader takes the follower out of the ISR",
    later="it stays so for as long as the follower asks the same leader for the other log",
    way_out="see to the topic id of the partition of the other log",
    log="server.log of the follower, every second: Received UNKNOWN_TOPIC_ID from the leader for partition …",
    cause="a fetch names a topic once for partitions in a row, with the id of the first one's log (3.1 and later)",
)
REASSIGNMENT = FindingKind(
    "reassignment",
    NOTE,
    "a partition is being reassigned",
    (),
    now="nothing",
    later="it ends when the added replicas are in the ISR",
    way_out="wait, and inspect again; if they do not advance, see whether a throttle of an earlier reassignment holds "
    "them (kafka-configs.sh --describe: leader.replication.throttled.rate, follower.replication.throttled.rate)",
    story="docs/stories/reassignment.md",
)
MOVES_BETWEEN_DIRECTORIES = FindingKind(
    "moves-between-log-directories",
    NOTE,
    "a replica moves to another log directory of its broker, or such a move was abandoned",
    (),
    now="disk space: the replica serves from the directory that it has",
    later="when the copy has all records it takes the replica's place, and the earlier directory is deleted; it waits "
    "while a log directory of the broker has failed",
    way_out="wait, and inspect again (kafka-log-dirs.sh --describe shows isFuture and offsetLag); to give the move up, "
    "move the replica to the directory that it is in: the broker then removes the copy. Remove no directory by hand",
    log="server.log: Attempting to replace current log … with … for …",
    cause="kafka-reassign-partitions.sh with log_dirs, or a tool that balances disks",
)
STALE_METADATA = FindingKind(
    "stale-metadata",
    NOTE,
    "a broker answers clients with outdated metadata",
    ("metadata_converges",),
    now="clients that ask this broker are directed to the wrong leader, or do not find a broker or a topic",
    later="it is over with the next UpdateMetadata, within milliseconds in a cluster at rest",
    way_out="inspect again; if it is still so, restart the broker",
    log=partitions.metadata_converges.log,
    acts=Act.RESTART,
)
ANOTHER_CONTROLLER = FindingKind(
    "another-controller",
    NOTE,
    "a broker names another controller than ZooKeeper",
    (),
    now="a new controller has not informed it yet; or it does not work; or an earlier one, a zombie, still acts",
    later="it is over when the new controller has sent its first UpdateMetadata, within seconds; brokers that know the "
    "new controller epoch refuse a zombie's requests, and its writes to ZooKeeper fail (2.1 and later)",
    way_out="inspect again; if it is still so, restart the broker that it names, or delete /controller if all brokers "
    "name that one",
    story="docs/stories/zombie-controller.md",
    log="controller.log of the broker that it names: Resigned",
    acts=Act.RESTART,
)
CONTROLLER_IS_SILENT = evolve(
    ANOTHER_CONTROLLER,
    name="controller-is-silent",
    severity=LATENT,
    title="all brokers, the controller's own among them, name another controller than ZooKeeper",
    now="a new controller has not informed them yet; or it does not work: topics are not created, and no leader is "
    "elected when a broker stops",
    later="if another snapshot a minute later shows it too, it stays so, and each broker that stops takes its "
    "partitions with it",
    way_out="take another snapshot after a minute; if it is still so, delete /controller",
    story="docs/stories/authentication-failure.md",
    log="none: controller.log of the broker in /controller ends with its election, or before it",
    cause="the broker in /controller has just been elected; or it has failed to start as controller, or has resigned, "
    "and holds its session (KAFKA-13407)",
    acts=Act.FAIL_OVER,
)
NO_BROKER_KNOWS = evolve(
    STALE_METADATA,
    name="leader-is-known-to-no-broker",
    severity=LATENT,
    title="the leader lives, and every broker answers clients with an earlier leader epoch, or with no leader",
    now="clients are directed to an earlier leader, or get LEADER_NOT_AVAILABLE or LISTENER_NOT_FOUND",
    later="if another snapshot a minute later shows it too, it stays so",
    way_out="take another snapshot after a minute; if it is still so, see that the leader has the listener that "
    "clients use (advertised.listeners), and, unless a hand wrote the state, delete /controller: the next controller "
    "informs the brokers",
    story="docs/stories/authentication-failure.md",
    log="none: kafka-topics.sh --describe shows another leader than the state znode",
    cause="the controller has just elected the leader; or it has failed before it informed the brokers, or has missed "
    "that the leader's broker started; or the state znode was written by hand; or the leader has no such listener",
    acts=Act.FAIL_OVER,
)
IS_NOT_KNOWN = FindingKind(
    "broker-is-not-known",
    LATENT,
    "a broker is registered, and no other broker answers it among the live ones",
    (),
    now="the controller elects it as no leader, and sends it nothing; or clients that use one of its listeners do not "
    "find it",
    later="if another snapshot a minute later shows it too, it stays so",
    way_out="take another snapshot after a minute; if it is still so, see that it has the listener that clients use "
    "(advertised.listeners); if it has, delete /controller: the next controller reads all registrations",
    story="docs/stories/authentication-failure.md",
    log="none: controller.log has no line about the broker, such as: Newly added brokers: …",
    cause="the broker has just started; or the controller has missed that it registered again in a new session; or it "
    "has no listener of the name that was asked",
    grep=("grep 'Newly added brokers' logs/controller.log*",),
    acts=Act.FAIL_OVER,
)
DOES_NOT_ANSWER = FindingKind(
    "broker-does-not-answer",
    LATENT,
    "a registered broker has answered no Metadata request, and others have",
    (),
    now="if it hangs, clients of the partitions that it leads time out; ZooKeeper sees it as live, so that no other "
    "leader is elected",
    later="it lasts until its ZooKeeper session ends, as its process does",
    way_out="ask it again (kafka-broker-api-versions.sh --bootstrap-server with its address): it may have a listener "
    "that was not reached. If it hangs, look at its disks and threads (jstack), and restart it",
    log="server.log of its followers: Error sending fetch request … to node …:",
    cause="its disk or its request handlers are stuck; or the snapshot was taken where its listener is not reached",
    grep=("grep 'Error sending fetch request' logs/server.log*   # on its followers",),
    acts=Act.RESTART,
)
NOT_JUDGED = FindingKind(
    "not-inspected",
    LATENT,  # what says nothing about a partition must not pass for consistent
    "too many brokers take part in a partition: it was not inspected",
    (),
    now="unknown",
    later="unknown",
    way_out="read the partition's state by hand",
    cause="many brokers have a log of it, or are among its replicas or in its ISR",
)

KINDS = (
    OFFLINE_LOG,
    ANOTHER_ID,
    TOPICS_ARE_LOST,
    SOME_TOPICS_ARE_LOST,
    LEADER_LACKS_RECORDS,
    EMPTY_ISR,
    NO_LIVE_ISR,
    NO_LIVE_REPLICA,
    NUMBER_MISSING,
    BELOW_MIN_ISR,
    LEADER_REFUSES,
    LEADER_REFUSES_MIXED,
    LEADER_REFUSES_IN_MEMORY,
    NOT_ELECTED,
    LEADER_DOES_NOT_LEAD,
    LEADER_IGNORES_STATE,
    STATE_BEHIND_LOGS,
    RECORDS_ELSEWHERE,
    FETCH_REFUSED,
    FETCH_REFUSED_IN_MEMORY,
    FETCH_REFUSED_NOT_READ,
    FETCH_REFUSED_MIXED,
    REPLICA_REFUSES,
    STALE_IN_ISR,
    DIVERGED,
    NOT_FOLLOWING,
    MEMBER_AHEAD,
    EARLIER_LOG,
    NO_PARTITIONS,
    PARTITION_LOST,
    LOGS_ONLY,
    WITHOUT_STATE,
    NO_CONTROLLER,
    DEAD_IN_ISR,
    FAILOVER_FAILS,
    REQUEST_WAITS,
    WITHOUT_STATE_SERVED,
    STATE_IS_LOST,
    UNCLEAN_AHEAD,
    MIGRATION_UNSAFE,
    MIGRATION_NOT_SHOWN,
    CONTROLLER_EPOCH_BEHIND,
    STATE_BEHIND_UNNOTICED,
    SHARED_ID,
    NOT_COMPACTED,
    DELETION_OF_LATER_LOGS,
    NO_REPLICAS,
    MARK_WITHOUT_TOPIC,
    ISR_MEMBER_HAS_NO_LOG,
    MEMBER_LACKS_RECORDS,
    REPLICA_HAS_NO_LOG,
    LEADER_BY_HAND,
    LEADERLESS_BY_HAND,
    ISR_BY_HAND,
    OFFLINE_REPLICA,
    LEADER_OUTSIDE_ISR,
    IDS_MIXED,
    ID_DIFFERS,
    ID_DIFFERS_IN_MEMORY,
    ID_MISSING,
    ID_SENT,
    ID_NOT_READ,
    IDS_NOT_READ,
    FOREIGN_ISR,
    DELETION_WAITS,
    DELETION_NOT_BEGUN,
    DELETION_PENDING,
    REASSIGNMENT_WAITS,
    REASSIGNMENT_IDLE,
    DOWN_WITH_ANOTHER_LOG,
    MISNAMED,
    DOWN_WITH_ANOTHER_ID,
    REPLICA_OF_ANOTHER,
    RECORDS_ARE_LOST,
    LOG_SET_ASIDE,
    LAST_COPY_IS_DELETED,
    LAST_COPY_MOVES,
    DISK_OF_ANOTHER,
    NO_CLUSTER_ID,
    GARBLED_ID,
    GARBLED_CHECKPOINT,
    TWO_DIRECTORIES,
    IN_KRAFT_MODE,
    NO_METADATA,
    CONTROLLER_IS_SILENT,
    NO_BROKER_KNOWS,
    IS_NOT_KNOWN,
    DOES_NOT_ANSWER,
    ISR_REPEATS,
    REPLICAS_REPEAT,
    NO_BROKER_IS_CONTROLLER,
    UNREGISTERED,
    STRAY_LOG,
    ORPHANED_LOG,
    NOT_JUDGED,
    REASSIGNMENT,
    MOVES_BETWEEN_DIRECTORIES,
    BROKER_DOWN,
    CATCHING_UP,
    UNDER_ANOTHER_ID,
    LOG_WITHOUT_ID,
    STALE_METADATA,
    ANOTHER_CONTROLLER,
)
