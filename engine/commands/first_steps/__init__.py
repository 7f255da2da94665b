"""Commands for new jobs: start a project, describe data as a source block, show the rows of a node."""
