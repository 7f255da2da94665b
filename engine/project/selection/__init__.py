"""Selection of jobs by dbt's node-selection grammar: text ──parse──▶ Selection ──select──▶ ids of a graph."""
