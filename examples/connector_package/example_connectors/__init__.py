"""Connectors of another package: a source, a sink, and a source and a sink of rows."""
