"""Thirty topics that old clients expand: where they are, and what an old client writes."""

from __future__ import annotations

import json

from kwalk.clusters.lab.experiments.many_topics import PARTITIONS, REPLICAS, TOPICS, old_content, placed


def test_replicas_are_placed_at_random_and_in_each_run_at_the_same_brokers():
    brokers = range(1, 6)
    places = placed(brokers)
    assert places == placed(brokers) and len(places) == TOPICS
    assert all(list(topic) == list(range(PARTITIONS + 1)) for topic in places)
    each = [tuple(replicas) for topic in places for replicas in topic.values()]
    assert all(len(set(replicas)) == REPLICAS and set(replicas) <= set(brokers) for replicas in each)
    assert {replicas[0] for replicas in each} == set(brokers) and len(set(each)) > TOPICS


def test_an_old_client_writes_partitions_and_neither_the_id_nor_the_later_version():
    content = json.loads(old_content({0: [1, 2], 1: [2, 1]}))
    assert content == {"version": 1, "partitions": {"0": [1, 2], "1": [2, 1]}}
