"""Transforms of tables as such: a set renamed, cut or merged, and one stream of rows made a set."""
