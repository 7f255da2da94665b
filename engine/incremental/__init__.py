"""How far incremental sources have been read."""
