"""Jobs that look like SeaTunnel's and are read without `--compat`."""

import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.model.job import Job

_MARKS: Final = re.compile(r"\b(?:source_table_name|result_table_name|execution\.parallelism|from\s+dual)\b", re.I)
_WORDS: Final = ("_table_name", "execution.parallelism", "dual")
_CALLS_THAT_DIFFER: Final = re.compile(
    r"\b(?:[lr]?trim\s*\([^()]*,|datediff\s*\(|dateadd\s*\(|dayname\s*\(|monthname\s*\(|insert\s*\(|week\s*\("
    r"|formatdatetime\s*\(|parsedatetime\s*\(|extract\s*\(\s*dayofweek|cast\s*\([^()]*as\s+timestamp\s*\))",
    re.I,
)


def note_compat(job: Job, diagnostics: Diagnostics) -> None:
    """Warn where a job looks like Apache SeaTunnel's and calls functions that mean something else there."""
    folded = job.source.text.lower()
    if not any(word in folded for word in _WORDS):  # most jobs: faster than the pattern
        return
    if _MARKS.search(job.source.text) and (call := _CALLS_THAT_DIFFER.search(job.source.text)):
        diagnostics.warning(
            "PEN2031",
            f"the job looks like Apache SeaTunnel's, whose `{call.group().partition('(')[0].strip()}` is not Spark's",
            job.source.span(*call.span()),
            "`--compat seatunnel`, or `env { sql.dialect = seatunnel }`, runs it as there",
        )
