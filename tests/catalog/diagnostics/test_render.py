"""How errors are shown."""

import io
import json
import re

import jsonschema
import pytest

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.diagnostics.render import in_order, render
from catalog.diagnostics.render.text import wants_color
from catalog.diagnostics.source import SourceFile, Span
from catalog.masks import Masks

JOB = SourceFile(
    "jobs/orders_daily.conf",
    "\n" * 13
    + '  query = "select id, amout from orders"\n'
    + "\tpath\t= 1\n"
    + '名前 = "x" # ja\n'
    + "a\nb\n  c\nd\ne\nf\n",
)


def at(text, code="PEN3004", message="wrong", **more):
    start = JOB.text.index(text)
    return Diagnostic(code, message, JOB.span(start, start + len(text)), **more)


def shown(*found):
    return render(found, "text", [JOB])


def test_the_error_of_the_design():
    diagnostic = at("amout", message="column `amout` does not exist in `orders`", help="did you mean `amount`?")
    assert (
        shown(diagnostic)
        == """\
error[PEN3004]: column `amout` does not exist in `orders`
  ┌─ jobs/orders_daily.conf:14:23
  │
14│   query = "select id, amout from orders"
  │                       ^^^^^
  = help: did you mean `amount`?
"""
    )


def test_tabs_are_four_columns_wide():
    assert (
        shown(at("= 1", severity=Severity.WARNING))
        == """\
warning[PEN3004]: wrong
  ┌─ jobs/orders_daily.conf:15:7
  │
15│     path    = 1
  │             ^^^
"""
    )


def test_wide_characters_take_two_columns():
    assert shown(at('"x"')).splitlines()[-2:] == ['16│ 名前 = "x" # ja', "  │        ^^^"]
    assert shown(at("前")).splitlines()[-1] == "  │   ^^"


def test_a_span_of_several_lines_shows_the_first_two_and_the_last():
    assert shown(at("b\n  c")).splitlines()[3:] == ["18│ b", "  │ ^", "19│   c", "  │   ^"]
    assert shown(at("a\nb\n  c\nd\ne")).splitlines()[3:] == [
        "17│ a", "  │ ^", "18│ b", "  │ ^", " …│", "21│ e", "  │ ^",
    ]  # fmt: skip


def test_a_span_that_ends_with_its_line_does_not_show_the_next():
    assert shown(at("# ja\n")).splitlines()[3:] == ['16│ 名前 = "x" # ja', "  │            ^^^^"]


def test_an_empty_span_and_the_end_of_the_file_have_a_caret():
    end = len(JOB.text)
    lines = render([Diagnostic("PEN1002", "unexpected end", JOB.span(end, end))], "text", [JOB]).splitlines()
    assert lines[3:] == ["23│", "  │ ^"]


def test_a_long_line_is_cut_around_the_error():
    source = SourceFile("long.sql", "x" * 1000 + "FAULT" + "y" * 1000)
    *_, line, carets = render([Diagnostic("PEN3001", "m", source.span(1000, 1005))], "text", [source]).splitlines()
    assert len(line) < 180
    assert line[carets.index("^") : carets.rindex("^") + 1] == "FAULT"


def test_control_characters_do_not_reach_the_terminal():
    source = SourceFile("a.sql", "a\x1b[31mb")
    assert "\x1b" not in render([Diagnostic("PEN3001", "m", source.span(0, 1))], "text", [source])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("l\nl.sql", "l\\nl.sql"), ("a\x1b[2J\u2028", "a\\u001b[2J\\u2028"), ("名\u3000 ß", "名\u3000 ß")],
)
def test_control_characters_in_a_files_name_are_escaped(name, shown):
    warnings = [Diagnostic("PEN4030", "m", Span(file, 1, 91, 1, 92), severity=Severity.WARNING) for file in ("a", name)]
    assert render(warnings[1:]) == f"warning[PEN4030]: m\n  ┌─ {shown}:1:91\n"
    assert render(warnings) == f"warning[PEN4030]: m\n  ┌─ a:1:91\n  = also: {shown}:1:91\n"


def test_without_source_or_place_only_what_is_known_is_shown():
    assert render([Diagnostic("PEN1001", "no such file", Span("a.conf", 3, 1, 3, 2))]) == (
        "error[PEN1001]: no such file\n  ┌─ a.conf:3:1\n"
    )
    assert render([Diagnostic("PEN1001", "no file", notes=("one\ntwo",))]) == (
        "error[PEN1001]: no file\n  = note: one\n          two\n"
    )
    assert render([]) == ""


def test_the_other_places_of_one_cause_are_reported_in_every_format():
    diagnostic = at("amout", also=(Span("jobs/orders_daily.conf", 15, 2, 15, 7), Span("other.conf", 1, 2, 1, 3)))
    assert shown(diagnostic).endswith("  = also: 15:2, other.conf:1:2\n")
    assert render([diagnostic], "github").endswith("wrong%0Aalso: 15:2, other.conf:1:2\n")
    assert [(each["file"], each["line"]) for each in json.loads(render([diagnostic], "json"))[0]["also"]] == [
        ("jobs/orders_daily.conf", 15), ("other.conf", 1),
    ]  # fmt: skip
    (result,) = json.loads(render([diagnostic], "sarif"))["runs"][0]["results"]
    assert [each["physicalLocation"]["region"]["startLine"] for each in result["relatedLocations"]] == [15, 1]


def test_equal_warnings_of_several_files_are_one_paragraph():
    def in_file(name, **more):
        return Diagnostic("PEN4030", "no file", Span(name, 2, 1, 2, 3), help="h", **more)

    warnings = [in_file(f"{name}.conf", severity=Severity.WARNING) for name in "aabcdefg"]
    one = "warning[PEN4030]: no file\n  ┌─ a.conf:2:1\n  = help: h\n"
    more = "b.conf:2:1, c.conf:2:1, d.conf:2:1 and 3 more"
    assert render(warnings[:2]) == one
    assert render(warnings[1:4]) == f"{one}  = also: b.conf:2:1, c.conf:2:1\n"
    assert render(warnings[1:]) == f"{one}  = also: {more}\n"
    assert len(json.loads(render(warnings[1:], "json"))) == 7
    assert render([in_file("a.conf"), in_file("b.conf")]).count("error[PEN4030]") == 2
    other = Diagnostic("PEN4030", "no such file", Span("b.conf", 2, 1, 2, 3), severity=Severity.WARNING, help="h")
    assert render([warnings[0], other]).count("warning[PEN4030]") == 2


def test_order_is_by_place_and_duplicates_are_dropped():
    first, second, placeless = at("query"), at("amout"), Diagnostic("PEN1001", "no file")
    assert in_order([second, first, second, placeless]) == (placeless, first, second)


def test_color_only_adds_escapes():
    diagnostic = at("amout", help="h")
    colored = render([diagnostic], "text", [JOB], color=True)
    assert colored.startswith("\x1b[1;31merror[PEN3004]")
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == shown(diagnostic)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_color_is_wanted_on_terminals_without_no_color(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color(Terminal())
    assert not wants_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal())


def test_json():
    (record,) = json.loads(render([at("amout", help="h")], "json"))
    assert record == {
        "code": "PEN3004", "severity": "error", "message": "wrong", "file": "jobs/orders_daily.conf",
        "line": 14, "column": 23, "end_line": 14, "end_column": 28, "help": "h", "notes": [], "also": [],
    }  # fmt: skip
    (bare,) = json.loads(render([Diagnostic("PEN1001", "m")], "json"))
    assert bare["file"] is bare["line"] is bare["end_column"] is None
    assert json.loads(render([], "json")) == []


def test_github():
    diagnostic = Diagnostic(
        "PEN3004", "100 %\nwrong", Span("a,b:c.conf", 2, 3, 2, 7), help="h", severity=Severity.WARNING
    )
    assert render([diagnostic], "github") == (
        "::warning file=a%2Cb%3Ac.conf,line=2,endLine=2,col=3,endColumn=6,title=PEN3004::100 %25%0Awrong%0Ahelp: h\n"
    )
    assert "col=" not in render([Diagnostic("PEN3004", "m", Span("a", 2, 3, 4, 1))], "github")


def obj(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


TEXT = obj(["text"], text={"type": "string", "minLength": 1})
NUMBER = {"type": "integer", "minimum": 1}
REGION = obj(["startLine", "endLine"], startLine=NUMBER, endLine=NUMBER, startColumn=NUMBER, endColumn=NUMBER)
URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~:/%+-]+$"}
RULE = obj(["id"], id={"type": "string"}, shortDescription=TEXT)
LOCATION = obj(
    ["physicalLocation"],
    physicalLocation=obj(["artifactLocation", "region"], artifactLocation=obj(["uri"], uri=URI), region=REGION),
)
RESULT = obj(
    ["message"],
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level={"enum": ["none", "note", "warning", "error"]},
    message=TEXT,
    locations={"type": "array", "items": LOCATION},
    relatedLocations={"type": "array", "items": LOCATION},
)
DRIVER = obj(["name"], name={"type": "string"}, rules={"type": "array", "items": RULE, "uniqueItems": True})
RUN = obj(
    ["tool", "results"],
    tool=obj(["driver"], driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)
SARIF = obj(
    ["version", "runs"],
    version={"const": "2.1.0"},
    runs={"type": "array", "items": RUN},
    **{"$schema": {"type": "string", "format": "uri"}},
)
"""The part of SARIF 2.1.0's schema that Penstock uses, closed against everything else."""


ELSEWHERE = at("amout", help="h", also=(JOB.span(0, 1),))


@pytest.mark.parametrize("found", [(), (ELSEWHERE, at("path", "PEN2003"), Diagnostic("PEN1001", "m"))])
def test_sarif_has_the_standards_structure(found):
    log = json.loads(render(found, "sarif"))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [each.code for each in in_order(found)]


def test_sarif_paths_are_uris():
    diagnostics = [Diagnostic("PEN1001", "m", Span(file, 1, 1, 1, 1)) for file in ("/tmp/a b.conf", "jobs/größe.conf")]
    results = json.loads(render(diagnostics, "sarif"))["runs"][0]["results"]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results]
    assert uris == ["file:///tmp/a%20b.conf", "jobs/gr%C3%B6%C3%9Fe.conf"]


SECRETS = """\
password = "hunter2", x
  'db.password' = 'hunter2',
passwordFile: hunter2
secret_key=hunter2}
my_token : "hunter2
"""


@pytest.mark.parametrize("line", SECRETS.splitlines())
def test_values_of_secret_keys_are_never_shown(line):
    source = SourceFile("a.conf", line)
    text = render([Diagnostic("PEN1002", "m", source.span(0, 1))], "text", [source])
    assert ("hunter2" in text) == ("File" in line)
    assert ("*******" in text) == ("File" not in line)


def test_sql_about_such_columns_is_shown():
    source = SourceFile("a.sql", "select token = 'x', a from t where password = 'y'")
    assert source.text in render([Diagnostic("PEN3001", "m", source.span(0, 1))], "text", [source])


def test_hidden_ranges_are_never_shown():
    source = SourceFile("a.conf", 'url = "jdbc:x://me:hunter2@host" # note')
    masks = Masks()
    masks.hide(SourceFile(source.path, source.text), 6, 32)
    text = render([Diagnostic("PEN2004", "m", source.span(6, 32))], "text", [source], masks=masks)
    assert text.splitlines()[-2:] == [" 1│ url = ************************** # note", "  │       " + "^" * 26]
