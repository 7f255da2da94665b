"""Why a decided run cannot be committed: the table or the staged rows are not what they were."""

from catalog.diagnostics import RunError, run_error
from connectors.support.iceberg.iceberg_staged import IcebergStaged


def table_changed(staged: IcebergStaged) -> RunError:
    message = f"the Iceberg table `{staged.address}` was changed after run `{staged.run_id}` staged its rows"
    help = f"{_dismissed(staged)}; then run the job again"
    return run_error("PEN5005", message, None, help)


def rows_are_gone(staged: IcebergStaged) -> RunError:
    message = f"the rows that run `{staged.run_id}` staged for `{staged.address}` are gone"
    help = f"{_dismissed(staged)}; then run the job again with the same `--run-id`: it writes what is missing"
    return run_error("PEN5005", message, None, help)


def _dismissed(staged: IcebergStaged) -> str:
    return f"`penstock runs --forget {staged.run_id}` dismisses the run and changes no target"
