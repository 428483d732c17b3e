"""What acts on a cluster from outside: admin clients, operators, runbooks, faults.

`transaction_manager` is a model of its own: the producer's half of a transaction. What brokers do about transactions is
in `kwalk.model.kafka.server` and `groups`, and what logs know of producers in `storage`.
"""
