"""Protobuf: messages of a `.proto` text or descriptor set, their types, and their values in Spark's tasks."""
