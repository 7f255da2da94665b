"""The commands of the first hour: a project, a source block from data, rows of a node."""
