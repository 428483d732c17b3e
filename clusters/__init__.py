"""Real clusters: Kafka brokers of released versions, beside the model of them."""
