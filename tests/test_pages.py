"""Every code block of the pages is checked: jobs are validated, commands are run in order, statements are parsed.

A block with a title (`hocon title="jobs/a.conf"`) is a file that the commands of its page find. A line of a `sh` block
is a command; a comment `# exit code 1` gives the expected exit code. All pages share one Spark session.
"""

import io
import json
import re
import shlex
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode, plan_actions
from catalog.types.datatypes import ATOMIC_TYPES
from catalog.types.typetext import parse_type
from engine.cli import main
from engine.job.find import PROJECT_FILE
from engine.job.hocon.parse import parse

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")),
]  # fmt: skip
TESTED_ELSEWHERE = {
    "docs/tutorial.md": "test_tutorial",
    "docs/extending.md": "plans/test_extending",
    "examples/README.md": "test_examples",
    "examples/flights/README.md": "test_examples",
}
BLOCK = re.compile(r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```', re.DOTALL | re.MULTILINE)
JOBS = ("hocon", "sql")
SHOWN_ONLY = ("", "text", "console", "csv", "diff", "json", "python", "toml", "yaml", "bash")
"""Languages of blocks that are output, data, other programs, or snippets whose command is in another block."""
NEEDS_SPARK = ("backfill", "describe", "restate", "run", "schema sync", "show", "test")
SECRETS = {"SHOP_PASSWORD": "unused", "S3_KEY": "unused", "S3_SECRET": "unused"}
ADDRESSES = {
    "SHOP_URL": "jdbc:postgresql://localhost:5432/shop",
    "SHOP_USER": "etl",
    "MONGO_URI": "mongodb://localhost:27017",
}


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def file_of(block: re.Match[str]) -> str | None:
    """The file that a block is: by its title, or by a comment that starts it (`# orders.conf`)."""
    first = re.match(r"(?:#|--) (\S+\.(?:conf|json|sql))\n", block["text"])
    return block["title"] or (first[1] if first else None)


def commands(page: Path) -> list[str]:
    return [
        line
        for block in blocks(page)
        if block["language"] == "sh"
        for line in block["text"].replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#")
    ]


def needs_spark(page: Path) -> bool:
    return any(line.startswith(f"penstock {start} ") for line in commands(page) for start in NEEDS_SPARK)


TESTED = [page for page in PAGES if page_name(page) not in TESTED_ELSEWHERE]
WITH_COMMANDS = [
    pytest.param(page, id=page_name(page), marks=[pytest.mark.spark] if needs_spark(page) else [])
    for page in TESTED
    if commands(page)
]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_block_has_a_known_language_and_none_is_indented(page):
    unknown = {block["language"] for block in blocks(page)} - {*JOBS, *SHOWN_ONLY, "sh"}
    assert not unknown or page_name(page) in TESTED_ELSEWHERE
    outside = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert not re.search(r"(?<=\n\n)    \S", outside), "a block without a fence is not tested"


@pytest.mark.parametrize(
    "page", [page for page in TESTED if any(block["language"] in JOBS for block in blocks(page))], ids=page_name
)
def test_jobs_are_valid(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for variable, value in {**SECRETS, **ADDRESSES}.items():
        monkeypatch.setenv(variable, value)
    write_files(page, tmp_path)
    for number, block in enumerate(blocks(page)):
        if block["language"] not in JOBS:
            continue
        suffix = "conf" if block["language"] == "hocon" else "sql"
        path = Path(file_of(block) or f"block_{number}.{suffix}")
        if path.name.startswith("_") or path.name.endswith((".test.sql", ".test.conf")):
            continue  # only included; a test of a job, which `penstock test` runs
        if is_fragment(block) or path.name == PROJECT_FILE:
            diagnostics = Diagnostics()
            parse(SourceFile(path.name, block["text"]), diagnostics)
            assert not diagnostics.has_errors, block["text"]
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"], encoding="utf-8")
        variables = [word for file in sorted(Path("env").glob("*.vars"))[:1] for word in ("--vars", str(file))]
        given = dict(value.split("=", 1) for value in re.findall(r" -i (\S+=\S*)", "\n".join(commands(page))))
        used = (f"{name}={value}" for name, value in given.items() if f"${{{name}" in block["text"])
        variables += [word for value in used for word in ("-i", value)]
        main(["validate", str(path), *variables, "--format", "json"])
        printed = json.loads(capsys.readouterr().out)
        errors = [diagnostic for diagnostic in printed if diagnostic["severity"] == "error"]
        assert [error for error in errors if error["code"] != "PEN4002"] == [], block["text"]  # PEN4002: no such table


def is_fragment(block: re.Match[str]) -> bool:
    """Whether a page shows a part of a job, which is parsed alone."""
    has = {section: bool(re.search(rf"(^|\s){section}\s*\{{", block["text"])) for section in ("source", "sink")}
    return block["language"] == "hocon" and not (has["source"] and has["sink"])


def write_files(page: Path, folder: Path) -> None:
    for block in blocks(page):
        if file := file_of(block):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(block["text"], encoding="utf-8")


def in_folder(spark, folder: Path):
    """Have the running JVM resolve relative paths below `folder`, as one started there would; returns the reverse."""
    files = spark._jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(spark._jvm.org.apache.hadoop.fs.Path(str(folder)))
    return lambda: files.setWorkingDirectory(before)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_run(page, request, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    write_files(page, tmp_path)
    services = {}
    if needs_spark(page):
        request.addfinalizer(in_folder(request.getfixturevalue("spark"), tmp_path))
    if "SHOP_URL" in page.read_text(encoding="utf-8"):
        database = request.getfixturevalue("postgres")
        database.clear()
        services = {"SHOP_URL": database.url, "SHOP_USER": database.user, "SHOP_PASSWORD": database.password}
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in commands(page):
        command, _, comment = line.partition("  # exit code ")
        words = shlex.split(command, comments=True)
        match words:
            case ["penstock", *arguments]:
                assert main(arguments) == int(comment or 0), line + "\n" + "".join(capfd.readouterr())
            case ["export", assignment]:
                variable, _, value = assignment.partition("=")
                monkeypatch.setenv(variable, services.get(variable, value))
            case ["make", *targets]:
                known = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
                assert set(targets) <= set(known), line
            case ["pip", "install", requirement]:
                extras = re.findall(r"\w+", requirement.partition("[")[2])
                assert all(re.search(rf"^{extra} = ", (ROOT / "pyproject.toml").read_text(), re.M) for extra in extras)
            case ["spark-submit", *arguments]:
                archive = arguments[arguments.index("--py-files") + 1]
                script = next(word for word in arguments if word.endswith(".py"))
                assert Path(archive).exists(), line
                assert Path(script).exists(), line
                if "--packages" in arguments:
                    packages = arguments[arguments.index("--packages") + 1]
                    assert f"--packages {packages} " in capfd.readouterr().out, line
            case _:
                pytest.fail(f"a command that no test knows: {line}")


@pytest.mark.parametrize("page", TESTED, ids=page_name)
def test_commands_and_options_in_the_text_exist(page):
    """`penstock run --dry-run` in running text: the command and its options are those of `--help`."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for command, options in re.findall(r"`penstock ([a-z]+)\b([^`]*)`", text.replace("\n", " ")):
        module = list((ROOT / "engine" / "commands").rglob(f"{command}.py"))
        assert module, f"penstock {command}"
        known = help_of(command)
        assert [option for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", options) if option not in known] == [], (
            command
        )


@cache
def help_of(command: str) -> set[str]:
    """The options of a command and its sub-commands."""
    starts = [["schema", action] for action in ("json", "sync", "diff", "show")] if command == "schema" else [[command]]
    printed = io.StringIO()
    for start in starts:
        with redirect_stdout(printed):
            assert main([*start, "--help"]) == 0
    return set(re.findall(r"--?[a-z][a-z-]*", printed.getvalue()))


def test_the_table_of_save_modes_is_what_commits_do(update):
    """Each cell is what `plan_actions` gives for that state of the target."""
    page = ROOT / "docs" / "concepts.md"
    text = page.read_text(encoding="utf-8")
    table = save_modes()
    if update:
        page.write_text(re.sub(r"(<!-- save modes -->\n).*?(?=\n\*Add)", rf"\1{table}", text, flags=re.DOTALL))
    assert f"<!-- save modes -->\n{table}\n" in page.read_text(encoding="utf-8"), "run pytest with --update"


SHORT = {
    Action.FAIL_MISSING: "error",
    Action.FAIL_HAS_ROWS: "error",
    Action.CREATE: "create",
    Action.DROP_AND_CREATE: "recreate",
    Action.KEEP: "",
    Action.NO_SCHEMA_CHANGE: "",
    Action.REPLACE_ROWS: "replace",
    Action.RUN_CUSTOM_SQL: "run SQL",
    Action.ADD_ROWS: "add",
}
STATES = (TargetState(exists=False), TargetState(exists=True), TargetState(exists=True, has_rows=True))


def save_modes() -> str:
    lines = [
        "| `schema_save_mode` | `data_save_mode` | Target missing | Without rows | With rows |",
        "|---|---|---|---|---|",
    ]
    default_schema, default_data = SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, DataSaveMode.APPEND_DATA
    for schema_mode in sorted(SchemaSaveMode, key=lambda mode: mode is not default_schema):
        for data_mode in sorted(DataSaveMode, key=lambda mode: mode is not default_data):
            cells = [
                ", ".join(
                    SHORT[action]
                    for action in plan_actions(schema_mode, data_mode, WriteMode.APPEND, state)
                    if SHORT[action]
                )
                for state in STATES
            ]
            names = [
                f"**`{mode.value}`**" if mode in (default_schema, default_data) else f"`{mode.value}`"
                for mode in (schema_mode, data_mode)
            ]
            lines.append(f"| {' | '.join([*names, *cells])} |")
    return "\n".join(lines) + "\n"


def test_the_table_of_types_has_every_type_and_each_can_be_read():
    text = (ROOT / "docs" / "job-files.md").read_text(encoding="utf-8")
    table = text.partition("<!-- types -->")[2].partition("\n\n")[0]
    listed = [
        spelled
        for cell in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
        for spelled in re.findall("`(.*?)`", cell)
    ]
    for spelled in listed:
        parse_type(
            re.sub(
                r"(?<=[<,: ])type\b",
                "int",
                spelled.replace("(p,s)", "(10,2)").replace("(p)", "(6)").replace("(n)", "(5)"),
            )
        )
    assert set(ATOMIC_TYPES) - {"unknown", "void"} <= {re.split(r"\W", spelled)[0] for spelled in listed}
