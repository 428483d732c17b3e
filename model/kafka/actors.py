"""The actors of a Kafka cluster. A controller and a broker belong to the system; clients, operators and faults do not.

An operator with a runbook always continues it, and so counts as part of the system.
"""

from __future__ import annotations

from kwalk.model.kafka.domains import ADMINS, BROKERS
from kwalk.model.language import Actor

CONTROLLER = Actor("controller", of=BROKERS)
BROKER = Actor("broker", of=BROKERS)
ZOOKEEPER = Actor("ZooKeeper")
KRAFT = Actor("KRaft controller")
OLD_CLIENT = Actor("old client", system=False)
NEW_CLIENT = Actor("new client", system=False)
PRODUCER = Actor("producer", system=False)
ADMIN = Actor("admin", of=ADMINS, system=False)
OPERATOR = Actor("operator", system=False)
RUNBOOK_OPERATOR = Actor("operator with a runbook")
FAULT = Actor("fault", system=False)
