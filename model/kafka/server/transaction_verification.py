"""AddPartitionsToTxnManager: a leader has a transaction verified by its coordinator, before it appends (KIP-890).

Brokers are upgraded one after another. A leader of a later release asks in a version of the request that the
coordinator may not know.

What the model leaves out, and why its story loses nothing by it: what the coordinator finds, which is that the
transaction goes on; and brokers that are downgraded.
"""

from __future__ import annotations

from kwalk.model.kafka.server.versions import VERIFICATIONS_ARE_IN_A_KNOWN_VERSION
from kwalk.model.kafka.storage.domains import OPERATOR, PRODUCER
from kwalk.model.language import action, flag, require, state


@state
class VerifiedAppend:
    """Which of both brokers are upgraded, and whether the last append in a transaction was done, or refused."""

    is_leader_new: bool = flag()
    is_coordinator_new: bool = flag()
    is_appended: bool = flag()
    is_refused: bool = flag()


@action(by=OPERATOR, description="upgrades the leader", source="a rolling upgrade")
def upgrade_leader(verified: VerifiedAppend) -> None:
    """It verifies transactions by a later version of the request."""
    require(not verified.is_leader_new)
    verified.is_leader_new = True
    verified.is_appended = verified.is_refused = False


@action(by=OPERATOR, description="upgrades the coordinator", source="a rolling upgrade")
def upgrade_coordinator(verified: VerifiedAppend) -> None:
    """It knows that version."""
    require(not verified.is_coordinator_new)
    verified.is_coordinator_new = True
    verified.is_appended = verified.is_refused = False


@action(by=PRODUCER, description="writes in a transaction", source="NetworkUtils.buildNetworkClient")
def append_verified(verified: VerifiedAppend) -> None:
    """From 3.6 to 3.7.0 the leader did not ask which versions the coordinator knows."""
    is_unknown = verified.is_leader_new and not verified.is_coordinator_new
    verified.is_refused = is_unknown and not VERIFICATIONS_ARE_IN_A_KNOWN_VERSION
    verified.is_appended = not verified.is_refused
