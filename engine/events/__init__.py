"""Events of a run: each change of state of the job and its pipelines, for those who listen."""
