"""What a broker does beside its logs, as in Kafka's kafka.server: requests, fetchers, the ISR, configuration, stops.

Each module is a model of its own, with few steps: `dynamic_broker_config` and `cleaner_rate` (which value of a
configuration holds), `alter_partition_manager` and `replica_lag` (who is in the ISR), `fetcher_thread`,
`idle_fetcher`, `fetcher_endpoint` and `fetch_session` (fetchers), `read_replica`, `delayed_requests`,
`request_buffers` and `request_timer` (requests), `partition_locks` (threads that wait for each other),
`kraft_directories` (a start in KRaft mode, and directories that fail), `full_requests` (what KRaft's controller sends
in a migration), `generated_ids` (ids of brokers), `network_stop` and `server_stop` (an orderly stop),
`partition_answers` and `topic_requests` (what clients are answered), `fetch_quotas`, `fetch_epochs`, `watched_fetch`,
`session_cache` and `fetcher_pool` (fetches), `transaction_coordinator` and `transaction_verification` (transactions),
`written_by_tools` (what tools leave in ZooKeeper), `controller_channel` and `quota_locks` (requests to the controller,
and their quotas), `feature_listener`, `server_start` and `producer_expiration` (what ends a broker, or a start
forgets). `versions` has the flags, and `kwalk.invariants.stories.server` and `answers` the stories.
"""
