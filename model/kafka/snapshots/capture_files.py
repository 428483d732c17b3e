"""The small text files of a partition's log directory, as Kafka's brokers write them.

Words: *partition.metadata* holds the topic id that the broker gave the partition. The *leader-epoch checkpoint* lists
the leader epochs that left records in the log, or began on this replica as leader, each with its start offset.

Source: kafka.server.PartitionMetadataFile, kafka.server.checkpoints.LeaderEpochCheckpointFile.
"""
from __future__ import annotations

import re
from itertools import pairwise

from model.kafka.snapshots.untrusted_json import TAKE_AGAIN, Node, printable
from model.language import UsageError

ZERO_ID = "A" * 22
"""How Kafka writes the id that stands for "none"."""
_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_METADATA = re.compile(r"version: 0\ntopic_id: (\S+)\n?")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,19}")


def topic_id(node: Node) -> str | None:
    """A topic id in Kafka's Base64, or None where there is none."""
    if node.missing:
        return None
    text = node.text()
    if not _ID.fullmatch(text):
        raise node.wrong("is no topic id", "22 characters of A-Z a-z 0-9 _ -, or null")
    return None if text == ZERO_ID else text


def partition_metadata(node: Node) -> str | None:
    """The topic id in a partition.metadata file, None where there is no file."""
    if node.missing:
        return None
    found = _METADATA.fullmatch(node.text())
    if not found or not _ID.fullmatch(found[1]) or found[1] == ZERO_ID:
        raise node.wrong(
            "is truncated or garbled: a broker with such a file does not start",
            '"version: 0", then "topic_id: " and 22 characters of A-Z a-z 0-9 _ -; or null where there is no file',
        )
    return found[1]


def leader_epochs(node: Node) -> tuple[tuple[int, int], ...] | None:
    """The (epoch, start offset) pairs of a leader-epoch checkpoint, None where there is no file or it is empty."""
    if node.missing or not node.text():
        return None
    lines = node.text().rstrip("\n").split("\n")
    pairs = tuple(_pair(line, node) for line in lines[2:])
    if lines[0] != "0" or len(lines) < 2 or lines[1] != str(len(pairs)):
        raise _garbled(node)
    if any(later[0] <= earlier[0] for earlier, later in pairwise(pairs)):
        raise _garbled(node)
    return pairs


def _pair(line: str, node: Node) -> tuple[int, int]:
    words = line.split(" ")
    if len(words) != 2 or not all(_WHOLE_NUMBER.fullmatch(word) for word in words):
        raise _garbled(node)
    return int(words[0]), int(words[1])


def _garbled(node: Node) -> UsageError:
    return UsageError(
        f'{node.path} is truncated or garbled (got "{printable(node.value)}"). Allowed: the lines "0", the number of '
        f'epochs, and one "epoch offset" for each, rising; or null where there is no file. {TAKE_AGAIN}'
    )
