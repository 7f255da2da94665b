"""Change logs of Debezium, Canal, Maxwell and GoldenGate: their envelopes, as rows with row kinds."""
