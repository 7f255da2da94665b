"""What a plan means, whatever its text looks like: equal for jobs that write the same rows."""
