"""Who acts on a Kafka cluster. A controller and a broker act by themselves; clients, operators and faults at will.

An operator with a runbook is sure to go on with it, and so counts with those that act by themselves.
"""
from __future__ import annotations

from model.kafka.domains import ADMINS, BROKERS
from model.language import Actor

CONTROLLER = Actor("controller", of=BROKERS)
BROKER = Actor("broker", of=BROKERS)
ZOOKEEPER = Actor("ZooKeeper")
OLD_CLIENT = Actor("old client", system=False)
NEW_CLIENT = Actor("new client", system=False)
PRODUCER = Actor("producer", system=False)
ADMIN = Actor("admin", of=ADMINS, system=False)
OPERATOR = Actor("operator", system=False)
RUNBOOK_OPERATOR = Actor("operator with a runbook")
FAULT = Actor("fault", system=False)
