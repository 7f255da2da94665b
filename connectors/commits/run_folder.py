"""The folder of a run in the state directory, as far as claims and journals of other runs are found by it.

<run folder>/claims/                       the processes that work on the run
<run folder>/journal/, journal-<epoch>/    the steps of its attempts
"""


def journal_folder(run_folder: str, epoch: int = 1) -> str:
    """The journal of the attempt of that epoch."""
    return f"{run_folder}/journal" if epoch <= 1 else f"{run_folder}/journal-{epoch}"


def claims_folder(run_folder: str) -> str:
    return f"{run_folder}/claims"


def epoch_of(journal: str) -> int:
    """The epoch of the attempt of a journal, by the journal's folder or URI."""
    number = journal.rpartition("/")[2].rpartition("-")[2]
    return int(number) if number.isdecimal() else 1


def run_folder_of(journal: str) -> str:
    """The folder of the run of a journal, by the journal's folder or URI."""
    return journal.rpartition("/")[0]


def run_name_of(journal: str) -> str:
    """The name of that folder: the id of the run, without `:`."""
    return run_folder_of(journal).rpartition("/")[2]
