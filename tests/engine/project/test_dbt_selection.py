"""Selections agree with dbt-core's own selector on random graphs (`make test-more`, which makes `.venv-dbt`)."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import JobError
from engine.project.selection.parse_selection import parse_arguments
from engine.project.selection.select_jobs import select
from engine.project.selection.selectable import Changes, Selectable, SelectableGraph

ROOT = Path(__file__).parents[3]
DBT = ROOT / ".venv-dbt/bin/python"
GRAPHS = int(os.environ.get("PENSTOCK_TEST_SELECTIONS", "200"))
SELECTIONS_PER_GRAPH = 10
NAMES = ("orders", "orders_daily", "stg_orders", "customers", "dim_customers", "a", "b", "c.d", "marts", "x1")
FOLDERS = ((), ("staging",), ("marts",), ("marts", "sales"), ("marts", "a"))
TAGS = ("daily", "nightly", "pii", "d")
SOURCES = (("lake", "orders"), ("lake", "events"), ("warehouse", "orders"), ("lak", "e"))


def random_graph(rng: random.Random) -> SelectableGraph:
    nodes = {}
    for folders in FOLDERS:
        for name in rng.sample(NAMES, rng.randint(0, 3)):
            key = f"model.shop.{'.'.join((*folders, name))}"
            config = {"materialized": rng.choice(["table", "view"]), "meta": {"team": rng.choice(["bi", "ops"])}}
            config |= {"full_refresh": rng.random() < 0.5, "groups": rng.sample(["x", "y", "z"], 2)}
            file = "/".join(("jobs", *folders, f"{name}{rng.choice(['.conf', '.sql'])}"))
            tags = tuple(rng.sample(TAGS, rng.randint(0, 2)))
            nodes[key] = Selectable(key, ("shop", *folders, name), file, tags, config)
    sources = rng.sample(SOURCES, rng.randint(0, 3))
    for group, table in sources:
        key = f"source.shop.{group}.{table}"
        nodes[key] = Selectable(key, ("shop", group, table), source=(group, table))
    keys = rng.sample(sorted(nodes), len(nodes))
    keys.sort(key=lambda key: nodes[key].source is None)
    parents = {
        key: tuple(other for other in keys[:at] if rng.random() < 0.25)
        for at, key in enumerate(keys)
        if nodes[key].source is None
    }
    jobs = [key for key in nodes if nodes[key].source is None]
    new = frozenset(key for key in jobs if rng.random() < 0.2)
    modified = frozenset(key for key in jobs if rng.random() < 0.3) - new
    results = {key: rng.choice(["success", "error", "skipped"]) for key in jobs if rng.random() < 0.8}
    return SelectableGraph(Path(), nodes, parents, Changes(new, modified), results)


def random_value(rng: random.Random, graph: SelectableGraph) -> str:
    def name() -> str:
        node = graph.nodes[rng.choice(sorted(graph.nodes))] if graph.nodes else None
        parts = list(node.fqn) if node else ["shop", "a"]
        text = ".".join(parts[rng.randint(0, len(parts) - 1) : rng.randint(1, len(parts))]) or rng.choice(NAMES)
        at = rng.randint(0, len(text))
        return rng.choice([text, text, f"{text[:at]}*", f"*{text[at:]}", text[:at] + "?" + text[at + 1 :], f"{text}.*"])

    folder = "/".join(("jobs", *rng.choice(FOLDERS)))
    return rng.choice(
        [
            name(), name(), name(), f"fqn:{name()}", f"tag:{rng.choice((*TAGS, 'd*', '*ly'))}", "*",
            f"path:{folder}", f"path:{folder}/*.sql", f"{folder}/*", f"{folder}/**/*.conf", f"path:{folder}/",
            f"source:{'.'.join(rng.choice(SOURCES))}", f"source:{rng.choice(['lake', 'lak*', '*', '*.orders'])}",
            f"source:shop.{'.'.join(rng.choice(SOURCES))}", "source:a.b.c.d",
            f"config.materialized:{rng.choice(['table', 'view', 'x'])}",
            f"config.meta.team:{rng.choice(['bi', 'ops'])}",
            f"config.full_refresh:{rng.choice(['true', 'false', 'True'])}", f"config.groups:{rng.choice('xyz')}",
            "config.nothing:x", f"state:{rng.choice(['new', 'old', 'modified', 'unmodified', 'odd'])}",
            f"result:{rng.choice(['success', 'error', 'skipped', 'odd'])}", f"file:{rng.choice(NAMES)}.sql",
            f"{rng.choice(NAMES)}.sql", f"file:{rng.choice(NAMES)[:2]}*", "package:shop", "package:this", "package:o*",
        ]
    )  # fmt: skip


def random_text(rng: random.Random, graph: SelectableGraph) -> str:
    def criterion() -> str:
        before = rng.choice(["", "", "", "+", "1+", "2+", "@", "@+"])
        after = rng.choice(["", "", "", "+", "+1", "+2"])
        return f"{before}{random_value(rng, graph)}{after}"

    def intersection() -> str:
        return ",".join(criterion() for _ in range(rng.choice([1, 1, 1, 2, 3])))

    return rng.choice([" ", " ", "  "]).join(intersection() for _ in range(rng.choice([1, 1, 2, 3])))


def random_selection(rng: random.Random, graph: SelectableGraph) -> dict[str, list[str] | None]:
    chosen = [random_text(rng, graph) for _ in range(rng.choice([1, 1, 2]))] if rng.random() < 0.9 else None
    return {"select": chosen, "exclude": [random_text(rng, graph)] if rng.random() < 0.3 else None}


def case_of(graph: SelectableGraph, root: Path, selections: list) -> str:
    nodes = [
        {"id": node.id, "fqn": node.fqn, "file": node.file, "tags": node.tags, "config": node.config,
         "source": node.source}
        for node in graph.nodes.values()
    ]  # fmt: skip
    edges = [[parent, child] for child, parents in graph.parents.items() for parent in parents]
    assert graph.changes is not None
    return json.dumps(
        {"root": str(root), "nodes": nodes, "edges": edges, "selections": selections, "results": graph.results,
         "new": sorted(graph.changes.new), "modified": sorted(graph.changes.modified)}
    )  # fmt: skip


def ours(graph: SelectableGraph, selection: dict) -> list[str] | None:
    try:
        return sorted(select(parse_arguments(selection["select"], selection["exclude"] or ()), graph))
    except JobError:
        return None


@pytest.mark.dbt
@pytest.mark.soak
def test_random_selections_agree_with_dbts_own_selector(tmp_path):
    assert DBT.exists(), "make .venv-dbt/.dbt"
    cases = []
    for seed in range(GRAPHS):
        rng = random.Random(seed)
        graph, root = random_graph(rng), tmp_path / str(seed)
        for node in graph.nodes.values():
            (root / node.file).parent.mkdir(parents=True, exist_ok=True)
            if node.file:
                (root / node.file).touch()
        graph = SelectableGraph(root, graph.nodes, graph.parents, graph.changes, graph.results)
        cases.append((graph, [random_selection(rng, graph) for _ in range(SELECTIONS_PER_GRAPH)]))
    lines = "\n".join(case_of(graph, graph.root, selections) for graph, selections in cases)
    done = subprocess.run(
        [DBT, "-W", "ignore", Path(__file__).with_name("dbt_selector.py")],
        input=lines, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(answers) == len(cases)
    differing, errors = [], 0
    for (graph, selections), theirs in zip(cases, answers, strict=True):
        for selection, answer in zip(selections, theirs, strict=True):
            expected = answer if isinstance(answer, list) else None
            errors += expected is None
            if ours(graph, selection) != expected:
                differing.append((selection, ours(graph, selection), answer))
    assert not differing, f"{len(differing)}: " + "\n".join(map(str, differing[:10]))
    assert errors < GRAPHS * SELECTIONS_PER_GRAPH / 2
