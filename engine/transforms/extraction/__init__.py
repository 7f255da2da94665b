"""Transforms that extract values, one per module."""
