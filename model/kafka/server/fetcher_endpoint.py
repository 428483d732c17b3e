"""AbstractFetcherManager: the fetcher of a leader that has started again with another port.

A fetcher has metrics of the leader's id. One without partitions is ended as LeaderAndIsr has been handled.

What the model leaves out, and why its story loses nothing by it: other partitions of the leader, which are moved with
this one; and hosts, which are as ports.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import FETCHERS_ARE_OF_LEADERS
from kwalk.model.language import Actor, Domain, action, flag, number, optional, require, state

PORTS = Domain("ports", "ports that the leader can have", default=2)
Port = Annotated[int, PORTS]
HANDLER = Actor("request handler")
BROKERS = Actor("leader", system=False)


@state
class FetcherEndpoint:
    """A leader with a `port`, and its follower: the port of its `fetcher`, and whether it `follows` with that.

    It is to handle a request (`is_told`), which may have failed (`has_failed`).
    """

    port: int = number(0, 1)
    fetcher: int | None = optional(PORTS)
    follows: bool = flag()
    is_told: bool = flag(default=True)
    has_failed: bool = flag()


@action(by=BROKERS, description="starts again at port {port}", source="KafkaController.onBrokerStartup")
def restart(endpoint: FetcherEndpoint, port: Port) -> None:
    """Have the follower told."""
    endpoint.port, endpoint.is_told = port, True


@action(by=HANDLER, description="follows the leader", source="AbstractFetcherManager.addFetcherForPartitions")
def follow(endpoint: FetcherEndpoint) -> None:
    """Use the fetcher of the leader, or another one. Until KAFKA-4811 that met the metrics of a fetcher before it."""
    require(endpoint.is_told)
    is_moved = endpoint.fetcher is not None and endpoint.fetcher != endpoint.port
    endpoint.has_failed = is_moved and not FETCHERS_ARE_OF_LEADERS
    endpoint.follows, endpoint.is_told = not endpoint.has_failed, False
    if endpoint.follows:
        endpoint.fetcher = endpoint.port
