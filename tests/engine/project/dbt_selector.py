"""dbt-core's own selector over graphs given as JSON on standard input: what it selects, or None for an error.

Run by the Python of `.venv-dbt`, which has dbt-core; it imports nothing of Penstock.
"""

import json
import os
import sys
from argparse import Namespace

from dbt.flags import set_from_args

set_from_args(
    Namespace(INDIRECT_SELECTION="eager", WARN_ERROR=False, STATE_MODIFIED_COMPARE_MORE_UNRENDERED_VALUES=False), None
)

import networkx  # noqa: E402
from dbt.artifacts.resources import FileHash  # noqa: E402
from dbt.contracts.graph.manifest import Manifest  # noqa: E402
from dbt.contracts.graph.nodes import ModelConfig, ModelNode, SourceDefinition  # noqa: E402
from dbt.contracts.state import PreviousState  # noqa: E402
from dbt.graph.cli import parse_difference  # noqa: E402
from dbt.graph.graph import Graph  # noqa: E402
from dbt.graph.selector import NodeSelector  # noqa: E402
from dbt.node_types import NodeType  # noqa: E402


def node_of(each, code):
    where = {"database": "d", "schema": "s", "package_name": each["fqn"][0], "unique_id": each["id"]}
    where["fqn"] = each["fqn"]
    if each["source"]:
        group, name = each["source"]
        return SourceDefinition(
            name=name, resource_type=NodeType.Source, path="", original_file_path="", source_name=group,
            source_description="", loader="", identifier=name, **where,
        )  # fmt: skip
    config = ModelConfig()
    for name, value in each["config"].items():
        config[name] = value
    return ModelNode(
        name=each["fqn"][-1], resource_type=NodeType.Model, path=each["file"], original_file_path=each["file"],
        alias=each["fqn"][-1], checksum=FileHash.from_contents(code), raw_code=code, config=config, tags=each["tags"],
        **where,
    )  # fmt: skip


def manifest_of(nodes, codes):
    built = {each["id"]: node_of(each, codes(each["id"])) for each in nodes}
    return Manifest(
        nodes={key: node for key, node in built.items() if isinstance(node, ModelNode)},
        sources={key: node for key, node in built.items() if isinstance(node, SourceDefinition)},
    )


def previous_of(case):
    state = PreviousState.__new__(PreviousState)
    old = [each for each in case["nodes"] if each["id"] not in case["new"]]
    state.manifest = manifest_of(old, lambda key: "before" if key in case["modified"] else "now")
    state.results = [Namespace(unique_id=key, status=status) for key, status in case["results"].items()]
    return state


def selected(case):
    os.chdir(case["root"])
    graph = networkx.DiGraph()
    graph.add_nodes_from(each["id"] for each in case["nodes"])
    graph.add_edges_from(case["edges"], edge_type="model")
    manifest = manifest_of(case["nodes"], lambda key: "now")
    manifest.metadata.project_name = "shop"
    selector = NodeSelector(Graph(graph), manifest, previous_of(case))
    for one in case["selections"]:
        try:
            yield sorted(selector.get_selected(parse_difference(one["select"], one["exclude"]), False))
        except Exception as error:  # noqa: BLE001 (whatever dbt raises is its answer: no selection)
            yield f"{type(error).__name__}: {error}"


def main():
    for line in sys.stdin:
        print(json.dumps(list(selected(json.loads(line)))), flush=True)


main()
