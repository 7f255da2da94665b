"""A page that draws a job's plan: one file, no network."""
