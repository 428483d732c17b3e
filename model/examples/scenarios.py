"""The example scenarios, as the entry point group `kwalk.scenarios` announces them: the simplest first."""
from __future__ import annotations

from kwalk.model.examples.alternating_bit import ALTERNATING_BIT
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.chang_roberts import CHANG_ROBERTS
from kwalk.model.examples.checkpoint_lease import CHECKPOINT_LEASE
from kwalk.model.examples.consensus import CONSENSUS
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.disruptor import DISRUPTOR
from kwalk.model.examples.ewd426 import EWD426
from kwalk.model.examples.ewd840 import EWD840
from kwalk.model.examples.ewd998 import EWD998
from kwalk.model.examples.lamport_mutex import LAMPORT_MUTEX
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.paxos import PAXOS
from kwalk.model.examples.readers_writers import READERS_WRITERS
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.synod import SYNOD
from kwalk.model.examples.tic_tac_toe import TIC_TAC_TOE
from kwalk.model.examples.ticket_lock import TICKET_LOCK
from kwalk.model.examples.tower_of_hanoi import TOWER_OF_HANOI
from kwalk.model.examples.transaction_commit import TRANSACTION_COMMIT
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.examples.voting import VOTING
from kwalk.model.language import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    DIE_HARD,
    LOST_UPDATE,
    TRANSACTION_COMMIT,
    TWO_PHASE_COMMIT,
    TOWER_OF_HANOI,
    TIC_TAC_TOE,
    TICKET_LOCK,
    BLOCKING_QUEUE,
    ALTERNATING_BIT,
    READERS_WRITERS,
    EWD426,
    EWD840,
    EWD998,
    DISRUPTOR,
    CHANG_ROBERTS,
    LAMPORT_MUTEX,
    CONSENSUS,
    VOTING,
    SYNOD,
    PAXOS,
    CHECKPOINT_LEASE,
    REFERENCE,
)
