"""Many topics that old clients have expanded, and one plan for all of them: `recover-many-topics`.

Source: KAFKA-14190. A client older than 2.8 writes the znode of a topic whole, without the id
(ZkUtils.replicaAssignmentZkData in core/src/main/scala/kafka/utils/ZkUtils.scala of 1.0.0).
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping

from kwalk.clusters.lab.cluster import LabOptions
from kwalk.clusters.lab.experiments.damages import FIRST, Scene
from kwalk.clusters.lab.experiments.expansions import OLD_CLIENT
from kwalk.clusters.lab.experiments.experiment import Experiment
from kwalk.clusters.lab.experiments.known_records import Ledger
from kwalk.clusters.lab.experiments.operator_steps import rest
from kwalk.clusters.lab.experiments.recoveries import REPAIR, SINCE_3, Case, planned
from kwalk.clusters.lab.zookeeper import set_data

TOPICS, PARTITIONS, REPLICAS = 30, 4, 3
SEED = 1
"""The seed of the places of replicas."""
RESTARTED = (2, 3)
"""The broker that restarts after the failover, and the one that does in its place if it is the controller."""

Placed = Mapping[int, list[int]]
"""The replicas of each partition of a topic."""


def placed(brokers: Collection[int]) -> list[Placed]:
    """Return where the replicas of each topic are: of the first partitions, and of the one that an old client adds."""
    source = random.Random(SEED)
    return [{n: source.sample(sorted(brokers), REPLICAS) for n in range(PARTITIONS + 1)} for _ in range(TOPICS)]


def old_content(replicas: Placed) -> bytes:
    """Return what an old client writes into the znode of a topic."""
    return json.dumps({"version": 1, "partitions": {str(number): each for number, each in replicas.items()}}).encode()


def many_expansions(scene: Scene) -> None:
    """Let old clients expand all topics; then the controller moves, and a broker restarts.

    The tool of an old client expands the topic of the round; the znodes of the others are written as it does.
    """
    lab, places = scene.lab, placed(scene.lab.brokers)
    scene.others += [Ledger(f"other-{number:02}") for number in range(1, TOPICS)]
    ledgers = [scene.ledger, *scene.others]
    for ledger, replicas in zip(ledgers, places, strict=True):
        created = {number: replicas[number] for number in range(PARTITIONS)}
        lab.admin(milliseconds=20_000).create_topic(ledger.topic, created)
        lab.wait_for_leaders(ledger.topic, PARTITIONS)
    lab.note(f"{TOPICS} topics are created")
    lab.delete_controller()
    rest(lab)
    _write(scene, 2)
    lab.tool(OLD_CLIENT, "--alter", "--topic", scene.topic, "--partitions", str(PARTITIONS + 1))
    for ledger, replicas in zip(ledgers[1:], places[1:], strict=True):
        lab.zk.do(set_data(f"/brokers/topics/{ledger.topic}", old_content(replicas)))
    for ledger in ledgers:
        lab.wait_for_leaders(ledger.topic, PARTITIONS + 1)
    lab.note("old clients have added a partition to each topic")
    rest(lab)
    _write(scene, 1)
    lab.delete_controller()
    rest(lab)
    first, second = RESTARTED
    number = second if lab.controller() == first else first
    scene.stop(number)
    scene.start(number)


def _write(scene: Scene, times: int) -> None:
    scene.write(FIRST, times)
    refused = [line for other in scene.others for line in other.write(scene.lab, FIRST, times)]
    scene.lab.note("records of the other topics written" + "".join(f"; {one}" for one in refused))


EXPERIMENTS: tuple[Experiment, ...] = (
    planned(
        "many-topics",
        f"Old clients add a partition to each of {TOPICS} topics on 5 brokers, the controller fails over, and a broker "
        "restarts",
        Case(
            many_expansions,
            {
                "2.8.2": ("leader-refuses-mixed-topic-ids", "topic-ids-mixed"),
                **dict.fromkeys(SINCE_3, ("leader-refuses-topic-id", "fetch-by-id-refused")),
            },
        ),
        REPAIR,
        options=LabOptions(brokers=5),
    ),
)
