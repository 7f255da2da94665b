"""The layers of the design, held against the imports: who may know whom, and who may know Spark and sqlglot."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "catalog": {"catalog"},
    "sql": {"sql", "catalog"},
    "connectors": {"connectors", "catalog"},
    "engine": {"engine", "connectors", "sql", "catalog"},
}
ONLY_IN_SQL = ("sqlglot", "sqlglotc")
SPARK = ("pyspark", "delta", "py4j")
ON_SPARK = ("engine.spark.", "engine.testing.job_test", "engine.validation.spark_analyzer")


@dataclass(frozen=True)
class Import:
    """`module` imports `target`; `is_eager`: when it is imported itself, not in a function or for type checks alone."""

    module: str
    target: str
    line: int
    is_eager: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the four packages by its dotted name; parsed by the first test that asks, not at collection."""
    found = {}
    for package in MAY_IMPORT:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def imports(module: str, tree: ast.Module) -> Iterator[Import]:
    def visit(node: ast.AST, is_eager: bool) -> Iterator[Import]:
        match node:
            case ast.Import(names=names):
                yield from (Import(module, each.name, node.lineno, is_eager) for each in names)
            case ast.ImportFrom(module=target, names=names, level=level):
                assert level == 0, f"{module}:{node.lineno}: relative import"
                yield Import(module, target, node.lineno, is_eager)
                yield from (Import(module, f"{target}.{each.name}", node.lineno, is_eager) for each in names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=orelse):
                for each in body:
                    yield from visit(each, False)
                for each in orelse:
                    yield from visit(each, is_eager)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for each in node.body:
                    yield from visit(each, False)
            case _:
                for each in ast.iter_child_nodes(node):
                    yield from visit(each, is_eager)

    yield from visit(tree, True)


@cache
def imports_of() -> dict[str, list[Import]]:
    """The imports of each module."""
    return {name: list(imports(name, tree)) for name, tree in modules().items()}


def all_imports() -> Iterator[Import]:
    return chain.from_iterable(imports_of().values())


def package(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


def test_the_packages_are_there():
    assert {package(name) for name in modules()} == set(MAY_IMPORT)
    assert len(modules()) > 40


def test_no_package_imports_one_above_or_beside_it():
    wrong = [
        each
        for each in all_imports()
        if package(each.target) in MAY_IMPORT and package(each.target) not in MAY_IMPORT[package(each.module)]
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_sqlglot_is_used_in_sql_alone():
    wrong = [each for each in all_imports() if package(each.target) in ONLY_IN_SQL and package(each.module) != "sql"]
    assert not wrong, "\n".join(map(str, wrong))


def test_spark_is_imported_by_its_own_modules_alone():
    wrong = [
        each
        for each in all_imports()
        if package(each.target) in SPARK and each.is_eager and not each.module.startswith(ON_SPARK)
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_only_running_leads_to_spark():
    """Of all modules outside engine/spark, only those that run jobs may import those within."""
    found = {
        each.module
        for each in all_imports()
        if each.is_eager and each.target.startswith(ON_SPARK) and not each.module.startswith(ON_SPARK)
    }
    assert found <= {
        "engine.runtime.application",
        "engine.runtime.answer_early",
        "engine.runtime.counting.planned_share",
        "engine.runtime.execute",
        "engine.runtime.incremental_targets",
        "engine.runtime.interval_targets",
        "engine.runtime.job_execution",
        "engine.runtime.persistence",
        "engine.runtime.streaming.lost_batches",
        "engine.runtime.streaming.run_stream",
        "engine.runtime.streaming.event_times",
        "engine.runtime.streaming.stream",
    }


def test_validate_and_explain_work_where_spark_is_not_installed():
    program = (
        "import sys\n"
        "for name in ('pyspark', 'delta', 'py4j', 'pandas', 'great_expectations'):\n"
        "    sys.modules[name] = None  # importing it fails\n"
        "from engine.cli import main\n"
        "assert main(['validate', 'examples']) == 0\n"
        "assert main(['explain', 'examples/flights/load.conf']) == 0\n"
        "assert main(['connectors']) == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def target_module(each: Import) -> str | None:
    """The module of ours that is imported; `from package import name` names it or something in it."""
    if each.target in modules():
        return each.target
    parent = each.target.rpartition(".")[0]
    return parent if parent in modules() else None


@cache
def arrows() -> dict[str, set[str]]:
    """Which module imports which, in whatever way: also inside functions and for type checks alone."""
    found: dict[str, set[str]] = {name: set() for name in modules()}
    for each in all_imports():
        target = target_module(each)
        if target is not None and target != each.module and not is_only_the_package(each, target):
            found[each.module].add(target)
    return found


def is_only_the_package(each: Import, target: str) -> bool:
    """`from sql.types import decimals` names the package on its way to the module."""
    return any(
        other.line == each.line and other.target.startswith(f"{target}.") and other.target in modules()
        for other in imports_of()[each.module]
    )


def circle(graph: Mapping[str, set[str]]) -> tuple[str, ...]:
    """A circle in the graph; empty if there is none."""
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> tuple[str, ...]:
        if name in trail:
            return (*trail[trail.index(name) :], name)
        if name not in done:
            for target in sorted(graph[name]):
                if found := visit(target, (*trail, name)):
                    return found
            done.add(name)
        return ()

    return next((found for name in sorted(graph) if (found := visit(name, ()))), ())


def test_no_import_of_any_kind_goes_in_a_circle():
    assert circle(arrows()) == ()


def room(module: str) -> str:
    """The sub-package of a module. Rooms of their own are the modules right under one of the four packages, and the
    entry of a connector's package, which stands above all its sub-packages."""
    is_package = (ROOT / module.replace(".", "/")).is_dir()
    folder = module if is_package else module.rpartition(".")[0]
    is_entry = module.startswith("connectors.") and module.endswith(".connector")
    return module if "." not in folder or is_entry else folder


def test_the_sub_packages_form_a_dag():
    graph: dict[str, set[str]] = {room(name): set() for name in modules()}
    for name, targets in arrows().items():
        graph[room(name)] |= {room(target) for target in targets} - {room(name)}
    assert circle(graph) == ()


def test_rooms_of_connectors_import_only_those_above_them_in_the_sketch():
    """`docs/architecture.md` has the sketch."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = page.partition("<!-- rooms of connectors/ -->\n```text\n")[2].partition("```")[0].splitlines()
    level = {name: number for number, line in enumerate(lines) for name in line[:36].split()}
    of_connectors = level["…"]

    def level_of(module: str) -> int:
        name = module.split(".")[1]
        return level.get(name, of_connectors)

    inside = [
        (name, target)
        for name, targets in arrows().items()
        for target in targets
        if name.startswith("connectors.") and target.startswith("connectors.") and "." in target
    ]
    wrong = [
        f"{name} imports {target}"
        for name, target in inside
        if name.split(".")[1] != target.split(".")[1] and level_of(name) <= level_of(target)
    ]
    assert not wrong, "\n".join(wrong)
    shared = {name for name, number in level.items() if number < of_connectors} - {"interface"}
    assert len(shared) == 8


def test_a_circle_is_seen():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ("a", "b", "c", "a")


def test_no_folder_has_more_than_sixteen_modules():
    sizes = {
        folder: len([path for path in folder.glob("*.py") if path.name != "__init__.py"])
        for package in MAY_IMPORT
        for folder in {path.parent for path in (ROOT / package).rglob("*.py")}
    }
    assert {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > 16} == {
        "engine/commands": 31  # one module a command
    }


def sqlglot_names(tree: ast.Module) -> set[str]:
    """The names by which a module knows sqlglot and what comes from it."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str() as target, names=names) if package(target) in ONLY_IN_SQL:
                found |= {each.asname or each.name for each in names}
            case ast.Import(names=names):
                found |= {each.asname or package(each.name) for each in names if package(each.name) in ONLY_IN_SQL}
    return found


def test_no_class_of_sqlglot_is_subclassed():
    """Its compiled build cannot instantiate such a class."""
    wrong = []
    for name, tree in modules().items():
        known = sqlglot_names(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                roots = {each.id for base in node.bases for each in ast.walk(base) if isinstance(each, ast.Name)}
                wrong += [f"{name}:{node.lineno} {node.name}"] * bool(roots & known)
    assert not wrong, "\n".join(wrong)


def test_only_the_parser_marks_nodes_of_sqlglot():
    """What the typer finds out is a value (`sql/types/printed_forms.py`); `meta` holds positions and pipe steps."""
    wrong = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        if not name.startswith("sql.parsing.")
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and "meta" in ast.unparse(node.value)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_two_modules_of_a_folder_differ_by_a_letter():
    def is_near(one: str, other: str) -> bool:
        longer, shorter = sorted((one, other), key=len, reverse=True)
        if len(longer) == len(shorter):
            return sum(a != b for a, b in zip(one, other, strict=True)) == 1
        return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))

    folders = defaultdict(list)
    for module in modules():
        folder, _, name = module.rpartition(".")
        folders[folder].append(name)
    pairs = [
        (folder, one, other)
        for folder, names in folders.items()
        for one, other in combinations(sorted(names), 2)
        if is_near(one, other)
    ]
    # connectors and commands have the names that users write
    assert pairs == [
        ("connectors", "ftp_file", "sftp_file"),
        ("connectors", "obs_file", "oss_file"),
        ("engine.commands", "run", "runs"),
    ]


def test_no_module_is_named_after_one_of_the_standard_library():
    found = {name for name in modules() if "." in name and name.rsplit(".", 1)[1] in sys.stdlib_module_names}
    assert found <= {"catalog.types", "sql.types"}  # as in pyspark.sql.types


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pyspark", [("pyspark", True)]),
        ("def f():\n    import pyspark", [("pyspark", False)]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pyspark", [("pyspark", False)]),
        ("class C:\n    import pyspark", [("pyspark", True)]),
        ("try:\n    import pyspark\nexcept ImportError: pass", [("pyspark", True)]),
        ("from pyspark import sql", [("pyspark", True), ("pyspark.sql", True)]),
    ],
)
def test_the_reader_of_imports_sees_them(source, expected):
    found = [(each.target, each.is_eager) for each in imports("m", ast.parse(source)) if "pyspark" in each.target]
    assert found == expected


def test_a_match_on_plan_nodes_handles_every_kind():
    nodes = {"Scan", "Query", "Native", "Union", "Expect", "Rejects", "Watermark", "Shuffle", "Write"}
    wrong = []
    for name, tree in modules().items():
        for match in (node for node in ast.walk(tree) if isinstance(node, ast.Match)):
            patterns = [part for case in match.cases for part in ast.walk(case.pattern)]
            kinds = {ast.unparse(part.cls) for part in patterns if isinstance(part, ast.MatchClass)}
            if kinds & nodes and "assert_never" not in ast.unparse(match.cases[-1]):
                wrong.append(f"{name}:{match.lineno}")
    assert not wrong, "\n".join(wrong)


def test_a_name_of_a_public_class_means_one_thing():
    found = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    double = [f"{name}: {', '.join(places)}" for name, places in found.items() if len(places) > 1]
    assert not double, "\n".join(double)
