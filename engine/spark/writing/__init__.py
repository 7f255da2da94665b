"""Writes a job: checks every sink, stages every sink, then commits every sink in order.

check    inspects each target and determines the save-mode actions; changes nothing
begin    opens the run's journal, after killed runs were ended
stage    writes rows where readers do not see them; can be repeated for a retry
commit   records the decision in the journal, then commits each sink
abort    removes what was staged
recover  ends a killed run: finished if it had decided to commit, otherwise rolled back
"""
