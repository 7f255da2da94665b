"""`penstock fmt`: white space alone changes; what a job means, its queries and its comments stay."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.cli import main
from engine.job.formatting.format_job import format_job
from engine.job.load import job_tree
from engine.job.model.tree import ListNode, MapNode, Node, ScalarNode, TextNode
from engine.job.options.variables import Variables
from sql.script.split_statements import LEXEMES

ROOT = Path(__file__).parents[4]
FILES = sorted(
    path
    for folder in ("examples", "tests", "benchmarks")
    for ending in ("*.conf", "*.sql", "*.json")
    for path in (ROOT / folder).rglob(ending)
    if ending != "*.json" or b'"sink"' in path.read_bytes()
)


def formatted(text: str, path: str = "job.conf") -> str:
    return format_job(SourceFile(path, text), Diagnostics())


def tree(text: str, path: str) -> object:
    """What the file says, variables left open; the errors that it has, too, without their places."""
    diagnostics = Diagnostics()
    root = job_tree(SourceFile(path, text), Variables({}, {}, compat=Compat.SEATUNNEL_2), diagnostics)
    errors = [(each.code, re.sub(r"line \d+", "", each.message)) for each in diagnostics]
    return (plain(root, path.endswith(".sql")) if root is not None else None), errors


def plain(node: Node, is_script: bool) -> object:
    match node:
        case ScalarNode():
            return node.value
        case TextNode():
            return " ".join(node.value.split()) if is_script else node.value
        case ListNode(items):
            return [plain(item, is_script) for item in items]
        case MapNode(entries):
            return [(entry.key, plain(entry.value, is_script)) for entry in entries]


def words(text: str) -> str:
    """The text without white space, but for that of quoted texts and within comments."""
    position, found = 0, ""
    for match in LEXEMES.finditer(text):
        found += "".join(text[position : match.start()].split()) + match[0].rstrip()
        position = match.end()
    return found + "".join(text[position:].split())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_job_file_means_the_same_afterwards(path):
    text = path.read_text(encoding="utf-8-sig")
    once = formatted(text, str(path))
    assert formatted(once, str(path)) == once
    assert tree(once, str(path)) == tree(text, str(path))
    if path.suffix == ".sql":
        assert words(once) == words(text)
    else:
        assert "".join(once.split()) == "".join(text.split())
        assert re.findall(r"(?m)(?:^|\s)(#.*?)[ \t]*$", once) == re.findall(r"(?m)(?:^|\s)(#.*?)[ \t]*$", text)


# --- generated files: two layouts of the same lexemes are one formatted text ---

KEYS = st.sampled_from(["a", "row.num", '"b c"', "path", "x-y", "spark.sql.shuffle.partitions"])
LEAVES = st.sampled_from(
    ["1", "-2.5e3", "true", "null", "word", "two words", '"text, {with} # all"', '"""select 1\n    from t  \n"""',
     "${v}", "${?v}", '${v}"/x"', '"a \\" b"', "jdbc:postgresql://h/d"]
)  # fmt: skip
COMMENTS = st.sampled_from(["# why", "// also", "#", "#  it's {"])
VALUES = st.recursive(
    LEAVES.map(lambda leaf: [leaf]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ["[", *_joined(items, ","), "]"])
        | st.lists(st.tuples(KEYS, inner), max_size=3).map(
            lambda fields: ["{", *_joined([[key, "=", *value] for key, value in fields], ","), "}"]
        )
    ),
    max_leaves=6,
)
FIELDS = st.lists(st.tuples(st.lists(COMMENTS, max_size=2), KEYS, VALUES), min_size=1, max_size=5)


def _joined(parts: list[list[str]], comma: str) -> list[str]:
    return [word for number, part in enumerate(parts) for word in ([comma, *part] if number else part)]


@st.composite
def layouts(draw):
    """Two texts of the same fields and line breaks, with other blanks and empty lines."""
    lines = [line for notes, key, value in draw(FIELDS) for line in [*([note] for note in notes), [key, "=", *value]]]
    return [_laid_out(draw, lines) for _ in range(2)], [line[0] for line in lines if line[0].startswith(("#", "//"))]


def _laid_out(draw, lines: list[list[str]]) -> str:
    """Blanks are anywhere between lexemes, but before `,` and `=` also none where the value is no word."""
    blanks = st.sampled_from([" ", "  ", "\t", "   "])
    text = "root {\n"
    for line in lines:
        text += draw(blanks)
        for word in line:
            text += word + draw(blanks)
        text += "\n"
    return text + draw(blanks) + "}" + draw(st.sampled_from(["", "\n", "\n\n \n"]))


@given(layouts())
@settings(max_examples=150, deadline=None)
def test_layouts_of_one_text_are_formatted_alike(case):
    (one, other), notes = case
    assert formatted(one) == formatted(other)
    assert formatted(formatted(one)) == formatted(one)
    assert tree(formatted(one), "job.conf") == tree(one, "job.conf")
    shown = [line.strip() for line in formatted(one).splitlines()]
    assert [line for line in shown if line in ("# why", "// also", "#", "#  it's {")] == notes


MESSY = """\
env { job.name="orders",parallelism  =  2 }   # note
source{
      FakeSource {


   plugin_output = "t"   // the rows
        row.num: 5
    schema { fields { id=int , name : string} }

      }
}
transform { Sql { query =
\"\"\"
  select *
    from t   \"\"\" } }


sink { Console { } }"""

TIDY = """\
env { job.name = "orders", parallelism = 2 }   # note
source {
  FakeSource {
    plugin_output = "t"   // the rows
    row.num: 5
    schema { fields { id = int, name: string } }
  }
}

transform { Sql { query =
    \"\"\"
  select *
    from t   \"\"\" } }

sink { Console {} }
"""

MESSY_SQL = """\
  -- the rows
  CREATE TABLE t (id INT)   WITH ('connector'='FakeSource',  'row.num'   =  '5')  ; -- five
CREATE TABLE out WITH ('connector'='Console');SET 'job.name'='a  b';



   INSERT INTO out
     SELECT id ,  'a
   b' AS x -- keep   this
       FROM t
     WHERE 'x'='x'
"""

TIDY_SQL = """\
-- the rows
CREATE TABLE t (id INT)   WITH ('connector' = 'FakeSource',  'row.num' = '5'); -- five
CREATE TABLE out WITH ('connector' = 'Console');
SET 'job.name'='a  b';

INSERT INTO out
  SELECT id ,  'a
   b' AS x -- keep   this
    FROM t
  WHERE 'x'='x'
"""


def test_fmt_formats_and_check_only_looks(tmp_path, capsys):
    (tmp_path / "a.conf").write_text(MESSY)
    (tmp_path / "b.sql").write_text(MESSY_SQL)
    (tmp_path / "other.conf").write_text("server {port=80}\n")
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert "2 files to format, 0 unchanged\n" in capsys.readouterr().out
    (tmp_path / "c.conf").write_text("sink {\n")
    assert main(["fmt", "--check", str(tmp_path)]) == 2
    assert "2 files to format, 0 unchanged, 1 with errors\n" in capsys.readouterr().out
    (tmp_path / "c.conf").unlink()
    assert (tmp_path / "a.conf").read_text() == MESSY
    assert main(["fmt", "--diff", str(tmp_path / "a.conf")]) == 1
    assert "+  FakeSource {" in capsys.readouterr().out
    assert main(["fmt", str(tmp_path)]) == 0
    assert (tmp_path / "a.conf").read_text() == TIDY
    assert (tmp_path / "b.sql").read_text() == TIDY_SQL
    assert main(["fmt", "--check", str(tmp_path)]) == 0
    assert (tmp_path / "other.conf").read_text() == "server {port=80}\n"
    capsys.readouterr()


def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path, capsys):
    (tmp_path / "a.conf").write_text("source {  FakeSource {\n")
    (tmp_path / "b.sql").write_text("SELECT  'open")
    (tmp_path / "c.conf").write_text("env {a=1}")
    assert main(["fmt", *(str(tmp_path / name) for name in ("a.conf", "b.sql", "c.conf"))]) == 2
    assert "never closed" in (said := capsys.readouterr()).err + said.out
    assert (tmp_path / "a.conf").read_text() == "source {  FakeSource {\n"
    assert (tmp_path / "b.sql").read_text() == "SELECT  'open"
    assert (tmp_path / "c.conf").read_text() == "env { a = 1 }\n"


def test_line_ends_of_windows_stay(tmp_path):
    path = tmp_path / "a.conf"
    path.write_bytes(b"env {a=1\r\n}\r\n")
    assert main(["fmt", str(path)]) == 0
    assert path.read_bytes() == b"env { a = 1\r\n}\r\n"
