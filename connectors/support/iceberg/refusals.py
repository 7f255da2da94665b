"""Why a decided run cannot be committed: the table or the staged rows are not what they were."""

from catalog.diagnostics import RunError, run_error
from connectors.support.commit_errors import dismissal
from connectors.support.iceberg.iceberg_staged import IcebergStaged


def table_changed(staged: IcebergStaged) -> RunError:
    message = f"the Iceberg table `{staged.address}` was changed after run `{staged.run_id}` staged its rows"
    help = f"{dismissal(staged.run_id)}; then run the job again"
    return run_error("PEN5005", message, None, help)
