"""What docstrings and comments name in backquotes exists: modules, functions, classes and words of the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.test_words import PACKAGES, ROOT, explanations

QUOTED = re.compile(r"(``?)([^`\n]+?)\1(?!`)")
FILE = re.compile(r"[\w/]+\.py")
DOTTED = re.compile(r"[a-z_]\w*(?:\.\w+)+(?:\(\))?")
CLASS = re.compile(r"(?:[A-Z][a-z0-9]+){2,}(?:\.\w+)?")
WORD = re.compile(r"[a-z]+(?:_[a-z0-9]+)+(?:\(\))?")
WORDS = re.compile(r"\w+")
NOT_OURS = frozenset(
    {
        # classes of Spark, Delta, Iceberg, Paimon, SeaTunnel and Java
        "AnsiTypeCoercion", "BinaryRow", "CollationTypeCoercion", "ConfigShadeUtils", "DecimalPrecision", "DecimalType",
        "HadoopTableOperations", "HiveUtils", "IOException", "InheritAnalysisRules", "JsonToRowConverters",
        "RoundingEpsilon", "SchemaMergingUtils", "SnapshotCommit", "SparkDateTimeUtils", "StaticSQLConf",
        "ToNumberParser", "TypeToSparkType", "JsonInferSchema", "SchemaConverters", "SqlBaseParser", "ZoneId",
        # functions of Spark's API, and of other databases
        "from_protobuf", "to_avro",
        # names in examples of jobs and texts
        "fake_2", "filter_2", "ids_rows", "orders_1", "password_file",
    }
)  # fmt: skip


def of_code() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the four packages by its path."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def is_explanation(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def used_words(node: ast.AST) -> Iterator[str]:
    """The identifiers of the code, and the words of its texts, but for docstrings."""
    for child in ast.iter_child_nodes(node):
        if is_explanation(child):
            continue
        match child:
            case ast.Constant(value=str() as text):
                yield from WORDS.findall(text)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.keyword(arg=str() as name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
        yield from used_words(child)


@cache
def words_of_modules() -> dict[str, frozenset[str]]:
    return {path: frozenset(used_words(tree)) for path, tree in of_code()}


@cache
def known_words() -> frozenset[str]:
    """The words of the code, of the files of data next to it, and the names of modules and of files of tests."""
    found = {word for words in words_of_modules().values() for word in words}
    data = [path for package in PACKAGES for end in ("tsv", "txt") for path in (ROOT / package).rglob(f"*.{end}")]
    found |= {word for path in data for word in WORDS.findall(path.read_text(encoding="utf-8"))}
    return frozenset(found | {part for path in python_files() for part in path[: -len(".py")].split("/")})


@cache
def python_files() -> frozenset[str]:
    return frozenset(
        path.relative_to(ROOT).as_posix()
        for folder in (*PACKAGES, "tests", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.py")
    )


@cache
def definitions() -> dict[str, frozenset[str]]:
    """The words of each module and package, by its last name: `run_decision`."""
    found: dict[str, set[str]] = {}
    for path, words in words_of_modules().items():
        *folders, name = path[: -len(".py")].split("/")
        found.setdefault(folders[-1] if name == "__init__" else name, set()).update(words)
        for folder, inside in zip(folders, [*folders[1:], name], strict=True):
            found.setdefault(folder, set()).add(inside)
    return {name: frozenset(words) for name, words in found.items()}


def is_missing(named: str, package: str) -> bool:
    """Whether it looks like a name of our code and is none; a file without its folder is in the same package, but for
    `catalog`, which describes where plugins of the others are."""
    words = named.removesuffix("()").split(".")
    if FILE.fullmatch(named):
        inside = (path for path in python_files() if package == "catalog" or path.startswith(f"{package}/"))
        return named not in python_files() and not any(path.endswith(f"/{named}") for path in inside)
    if DOTTED.fullmatch(named) and "_" not in words[0] and words[0] not in PACKAGES:
        return False  # an option, a setting or a column
    if DOTTED.fullmatch(named) and words[0] in definitions():
        modules = [word for word in words if word in definitions()]
        return not set(words[len(modules) :]) <= definitions()[modules[-1]]
    if CLASS.fullmatch(named) or WORD.fullmatch(named):
        return words[0] not in NOT_OURS and not known_words().issuperset(words)
    return False


@cache
def named_in(package: str) -> list[tuple[str, str]]:
    """What the docstrings and comments of a package name, with the places."""
    return [
        (f"{path.relative_to(ROOT)}:{line}", match[2])
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in explanations(path)
        for match in QUOTED.finditer(text)
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_comments_name_code_that_exists(package):
    wrong = [f"{place}: `{named}`" for place, named in named_in(package) if is_missing(named, package)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("named", "is_wrong"),
    [
        ("rules.py", True), ("kinds.py", True), ("argument_kinds.py", False), ("engine/state/layout.py", False),
        ("engine/layout.py", True), ("sql.typed.Scope", True), ("connectors.commits.claiming", False),
        ("run_decision.settle", False), ("run_decision.unsettle", True), ("commit_files", True),
        ("upload_commit", False), ("plugin_input", False), ("WriteTask", False), ("WriteTasked", True),
        ("split_part()", False), ("spark.sql.shuffle.partitions", False), ("DeltaTable.commit", False),
        ("DeltaTable.uncommitted_files", True),
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_found(named, is_wrong):
    assert is_missing(named, "sql") == is_wrong


def test_names_of_others_are_still_named():
    said = {word for package in PACKAGES for _, named in named_in(package) for word in WORDS.findall(named)}
    assert said >= NOT_OURS, NOT_OURS - said
