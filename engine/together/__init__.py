"""Several jobs that are published together: staged as one run, and committed under one decision."""
