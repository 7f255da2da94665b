"""Copies of what jobs have written in one environment, for another one."""
