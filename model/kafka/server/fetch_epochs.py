"""ReplicaFetcherThread: the epoch of the last record that a follower tells its leader, fetch after fetch (KIP-595).

By it the leader finds out whether the follower's log has diverged.

What the model leaves out, and why its story loses nothing by it: what becomes of a log that has diverged, which
`leader_epochs` has; and other followers.
"""

from __future__ import annotations

from kwalk.model.kafka.server.versions import EMPTY_RESPONSES_KEEP_THE_EPOCH
from kwalk.model.kafka.storage.domains import FETCHER
from kwalk.model.language import Actor, Bound, action, flag, number, require, state

FETCHED_EPOCHS = Bound("fetched_epochs", "the highest epoch of the leader")
CONTROLLER = Actor("controller", system=False)


@state
class EpochOfFetches:
    """The epoch of the last record in the follower's log, that of the leader, and whether its next fetch has it.

    Attributes:
        follows: whether the follower fetches from this leader.
    """

    last: int = number(0, FETCHED_EPOCHS)
    epoch: int = number(0, FETCHED_EPOCHS)
    follows: bool = flag()
    is_told: bool = flag()


@action(by=CONTROLLER, description="elects a leader", source="LeaderAndIsr: makeFollowers")
def elect_for_fetches(fetches: EpochOfFetches) -> None:
    """The follower begins with the epoch of its log."""
    require(fetches.epoch < FETCHED_EPOCHS)
    fetches.epoch += 1
    fetches.follows = fetches.is_told = True


@action(by=FETCHER, description="fetches, and gets records or none", source="AbstractFetcherThread.processFetchRequest")
def fetch_with_epoch(fetches: EpochOfFetches, is_empty: bool) -> None:
    """In 3.6 a response without records took the epoch away."""
    require(fetches.follows)
    if is_empty:
        fetches.is_told = fetches.is_told and bool(EMPTY_RESPONSES_KEEP_THE_EPOCH)
    else:
        fetches.last = fetches.epoch
        fetches.is_told = True
