"""Turns job files of Apache SeaTunnel into strict ones."""
