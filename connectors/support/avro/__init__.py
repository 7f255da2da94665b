"""Avro: schemas as columns and back, and the registry from which Kafka records take theirs."""
