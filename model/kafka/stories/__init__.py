"""The stories by theme; `kwalk.model.kafka.scenarios` has the base that they vary."""
