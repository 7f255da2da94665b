"""Transforms that extract values: each module holds one."""
