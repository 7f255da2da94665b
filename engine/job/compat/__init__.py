"""What SeaTunnel and other tools write in a job: read as there under `--compat`, else named in the message."""
