"""A plan's lineage as OpenLineage's datasets with the column lineage facet (spec 1-2-0)."""

from catalog.options import Value
from catalog.secret_names import redacted_text
from engine.plan.datasets import dataset_of
from engine.plan.lineage import SourceColumn, lineage
from engine.plan.nodes import Plan, Scan, Write
from sql.analyze import Dependency

PRODUCER = "urn:penstock:engine"
FACET = "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
SCHEMA = "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet"
SUBTYPES = {Dependency.GROUP_BY: "GROUP_BY", Dependency.AGGREGATION: "AGGREGATION"}


def to_openlineage(plan: Plan) -> dict[str, Value]:
    """The job with its input and output datasets."""
    found = lineage(plan)
    scans = {node.written_name: node for node in plan.nodes() if isinstance(node, Scan)}
    outputs: list[Value] = []
    for write in plan.writes:
        fields: dict[str, Value] = {
            name: {"inputFields": [_field(scans[origin.scan], origin) for origin in found[write].get(name.lower(), ())]}
            for name in write.table.schema.names
        }
        lineage_facet: Value = {"_producer": PRODUCER, "_schemaURL": FACET, "fields": fields}
        outputs.append({**_dataset(write), "facets": {"schema": _schema(write), "columnLineage": lineage_facet}})
    inputs: list[Value] = [{**_dataset(scan), "facets": {"schema": _schema(scan)}} for scan in scans.values()]
    return {"job": {"namespace": "penstock", "name": plan.env.name}, "inputs": inputs, "outputs": outputs}


def _dataset(node: Scan | Write) -> dict[str, Value]:
    dataset = dataset_of(node)
    if dataset is None:
        return {"namespace": node.connector.name.lower(), "name": node.written_name}
    return {"namespace": redacted_text(dataset.namespace), "name": redacted_text(dataset.name) or node.written_name}


def _schema(node: Scan | Write) -> Value:
    fields: list[Value] = [{"name": column.name, "type": str(column.type)} for column in node.table.columns]
    return {"_producer": PRODUCER, "_schemaURL": SCHEMA, "fields": fields}


def _field(scan: Scan, origin: SourceColumn) -> Value:
    kind = {
        "type": "DIRECT" if origin.is_direct else "INDIRECT",
        "subtype": SUBTYPES.get(origin.dependency, origin.dependency.value.upper()),
        "description": "",
        "masking": False,
    }
    return {**_dataset(scan), "field": origin.column, "transformations": [kind]}
