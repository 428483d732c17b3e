"""Properties of appends in transactions amid an upgrade."""

from __future__ import annotations

from kwalk.model.kafka.server.transaction_verification import VerifiedAppend
from kwalk.model.language import always, reachable, step


@always(
    symptom="transactional producers fail, until all brokers are upgraded",
    log="INVALID_REQUEST in responses to AddPartitionsToTxn",
)
def transaction_outlives_an_upgrade(verified: VerifiedAppend) -> bool:
    """A record in a transaction is appended, whichever brokers are upgraded."""
    return not verified.is_refused


@step(symptom="an append has no end, or two", log="none")
def append_has_one_end(before: VerifiedAppend, after: VerifiedAppend) -> bool:
    """An append is done or refused, and brokers stay as they are; an upgrade appends nothing."""
    is_leader = before.is_leader_new != after.is_leader_new
    is_coordinator = before.is_coordinator_new != after.is_coordinator_new
    if is_leader or is_coordinator:
        is_one = is_leader != is_coordinator and before.is_leader_new <= after.is_leader_new
        is_none = not after.is_appended and not after.is_refused
        return is_one and is_none and before.is_coordinator_new <= after.is_coordinator_new
    return after.is_appended != after.is_refused


@reachable()
def leader_is_upgraded_first(verified: VerifiedAppend) -> bool:
    """A record is to be appended by a leader that is upgraded, and whose coordinator is not."""
    is_amid = verified.is_leader_new and not verified.is_coordinator_new
    return is_amid and (verified.is_appended or verified.is_refused)


@reachable()
def all_are_upgraded(verified: VerifiedAppend) -> bool:
    """Both brokers are upgraded."""
    return verified.is_leader_new and verified.is_coordinator_new and verified.is_appended
