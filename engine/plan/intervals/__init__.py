"""What a job with intervals writes: the rows of an interval, in place of those that the target has of it."""
