"""Transforms that SQL cannot express, one per module."""
