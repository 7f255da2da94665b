"""Which intervals of a job are done, which a run does, and which were done when the job meant something else."""
