"""What acts on a cluster from outside: admin clients, operators, runbooks, faults."""
