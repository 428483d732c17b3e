"""What findings of one snapshot mean: causes and ways out that name its brokers, ids and logs, by theme."""
