"""The example scenarios, as the entry point group `kwalk.scenarios` announces them: the simplest first."""
from __future__ import annotations

from model.examples.alternating_bit import ALTERNATING_BIT
from model.examples.blocking_queue import BLOCKING_QUEUE
from model.examples.chang_roberts import CHANG_ROBERTS
from model.examples.die_hard import DIE_HARD
from model.examples.ewd426 import EWD426
from model.examples.ewd840 import EWD840
from model.examples.lamport_mutex import LAMPORT_MUTEX
from model.examples.lost_update import LOST_UPDATE
from model.examples.paxos import PAXOS
from model.examples.readers_writers import READERS_WRITERS
from model.examples.reference import REFERENCE
from model.examples.synod import SYNOD
from model.examples.tic_tac_toe import TIC_TAC_TOE
from model.examples.ticket_lock import TICKET_LOCK
from model.examples.tower_of_hanoi import TOWER_OF_HANOI
from model.examples.two_phase_commit import TWO_PHASE_COMMIT
from model.examples.voting import VOTING
from model.language import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    DIE_HARD,
    LOST_UPDATE,
    TWO_PHASE_COMMIT,
    TOWER_OF_HANOI,
    TIC_TAC_TOE,
    TICKET_LOCK,
    BLOCKING_QUEUE,
    ALTERNATING_BIT,
    READERS_WRITERS,
    EWD426,
    EWD840,
    CHANG_ROBERTS,
    LAMPORT_MUTEX,
    VOTING,
    SYNOD,
    PAXOS,
    REFERENCE,
)
