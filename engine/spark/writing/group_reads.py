"""What jobs that are committed together read of each other before the commit."""

from pyspark.sql import DataFrame, SparkSession

from connectors.interface.sink_abilities import SupportsStagedTable
from engine.plan.nodes import Node, Plan, Scan
from engine.spark.lower import Arrived
from engine.spark.writing.open_run import OpenRun


def missing_targets(plan: Plan, run: OpenRun) -> dict[Node, Arrived]:
    """The scans of targets that are made by this run: they have no rows before it."""
    missing = {check.write.name for check in run.checks if check.state.is_known and not check.state.exists}
    return {
        node: Arrived(None)
        for node in plan.nodes()
        if isinstance(node, Scan) and node.of_group is not None and not node.of_group.is_staged
        if node.of_group.write in missing
    }


def staged_table(spark: SparkSession, run: OpenRun, scan: Scan) -> DataFrame | None:
    """The rows of a scan that reads what a write of the run has staged; None for another one."""
    if scan.of_group is None or not scan.of_group.is_staged:
        return None
    write = next(check.write for check in run.checks if check.write.name == scan.of_group.write)
    assert isinstance(write.connector, SupportsStagedTable), f"`{write.name}` was chosen for that"
    names = scan.columns or scan.table.schema.names
    return write.connector.staged_table(spark, run.places[write.id], names)
