"""The stories by theme; `model.kafka.scenarios` has the base that they vary."""
