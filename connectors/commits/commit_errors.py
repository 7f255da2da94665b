"""What a user reads where a decided run cannot be committed."""

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.diagnostics.source import Span


def dismissal(run_id: str) -> str:
    """The way out that changes no target."""
    return f"`penstock runs --forget {run_id}` dismisses the run and changes no target"


def rows_are_gone(run_id: str, target: str, folder: str | None = None) -> RunError:
    """PEN5005: the rows that the run staged, in `folder` if one is named, are not there any more."""
    place = "" if folder is None else f" from `{folder}`"
    message = f"the rows that run `{run_id}` staged for `{target}` are gone{place}"
    help = f"{dismissal(run_id)}; then run the job again with the same `--run-id`: it writes what is missing"
    return run_error("PEN5005", message, None, help)


def table_changed(format: str, target: str, run_id: str) -> RunError:
    """PEN5005: the table is another than the one that the rows were staged for, or has other columns."""
    message = f"the {format} table `{target}` was changed after run `{run_id}` staged its rows"
    return run_error("PEN5005", message, None, f"{dismissal(run_id)}; then run the job again")


def in_doubt(format: str, target: str, run_id: str) -> RunError:
    """PEN5010: the table no longer shows whether it has the rows: its history since they were staged has expired."""
    message = (
        f"the snapshots of the {format} table `{target}` since run `{run_id}` staged its rows have expired: whether "
        "the rows are in the table is not known"
    )
    help = (
        f"{dismissal(run_id)}; where its rows are not there, then run the job again with `--run-id {run_id}`: it "
        "writes only what is not committed"
    )
    return run_error("PEN5010", message, None, help)


def created_meanwhile(format: str, target: str, span: Span | None) -> RunError:
    """PEN5304: another program created the table since the run inspected its target."""
    message = f"the {format} table `{target}` was created after this run looked for it"
    return run_error("PEN5304", message, span, "run the job again")
