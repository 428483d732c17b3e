"""What acts on a cluster from outside: admin clients, operators, runbooks, faults.

Parts of Kafka's library have models of their own: the producer's half of a transaction (`transaction_manager`), its
batches (`record_accumulator`), and from where a consumer reads on (`fetcher`). What brokers do about transactions is
in `kwalk.model.kafka.server` and `groups`, and what logs know of producers in `storage`.
"""
