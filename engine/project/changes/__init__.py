"""The plan of changes: what changed in a project against another state of it, and how it is shown."""
