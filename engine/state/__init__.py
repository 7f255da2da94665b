"""What is on disk about runs, in the state directory: who may write, what runs did, and where they go on."""
