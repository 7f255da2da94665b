"""Blocks against option specs: what is taken, what is refused and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, Severity
from catalog.diagnostics.source import SourceFile
from catalog.options import Option, OptionType
from engine.job.hocon.parse import parse
from engine.job.hocon.substitution import resolve
from engine.job.options.check_options import check_options
from engine.job.options.option_schema import conforms, option_schema, violations

SPEC = (
    Option("path", OptionType.STRING, "Where.", required=True),
    Option("format", OptionType.STRING, "How.", default="csv", choices=("csv", "json"), alternatives=("file.format",)),
    Option("row.num", OptionType.INTEGER, "How many.", default=5, minimum=1),
    Option("ratio", OptionType.NUMBER, "How much.", minimum=0),
    Option("header", OptionType.BOOLEAN, "Whether.", default=False),
    Option("keys", OptionType.LIST, "Which.", element=OptionType.STRING),
    Option("rules", OptionType.LIST, "What.", element=OptionType.MAP),
    Option("conf", OptionType.MAP, "More.", element=OptionType.STRING),
    Option("schema", OptionType.MAP, "Columns."),
    Option("password", OptionType.STRING, "Secret.", sensitive=True),
)


def check(text, spec=SPEC, variables=None, **more):
    diagnostics = Diagnostics()
    tree = resolve(parse(SourceFile("a.conf", text), diagnostics), diagnostics, variables or {}, {})
    return check_options(tree, spec, diagnostics, owner="`Thing`", **more), diagnostics


def values(text):
    options, diagnostics = check('path = "p"\n' + text)
    assert list(diagnostics) == []
    assert options.is_valid
    return options.values


def errors_of(text, **more):
    options, diagnostics = check(text, **more)
    assert diagnostics.has_errors or options.is_valid
    return [
        f"{each.span.line}:{each.span.column}-{each.span.end_column} {each.code} {each.message}" for each in diagnostics
    ]


TAKEN = [
    ("format = JSON", "format", "json"),
    ("file.format = json", "format", "json"),
    ("file { format = json }", "format", "json"),
    ("row.num = 7", "row.num", 7),
    ('row { num = "7" }', "row.num", 7),
    ("row.num = 7.0", "row.num", 7),
    ("ratio = 0.25", "ratio", 0.25),
    ('ratio = "1e-3"', "ratio", 0.001),
    ("ratio = 3", "ratio", 3),
    ("header = true", "header", True),
    ("header = yes", "header", True),
    ('header = "False"', "header", False),
    ("header = null", "header", False),
    ("keys = [a, b]", "keys", ["a", "b"]),
    ('keys = "a, b"', "keys", ["a", "b"]),
    ("keys = [1, true]", "keys", ["1", "true"]),
    ("keys = id", "keys", ["id"]),
    ("keys = []", "keys", []),
    ("rules = [{a = 1}, {a = x}]", "rules", [{"a": 1}, {"a": "x"}]),
    ("conf { a.b = 1, c = 1.50, d { e = true } }", "conf", {"a.b": "1", "c": "1.50", "d.e": "true"}),
    (
        'schema { fields { id = bigint, a = "decimal(10,2)" } }',
        "schema",
        {"fields": {"id": "bigint", "a": "decimal(10,2)"}},
    ),
    ("path = 2024", "path", "2024"),
    ("password = 1234", "password", "1234"),
    ("", "format", "csv"),
    ("", "ratio", None),
]


@pytest.mark.parametrize(("text", "name", "value"), TAKEN)
def test_taken(text, name, value):
    taken = values(text)[name]
    assert taken == value
    assert type(taken) is type(value)


REFUSED = [
    ("path = p\npaht = q", "2:1-5 PEN2003 `Thing` has no option `paht`"),
    ("path = p\nrow { nmu = 1 }", "2:7-10 PEN2003 `Thing` has no option `row.nmu`"),
    ("format = csv", "1:1-13 PEN2005 `Thing` needs the option `path`"),
    ("path = p\nformat = cvs", "2:10-13 PEN2004 `format` must be `csv` or `json`, found `cvs`"),
    ("path = p\nrow.num = many", "2:11-15 PEN2004 `row.num` must be an integer, found `many`"),
    ("path = p\nrow.num = 1.5", "2:11-14 PEN2004 `row.num` must be an integer, found `1.5`"),
    ("path = p\nrow.num = true", "2:11-15 PEN2004 `row.num` must be an integer, found `true`"),
    ("path = p\nrow.num = 0", "2:11-12 PEN2004 `row.num` must be at least 1, found `0`"),
    ('path = p\nratio = "nan"', "2:9-14 PEN2004 `ratio` must be a number, found `nan`"),
    ("path = p\nheader = 1", "2:10-11 PEN2004 `header` must be true or false, found `1`"),
    ("path = [p]", "1:8-11 PEN2004 `path` must be a string, found a list"),
    ("path = p\nkeys = [a, {b = 1}]", "2:12-19 PEN2004 `keys.1` must be a string, found a block"),
    ("path = p\nrules = [{}, 3]", "2:14-15 PEN2004 `rules.1` must be a block, found `3`"),
    ("path = p\nconf = x", "2:8-9 PEN2004 `conf` must be a block, found `x`"),
    ("path = p\nconf { a.b = [1] }", "2:14-17 PEN2004 `conf.a.b` must be a string, found a list"),
    ("path = p\npassword = [hunter2]", "2:12-21 PEN2004 `password` must be a string, found a list"),
    ("path = p\nfile.format = csv\nformat = csv", "3:1-7 PEN2011 `format` and `file.format` are one option"),
]


@pytest.mark.parametrize(("text", "error"), REFUSED)
def test_refused(text, error):
    assert errors_of(text) == [error]


def test_all_errors_at_once_and_options_keep_their_types():
    options, diagnostics = check("limits = 3\nformat = x\nrow.num = y\nkeys = [{}]")
    assert [each.code for each in diagnostics] == ["PEN2004", "PEN2004", "PEN2004", "PEN2003", "PEN2005"]
    assert not options.is_valid
    assert (options.string("path"), options.string("format"), options.integer("row.num")) == ("", "csv", 5)


def test_one_error_does_not_bring_others_after_it():
    """A misspelled option is taken for the one that was meant, a wrong value for its default."""
    options, diagnostics = check("paht = p\nscema { fields { id = int } }\nrow.num = many\nformat = jsno")
    assert [each.code for each in diagnostics] == ["PEN2004", "PEN2004", "PEN2003", "PEN2003"]
    assert options.is_valid
    assert (options["path"], options["row.num"], options["format"]) == ("p", 5, "json")
    assert str(options.span("schema.fields.id")) == "a.conf:2:23"


def test_a_misspelled_option_is_not_taken_for_one_that_its_value_does_not_fit():
    options, diagnostics = check("path = p\nscema = 3")
    assert [each.code for each in diagnostics] == ["PEN2003"]
    assert options["schema"] is None


def test_compatibility_never_takes_an_option_for_another():
    options, _ = check("path = p\nformt = json", compat=Compat.SEATUNNEL_2)
    assert options["format"] == "csv"


def test_hints():
    _, diagnostics = check("paht = p\nformat = jsno")
    assert [each.help for each in diagnostics] == ["did you mean `json`?", "did you mean `path`?"]
    _, diagnostics = check("")
    assert [each.help for each in diagnostics] == ["path = …: Where."]


def test_compatibility_warns_of_unknown_options():
    options, diagnostics = check("path = p\nfoo = 1", compat=Compat.SEATUNNEL_2)
    assert [each.severity for each in diagnostics] == [Severity.WARNING]
    assert options.is_valid


def test_places_and_texts_lead_into_nested_values():
    text = 'path = p\nschema { fields { id = bigint } }\nrules = [{ a = "x" }]\nkeys = "a, bc"'
    options, diagnostics = check(text)
    assert not diagnostics.items
    assert str(options.span("schema.fields.id")) == "a.conf:2:24"
    assert str(options.span("rules.0.a")) == "a.conf:3:16"
    assert str(options.texts["rules.0.a"].span(0)) == "a.conf:3:17"
    assert options.texts["keys.1"].value == "bc"
    assert str(options.texts["keys.1"].span()) == "a.conf:4:12"
    assert options.span("ratio") == options.block


def test_an_undefined_variable_is_not_reported_again():
    options, diagnostics = check("path = ${nope}\nrow.num = ${nope}")
    assert {each.code for each in diagnostics} == {"PEN1003"}
    assert not options.is_valid
    assert options.integer("row.num") == 5


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(["csv", "json", "x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip

EVERY_OPTION = [
    *SPEC,
    Option("any", OptionType.ANY, "Anything."),
    Option("list", OptionType.LIST, "Things."),
    Option("sizes", OptionType.LIST, "Sizes.", element=OptionType.INTEGER, minimum=1),
    Option("kinds", OptionType.LIST, "Kinds.", element=OptionType.STRING, choices=("csv", "json")),
    Option("weights", OptionType.MAP, "Weights.", element=OptionType.NUMBER),
]


@given(st.sampled_from(EVERY_OPTION), JSON_VALUES)
def test_the_quick_check_and_jsonschema_agree(option, value):
    assert conforms(value, option) == (list(violations(value, option)) == [])


def test_json_schemas_are_valid_schemas():
    from jsonschema import Draft202012Validator

    for option in EVERY_OPTION:
        Draft202012Validator.check_schema(option_schema(option))
    given = check("path = p")[0].values | {
        "ratio": 1,
        "keys": [],
        "rules": [],
        "conf": {},
        "schema": {},
        "password": "x",
    }
    for option in SPEC:
        assert Draft202012Validator(option_schema(option)).is_valid(given[option.name]), option.name


def test_a_block_without_errors_never_imports_jsonschema(tmp_path):
    import subprocess
    import sys

    program = (
        "import sys\n"
        "sys.path[:0] = sys.argv[1:]\n"
        "from test_check import check\n"
        "sys.modules.pop('jsonschema', None)\n"
        "check('path = p, keys = [a], row.num = 2')\n"
        "assert 'jsonschema' not in sys.modules\n"
        "check('path = p, row.num = x')\n"
        "assert 'jsonschema' in sys.modules\n"
    )
    from pathlib import Path

    here = Path(__file__).parent
    subprocess.run([sys.executable, "-c", program, str(here), str(here.parents[2])], check=True, cwd=tmp_path)
