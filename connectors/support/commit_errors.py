"""What a user reads where a decided run cannot be committed."""

from catalog.diagnostics import RunError, run_error


def dismissal(run_id: str) -> str:
    """The way out that changes no target."""
    return f"`penstock runs --forget {run_id}` dismisses the run and changes no target"


def rows_are_gone(run_id: str, target: str, folder: str | None = None) -> RunError:
    """PEN5005: the rows that the run staged, in `folder` if one is named, are not there any more."""
    place = "" if folder is None else f" from `{folder}`"
    message = f"the rows that run `{run_id}` staged for `{target}` are gone{place}"
    help = f"{dismissal(run_id)}; then run the job again with the same `--run-id`: it writes what is missing"
    return run_error("PEN5005", message, None, help)
