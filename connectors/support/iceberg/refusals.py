"""Why a decided run cannot be committed: the table or the staged rows are not what they were."""

from catalog.diagnostics import RunError, run_error
from connectors.support.iceberg.iceberg_staged import IcebergStaged


def table_changed(staged: IcebergStaged) -> RunError:
    message = f"the Iceberg table `{staged.address}` was changed after run `{staged.run_id}` staged its rows"
    help = f"remove `{staged.journal}` to forget the run, then run the job again"
    return run_error("PEN5005", message, None, help)


def rows_are_gone(staged: IcebergStaged) -> RunError:
    message = f"the rows that run `{staged.run_id}` staged for `{staged.address}` are gone"
    help = f"where they are not missed, remove `{staged.journal}`: then the run is forgotten"
    return run_error("PEN5005", message, None, help)
