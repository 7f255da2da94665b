"""Transforms that SQL cannot say; each module holds one."""
