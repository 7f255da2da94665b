"""The HOCON reader against pyhocon, which is the meaning of values, and where the two part ways on purpose."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyhocon import ConfigFactory
from pyhocon.config_tree import NoneValue

from catalog.diagnostics.diagnostic import Diagnostics, Severity
from catalog.diagnostics.source import SourceFile
from engine.job.hocon.parse import MOST_NESTED, parse
from engine.job.hocon.substitution import resolve
from engine.job.model.tree import ListNode, MapNode, ScalarNode, TextNode, plain

ROOT = Path(__file__).parents[4]


WARNED = ("merged into the one before it", "the single quotes are a part of this text")


def read(text: str, environment: dict[str, str] | None = None) -> object:
    diagnostics = Diagnostics()
    node = resolve(parse(SourceFile("job.conf", text), diagnostics), diagnostics, {}, environment)
    assert not [each for each in diagnostics if not any(word in each.message for word in WARNED)], list(diagnostics)
    return plain(node)


def pyhocon(text: str) -> object:
    return bare(ConfigFactory.parse_string(text))


def bare(value: object) -> object:
    if isinstance(value, dict):
        return {key.strip('"'): bare(value[key]) for key in value}
    if isinstance(value, list):
        return [bare(each) for each in value]
    if isinstance(value, str):
        return str(value)  # of pyhocon's own class of texts
    return None if isinstance(value, NoneValue) else value


def same(text: str) -> None:
    expected, actual = pyhocon(text), read(text)
    assert actual == expected
    assert repr(_types(actual)) == repr(_types(expected))  # 1 == 1.0 == True


def _types(value: object) -> object:
    if isinstance(value, dict):
        return {key: _types(each) for key, each in value.items()}
    return [_types(each) for each in value] if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "a : 1, b = 2\nc { d = e }",
        "{ a : { b : [1, 2.5, true, null, x y] } }",
        'a.b.c = 1\na.b.d = 2\na { b { e = "x" } }',
        '"a.b" = 1',
        "a = [1\n2\n3]",
        "a = [1, 2,\n 3,\n]",
        "a = {b = 1} {c = 2}",
        "a = {b.c = 0}\na = {b = []} {b = {}}",
        "a = [1] [2, 3]",
        'a = "x" "y"  z',
        "a = foo bar  baz  # comment",
        "a = foo // comment\nb = http://x.org/y//z",
        'a = """one "two" three"""\nb = """x"""""',
        'a = """line\n  line \\n ${no} """',
        r'a = "tab\there \"quoted\" back\\slash \n \d \= \# \!"',
        r"a = C:\\dir\\file",
        "x = 1\ny = ${x}\nz = a ${x} b${x}",
        "x { y = [1, 2] }\nz = ${x.y} [3]\nw = ${x} { v = 1 }",
        "a = 1\na = ${?nothing_here}",
        "a = ${?nothing_here}\nb = 1",
        "a = x ${?nothing_here}\nb = ${?nothing_here} y",
        "a = ${?nothing_here} ${?nothing_here}\nb = 1",
        "a = [1]\na += [2]\na = ${a} [3]",
        "a = x\na = ${a}y",
        "path = a\npath = ${path}:b",
        "a { b = 1 }\na { b = 2, c = ${a.b} }",
        "a = {x = 1}\na = {y = 2}\na = 3",
        "a =\n\n  5",
        "a\n{ b = 1 }",
        "# only\n// comments\n",
        "a = +5, b = -5, c = .5, d = 1e3, e = 5.0, f = 007, g = 1.5.2, h = 1., i = 5x",
        "a = true, b = false, c = null, d = truely",
        "a = 'single quoted'",
        "a = b:c, d = e/f.g-h_i%j;k<l>m|n~o(p)",
        "a = one \\\n  two",
        "a = 1 2 3",
        "a { }\nb = []\nc = {}",
        "a = x,\n\n,b = y",
        "ä = ö",
        "a b c = 1",
        "a = [{b = 1}, {b = 2} {c = 3}, [1] [2]]",
        'a = "${not} a ${substitution:x}"',
        "a = ${b}\nb = ${c}\nc = 1",
        "env { job.name = x, job { mode = BATCH } }",
        '[1, "a", {b = c}]',
    ],
)
def test_values_are_pyhocons(text: str) -> None:
    same(text)


JOB_FILES = sorted(
    path
    for suffix in ("conf", "json", "hocon")
    for path in (ROOT / "examples").rglob(f"*.{suffix}")
    if "include required(" not in path.read_text(encoding="utf-8")  # pyhocon fills no variable into the name
)


@pytest.mark.parametrize("path", JOB_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_job_files_of_the_repository(path: Path) -> None:
    same(path.read_text(encoding="utf-8"))


# generated files

WORDS = st.sampled_from(["alpha", "b", "c_1", "de-f", "x/y", "q:r", "nulls", "trueish", "a.b", "(z)", "%", "it's"])
NAMES = st.sampled_from(["a", "b", "cc", "d_1", "e-f"])
KEYS = st.one_of(
    NAMES,
    st.builds("{}.{}".format, NAMES, NAMES),
    st.builds('"{}"'.format, st.sampled_from(["a", "x y", "ü"])),
)
BLANKS = st.sampled_from(["", " ", "  "])
PLAIN_TEXT = st.text(st.sampled_from("abc {}[]=,:#$/'é漢"), max_size=8)
QUOTED = st.builds(
    lambda pieces: '"' + "".join(pieces) + '"',
    st.lists(st.one_of(PLAIN_TEXT, st.sampled_from([r"\n", r"\t", r"\"", r"\\", r"\q", r"\=", "${x}"])), max_size=4),
)
TRIPLE = st.builds(
    '"""{}"""'.format, st.text(st.sampled_from('ab\n "${}\\#'), max_size=10).filter(lambda t: '""' not in t)
)
UNQUOTED = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
NUMBERS = st.one_of(
    st.integers(-1000, 10**12).map(str),
    st.floats(-1e6, 1e6).map(lambda f: f"{f:.3f}"),
    st.sampled_from(["1e5", ".5", "2.5E-3"]),
)
SCALARS = st.one_of(NUMBERS, UNQUOTED, QUOTED, TRIPLE, st.sampled_from(["true", "false", "null"]))
JOINED = st.builds("{}{}{}".format, QUOTED.filter(lambda t: t != '""'), BLANKS, st.one_of(UNQUOTED, QUOTED))
COMMENTS = st.sampled_from(["", "", '# a, comment { "', "// another = ] one"])


def values(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    full = children.map(lambda text: "x" if text in ('""', '""""""') else text)  # pyhocon drops empty ones from lists
    items = st.lists(full, max_size=4)
    lists = st.one_of(
        items.map(lambda each: f"[{', '.join(each)}]"), items.map(lambda each: "[\n" + "\n".join(each) + "\n]")
    )
    fields = st.lists(st.tuples(KEYS, children), max_size=3).map(
        lambda each: {key.partition(".")[0].strip('"'): (key, value) for key, value in each}.values()
    )
    objects = fields.map(lambda each: "{\n" + "\n".join(f"{key} = {value}" for key, value in each) + "\n}")
    both = st.one_of(st.builds("{} {}".format, lists, lists), st.builds("{} {}".format, objects, objects))
    return st.one_of(lists, objects, both)


VALUES = st.recursive(st.one_of(SCALARS, JOINED), values, max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines: list[str] = []
    defined: list[str] = []
    for number in range(draw(st.integers(1, 5))):
        comment = draw(COMMENTS)
        if defined and draw(st.booleans()):
            name = draw(st.sampled_from(defined))
            template = draw(st.sampled_from(["k = ${%s}", "k = ${?%s}", "k = [${%s}]", "k { x = ${%s} }"]))
            line = f"r{number}" + (template % name)[1:]
        elif draw(st.integers(0, 5)) == 0:
            line = f"o{number} = {draw(WORDS)} ${{?undefined_here}}"
        else:
            value = draw(VALUES)
            key = draw(KEYS) if value.startswith("{") else f"s{number}"  # pyhocon merges objects only with objects
            line = key + draw(st.sampled_from([" = ", ": ", "=", " =\n  "])) + value
            meant = draw(VALUES)
            line += f"\nv{number} = {meant}"
            if meant != "null":  # pyhocon drops a reference to NULL where another one is to nothing
                defined.append(f"v{number}")
        lines += [line, comment]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@given(documents())
@settings(max_examples=150, deadline=None)
def test_generated_files_have_pyhocons_values(text: str) -> None:
    same(text)


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=6)
    ),
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.dictionaries(st.text(st.characters(categories=["L", "N"]), min_size=1), children),
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text(st.characters(categories=["L", "N"]), min_size=1), JSON), st.booleans())
@settings(max_examples=200, deadline=None)
def test_json_is_read_as_json(value: dict[str, object], ascii_only: bool) -> None:
    assert read(json.dumps(value, ensure_ascii=ascii_only, indent=2)) == value
    assert read(json.dumps(value, ensure_ascii=ascii_only)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'a = "\u0001\u00e9\/"', "\x01é/"),  # the escapes of JSON, which pyhocon leaves as they are
        ('a = ["", "x"]', ["", "x"]),  # pyhocon drops empty strings from lists
        ("a = NULL", "NULL"),  # pyhocon, unlike Lightbend's HOCON, ignores the case of constants
        ("a = True", "True"),
        ("a = true story", "true story"),  # pyhocon: `Truestory`
        ("x = true\na = v${x}", "vtrue"),  # pyhocon: `vTrue`
        ("a = x 1.50", "x 1.50"),  # pyhocon: `x 1.5`
        ("a = 10 seconds", "10 seconds"),  # pyhocon makes a relativedelta of it; options know what unit they want
        ("a = 5m", "5m"),
        ("a = [1]\na += 2", [1, 2]),  # pyhocon: 2
        ("a += 2", [2]),  # pyhocon: 2
        ("a { x = 1 } { y = 2 }", {"x": 1, "y": 2}),  # pyhocon refuses a second object without `=`
        ("a = ${nothing_here:some default}", "some default"),
        ('a."b c".d = 2', {"b c": {"d": 2}}),  # pyhocon takes quotes only around a whole key
        ("a = 3\na { z = 4 }", {"z": 4}),  # pyhocon refuses this, and the next one
        ("a = ${b.c}\nb = ${d}\nd { c = 7 }", 7),
        ('a = "x\ty"', "x\ty"),  # pyhocon makes blanks of tabs
    ],
)
def test_where_pyhocon_is_not_followed(text: str, value: object) -> None:
    result = read(text)
    assert isinstance(result, dict)
    assert result["a"] == value


def test_the_environment_comes_after_the_file() -> None:
    assert read("a = ${HERE}\nb = ${x}\nx = 1", {"HERE": "there", "x": "2"}) == {"a": "there", "b": 1, "x": 1}


@given(documents())
@settings(max_examples=200, deadline=None)
def test_every_value_stands_where_its_place_says(text: str) -> None:
    diagnostics = Diagnostics()
    source = SourceFile("job.conf", text)
    root = resolve(parse(source, diagnostics), diagnostics)
    stack = [root]
    while stack:
        node = stack.pop()
        match node:
            case MapNode(entries):
                for entry in entries:
                    written = text[entry.key_place.start : entry.key_place.end]
                    assert written.strip('"') == entry.key
                    stack.append(entry.value)
            case ListNode(items):
                stack += items
            case ScalarNode(written=written, place=place):
                assert text[place.start : place.end] == written
            case TextNode(text=value):
                for segment in value.segments:
                    if segment.is_verbatim:
                        assert value.value[segment.start : segment.end] == text[segment.file_start : segment.file_end]
                assert [segment.start for segment in value.segments[1:]] == [
                    segment.end for segment in value.segments[:-1]
                ]
                assert not value.segments or (value.segments[0].start, value.segments[-1].end) == (0, len(value.value))


@given(st.text(st.sampled_from('ab1 \n\t{}[]=:,"\\$#/.+?!'), max_size=40))
@settings(max_examples=2000, deadline=None)
def test_any_text_is_read_to_its_end(text: str) -> None:
    diagnostics = Diagnostics()
    source = SourceFile("job.conf", text)
    resolve(parse(source, diagnostics), diagnostics)
    for each in diagnostics:
        assert each.span is not None
        assert each.span.line <= text.count("\n") + 1


def test_blocks_of_a_list_that_are_merged_are_warned_of() -> None:
    text = (
        "rules = [{ type = a, column = x } { type = b }\n { type = c }, { type = d } { mostly = 1 } ${more}]\nmore {}"
    )
    diagnostics = Diagnostics()
    tree = parse(SourceFile("job.conf", text), diagnostics)
    [warning] = diagnostics
    assert (warning.code, warning.severity) == ("PEN1002", Severity.WARNING)
    assert warning.span is not None
    assert (warning.span.line, warning.span.column) == (1, text.index("{ type = b") + 1)
    assert len(tree.fields[0].value.items) == 3


@pytest.mark.parametrize(
    "nested",
    [
        lambda levels: "[" * levels + "]" * levels,
        lambda levels: "{a=" * (levels - 1) + "{}" + "}" * (levels - 1),
        lambda levels: "a += {} {" * levels + "}" * levels,
        lambda levels: ".".join(["a"] * levels) + " = {}",
        lambda levels: (
            "[" * (levels % 3) + "[{ a.b = " * (levels // 3) + "1" + "}]" * (levels // 3) + "]" * (levels % 3)
        ),
    ],
)
def test_brackets_and_dotted_keys_are_nested_to_a_limit(nested: Callable[[int], str]) -> None:
    read(nested(MOST_NESTED))
    for levels in (MOST_NESTED + 1, 20_000):
        diagnostics = Diagnostics()
        parse(SourceFile("job.conf", f"{nested(levels)}\nb = [\n"), diagnostics)
        [error] = diagnostics
        assert error.code == "PEN1002"
        assert error.message == "more than 100 levels of brackets and dotted keys are nested"
        assert error.span is not None
        assert error.span.line == 1


def test_the_brackets_around_an_include_count(tmp_path: Path) -> None:
    part = tmp_path / "part.conf"
    part.write_text("c " + "{ d " * 60 + "{}" + "}" * 60)
    diagnostics = Diagnostics()
    source = SourceFile(
        str(tmp_path / "job.conf"), 'include "part.conf"\n' + "a { " * 60 + 'include "part.conf"' + "}" * 60
    )
    parse(source, diagnostics)
    [error] = diagnostics
    assert (error.code, error.span and error.span.file) == ("PEN1002", str(part))
