"""Jobs of somebody who wants `validate` to hang, to fill the memory, or to end in an internal error."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

SOURCE = "source { FakeSource { plugin_output = f, row.num = 1, schema { fields { a = int } } } }\n"
SINK = "sink { Console { } }\n"


def with_query(query: str, source: str = SOURCE) -> str:
    return source + "transform { Sql { plugin_output = q, query = " + json.dumps(query) + " } }\n" + SINK


def with_type(type: str) -> str:
    return SOURCE.replace("a = int", f"a = {json.dumps(type)}") + SINK


def with_options(connector: str, **options: object) -> str:
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in options.items())
    return f"source {{ {connector} {{\n{lines}\n}} }}\n{SINK}"


def substitutions(levels: int, width: int, opening: str, closing: str, used: bool) -> str:
    text = "v0 = x\n" + "".join(
        f"v{level} = {opening}{', '.join([f'${{v{level - 1}}}'] * width)}{closing}\n" for level in range(1, levels + 1)
    )
    return text + SOURCE.replace("row.num = 1", f"row.num = 1, uid = ${{v{levels}}}" if used else "row.num = 1") + SINK


def maps(levels: int, width: int) -> str:
    text = "v0 = { x = 1 }\n"
    for level in range(1, levels + 1):
        inner = ", ".join(f"k{index} = ${{v{level - 1}}}" for index in range(width))
        text += f"v{level} = {{ {inner} }}\n"
    return text + SOURCE + SINK


def protobuf(levels: int) -> str:
    text = 'syntax = "proto3"; message M0 { int32 a = 1; }'
    for level in range(1, levels + 1):
        text += f" message M{level} {{ M{level - 1} l = 1; M{level - 1} r = 2; }}"
    return with_options(
        "Kafka", **{"topic": "t", "bootstrap.servers": "h:1", "format": "protobuf",
                    "protobuf_message_name": f"M{levels}", "protobuf_schema": text},
    )  # fmt: skip


def avro(levels: int) -> str:
    schema = '{"type": "array", "items": ' * levels + '"int"' + "}" * levels
    return with_options("Kafka", **{"topic": "t", "bootstrap.servers": "h:1", "format": "avro", "avro_schema": schema})


def ctes(levels: int, body: str) -> str:
    parts = ["c0 as (select 1 a)"] + [f"c{n} as ({body.format(n - 1)})" for n in range(1, levels + 1)]
    return with_query(f"with {', '.join(parts)} select * from c{levels}")


SUBSTITUTIONS: dict[str, str] = {
    "six levels of ten substitutions in text": "v0 = x\n" + "".join(
        f"v{n} = {' '.join([f'${{v{n - 1}}}'] * 10)}\n" for n in range(1, 8)) + SOURCE + SINK,
    "six levels of ten substitutions in used text": "v0 = x\n" + "".join(
        f"v{n} = {' '.join([f'${{v{n - 1}}}'] * 10)}\n" for n in range(1, 8)) + SOURCE.replace(
            "row.num = 1", "row.num = 1, uid = ${v7}") + SINK,
    "six levels of ten substitutions in lists": substitutions(7, 10, "[", "]", used=False),
    "six levels of ten substitutions in maps": maps(7, 10),
    "a text that doubles itself": "a = xx\n" + "a = ${a} ${a}\n" * 40 + SOURCE + SINK,
    "a list that doubles itself": "a = [1]\n" + "a = ${a} ${a}\n" * 40 + SOURCE + SINK,
    "a map that holds itself twice": "a = { x = 1 }\n" + "a = { l = ${a}, r = ${a} }\n" * 30 + SOURCE + SINK,
    "an appended list": "a = [1]\n" + "a += ${a}\n" * 40 + SOURCE + SINK,
    "a chain of substitutions": "v0 = 1\n" + "".join(f"v{n} = ${{v{n - 1}}}\n" for n in range(1, 3000)) + SOURCE + SINK,
    "a chain of substitutions backwards": "".join(f"v{n} = ${{v{n + 1}}}\n" for n in range(3000)) + "v3000 = 1\n"
    + SOURCE + SINK,
    "a circle of substitutions": "a = ${b}\nb = ${c}\nc = ${a}\n" + SOURCE + SINK,
    "a substitution of itself": "a = ${a}\nb = { c = ${b} }\nb.d = ${b.c}\n" + SOURCE + SINK,
    "a circle through maps": "a { b = ${a} }\nc = ${a.b.b.b.b.b.b.b.b}\n" + SOURCE + SINK,
    "sections that are substitutions": "s = { Console {} }\n" + SOURCE + "sink = ${s} ${s} ${s}\n",
    "a variable in a variable": SOURCE.replace("row.num = 1", 'uid = "${a:${b:${c:x}}}"') + SINK,
    "blocks that substitutions bring": "b = { Console {} }\n" + SOURCE + "sink {" + " ${b} " * 3000 + "}\n",
}  # fmt: skip

TEXTS: dict[str, str] = {
    "five thousand blocks": "source {" + "".join(
        f"FakeSource {{ plugin_output = f{n}, schema {{ fields {{ a = int }} }} }}\n" for n in range(5000)) + "}\n"
    + "sink {" + "".join(f"Console {{ plugin_input = f{n} }}\n" for n in range(5000)) + "}\n",
    "five thousand sinks of one table": SOURCE + "sink {" + "Console { plugin_input = f }\n" * 5000 + "}\n",
    "five thousand files": "source {" + "".join(
        f"LocalFile {{ plugin_output = f{n}, path = \"x{n}\", file_format_type = text }}\n" for n in range(2000))
    + "}\nsink {" + "".join(f"LocalFile {{ plugin_input = f{n}, path = \"o{n}\" }}\n" for n in range(2000)) + "}\n",
    "a literal of twenty megabytes": with_query("select '" + "x" * 20_000_000 + "' a from f"),
    "a text of three megabytes": SOURCE.replace("row.num = 1", 'uid = "' + "y" * 3_000_000 + '"') + SINK,
    "a comment of twenty megabytes": "#" + "c" * 20_000_000 + "\n" + SOURCE + SINK,
    "a number of 100,000 digits": SOURCE.replace("row.num = 1", "row.num = " + "9" * 100_000) + SINK,
    "a number of 5,000 digits": SOURCE.replace("row.num = 1", "row.num = " + "9" * 5_000) + SINK,
    "a number with a large exponent": SOURCE.replace("row.num = 1", "row.num = 1e999999999") + SINK,
    "many open brackets": "{" * 100_000,
    "many open lists": "a = " + "[" * 100_000,
    "many closed brackets": "}" * 100_000,
    "a dotted key": ".".join("a" * 5000) + " = 1\n" + SOURCE + SINK,
    "many keys": "".join(f"k{n} = {n}\n" for n in range(30_000)) + SOURCE + SINK,
    "one key many times": "k = 1\n" * 30_000 + SOURCE + SINK,
    "many quotes": '"' * 20_001,
    "many backslashes": 'a = "' + "\\\\" * 50_000 + '"\n' + SOURCE + SINK,
    "many escapes": 'a = "' + "\\u0041" * 50_000 + '"\n' + SOURCE + SINK,
    "many dollars": "a = " + "$" * 10_000 + "\n" + SOURCE + SINK,
    "many blanks": "a = x" + " " * 200_000 + "y\n" + SOURCE + SINK,
    "many words": "a = " + "x " * 50_000 + "\n" + SOURCE + SINK,
    "many commas": "a = [" + "," * 100_000 + "]\n" + SOURCE + SINK,
    "many comments": "# x\n" * 100_000 + SOURCE + SINK,
    "an empty file": "", "a NUL": "\x00", "only blanks": " \n" * 10_000, "a byte order mark": "\ufeff" + SOURCE + SINK,
    "a NUL in a path": with_options("LocalFile", path="a\x00b", file_format_type="csv", csv_use_header_line=True),
    "a NUL in an include": 'include "a\\u0000b.conf"\n' + SOURCE + SINK,
    "a NUL in a name": SOURCE.replace("plugin_output = f", 'plugin_output = "a\\u0000b"') + SINK,
    "half a character in a name": SOURCE.replace("plugin_output = f", 'plugin_output = "\\ud800"') + SINK,
    "half a character in a path": with_options("LocalFile", path="\ud800", file_format_type="csv"),
    "a path of many braces": with_options("LocalFile", path="x" + "{a,b}" * 26, file_format_type="csv"),
    "a path of many stars": with_options("LocalFile", path="*" * 3000 + "x", file_format_type="csv"),
    "a path of stars and letters": with_options("LocalFile", path="*a" * 200 + "b", file_format_type="csv"),
    "a long path": with_options("LocalFile", path="x/" * 10_000, file_format_type="csv"),
    "a pipe as a path": with_options("LocalFile", path="fifo", file_format_type="csv", csv_use_header_line=True),
    "a device as a path": with_options(
        "LocalFile", path="/dev/zero", file_format_type="csv", csv_use_header_line=True),
    "a link to a device as a path": with_options(
        "LocalFile", path="zero", file_format_type="csv", csv_use_header_line=True),
    "a compressed line": with_options(
        "LocalFile", path="bomb.csv.gz", file_format_type="csv", csv_use_header_line=True),
    "a compressed line as JSON": with_options("LocalFile", path="bomb.csv.gz", file_format_type="json"),
    "an included pipe": 'include "fifo"\n' + SOURCE + SINK,
    "an included device": 'include "zero"\n' + SOURCE + SINK,
    "includes that fan out": 'include "fan0.conf"\n' + SOURCE + SINK,
    "an include of itself": 'include "job.conf"\n' + SOURCE + SINK,
    "includes of everything": 'include "**/*"\n' + SOURCE + SINK,
    "a dotted env": "env { " + "".join(f"spark.a{n}.b = 1\n" for n in range(3000)) + "}\n" + SOURCE + SINK,
    "many plugin inputs": SOURCE + "sink { Console { plugin_input = [" + ",".join(["f"] * 20_000) + "] } }\n",
    "many columns": SOURCE.replace("a = int", " ".join(f"c{n} = int\n" for n in range(20_001))) + SINK,
    "many unknown options": SOURCE + "sink { Console { " + "".join(f"x{n} = 1\n" for n in range(5000)) + "} }\n",
    "many unknown sections": "".join(f"sorce{n} {{ }}\n" for n in range(3000)) + SOURCE + SINK,
}  # fmt: skip

DIGITS = "9" * 5_000
NUMBERS: dict[str, str] = {
    **{f"a number of 5,000 digits: {place}": with_query(query.replace("%s", DIGITS)) for place, query in {
        "a column": "select %s x from f", "a negative one": "select -%s x from f", "a type": "select cast(a as "
        "decimal(%s)) x from f", "an argument": "select round(a, %s) x from f",
        "an index": "select array(1)[%s] x from f",
        "a frame": "select sum(a) over (order by a rows between %s preceding and current row) x from f",
        "a limit": "select a from f limit %s", "an order": "select a from f order by %s", "an interval":
        "select interval %s days x from f", "a table function": "select * from range(%s)", "a date":
        "select date '%s-01-01' x from f", "a hint": "select /*+ repartition(%s) */ a from f",
    }.items()},
    "a watermark of 5,000 digits": SOURCE.replace("row.num = 1", f'watermark {{ column = a, delay = "{DIGITS} days" }}')
    + SINK,
    "a row of 5,000 digits": SOURCE.replace("row.num = 1", f"rows = [{{ kind = INSERT, fields = [{DIGITS}] }}]") + SINK,
    "a path of 5,000 digits": SOURCE + "transform { JsonPath { columns = [{ src_field = a, dest_field = x, path = "
    f'"$[{DIGITS}]" }}] }} }}\n' + SINK,
    **{f"an address: {address}": with_options("LocalFile", path=address, file_format_type="csv",
                                              schema={"fields": {"a": "int"}})
       for address in ("s3a://[x/y", "sftp://h:abc/x", "sftp://u:p@[h/x", "ftp://h:99999999/x", "s3a://a\u2100b/c")},
    "a database by a variable in a variable": SOURCE
    + 'sink { Jdbc { url = "${x:${y}}", table = "a.b", generate_sink_sql = true } }\n',
    **{f"a target: {address}": SOURCE + f'sink {{ Spark {{ format = csv, path = "{address}" }} }}\n'
       for address in ("s3a://[x/y", "sftp://h:abc/x", "amqp://u:p[q@h/x")},
}  # fmt: skip

QUERIES: dict[str, str] = {
    "a sum of 8,000 columns": "select " + "+".join(["a"] * 8000) + " b from f",
    "a sum of 3,500 columns": "select " + "+".join(["a"] * 3500) + " b from f",
    "a chain of ANDs": "select a from f where " + " and ".join(["a > 1"] * 8000),
    "a concatenation": "select " + "||".join(["'a'"] * 8000) + " b from f",
    "many columns": "select " + ",".join(f"a c{n}" for n in range(30_000)) + " from f",
    "many brackets": "select " + "(" * 20_000 + "a" + ")" * 20_000 + " from f",
    "many open brackets": "select " + "(" * 20_000,
    "many brackets of lists": "select " + "[" * 3000 + "a" + "]" * 3000 + " from f",
    "many subqueries": "select * from " + "(select * from " * 900 + "f" + ")" * 900,
    "many nested calls": "select " + "abs(" * 900 + "a" + ")" * 900 + " from f",
    "many cases": "select " + "case when a > 1 then " * 900 + "a" + " end" * 900 + " from f",
    "many minuses": "select " + "- " * 9000 + "a from f",
    "many nots": "select * from f where " + "not " * 9000 + "a > 1",
    "many unions": " union all ".join(["select a from f"] * 3000),
    "many joins": "select 1 x from f " + " ".join(f"join f f{n} on true" for n in range(1500)),
    "many tables": "select 1 x from " + ", ".join(f"f f{n}" for n in range(1500)),
    "many nested structs": "select " + "struct(" * 900 + "a" + ")" * 900 + " from f",
    "many nested arrays": "select " + "array(" * 900 + "a" + ")" * 900 + " from f",
    "many casts": "select " + "cast(" * 900 + "a" + " as int)" * 900 + " from f",
    "a deep type": "select cast(null as " + "array<" * 1000 + "int" + ">" * 1000 + ") b from f",
    "many lambdas": "select " + "transform(array(1), x -> " * 200 + "x" + ")" * 200 + " from f",
    "many conditions in IN": "select a from f where a in (" + ",".join(map(str, range(60_000))) + ")",
    "many values": "select * from values " + ",".join(["(1)"] * 60_000),
    "many window functions": "select " + ",".join(
        f"sum(a) over (partition by a order by a) w{n}" for n in range(3000)) + " from f",
    "an open quote": "select '" + "x" * 100_000,
    "an open comment": "select /* " * 5000 + "a from f",
    "many comments": "select /* x */ " * 3000 + "a from f",
    "many semicolons": ";" * 50_000,
    "many statements": "select 1;" * 10_000,
    "a long name": "select a as `" + "n" * 400_000 + "` from f",
    "many dots": "select " + ".".join(["a"] * 20_000) + " from f",
    "many grouping sets": "select a, count(*) c from f group by cube(" + ",".join(["a"] * 64) + ")",
    "pipes": "from f " + "|> select * " * 2000,
    "pivot of many": "select * from f pivot (sum(a) for a in (" + ",".join(map(str, range(20_000))) + "))",
    "many likes": "select a from f where " + " or ".join(["cast(a as string) like '%a%a%a%a%'"] * 2000),
    "a regular expression": "select rlike('" + "a" * 40 + "b', '(a+)+$') b from f",
    "a like of many": "select '" + "a" * 5000 + "' like '" + "%a" * 2000 + "b' x from f",
}  # fmt: skip

SHAPES: dict[str, str] = {
    "structs that double": ctes(28, "select struct(a l, a r) a from c{}"),
    "stars that double": ctes(24, "select *, * from c{}"),
    "named stars that double": ctes(20, "select l.*, r.* from c{0} l cross join c{0} r"),
    "arrays that double": ctes(28, "select array(a, a) a from c{}"),
    "maps that double": ctes(28, "select map(array(a), a) a from c{}"),
    "CTEs read twice": ctes(40, "select a from c{0} union all select a from c{0}"),
    "CTEs joined with themselves": ctes(30, "select l.a from c{0} l join c{0} r on l.a = r.a"),
    "many CTEs": ctes(2000, "select a from c{}"),
    "a type of 1,000 arrays": with_type("array<" * 1000 + "int" + ">" * 1000),
    "a type of 150 arrays": with_type("array<" * 150 + "int" + ">" * 150),
    "a type of 1,000 structs": with_type("struct<a:" * 1000 + "int" + ">" * 1000),
    "a type of many fields": with_type("struct<" + ",".join(f"f{n}:int" for n in range(30_000)) + ">"),
    "a type that is cut off": with_type("array<" * 5000),
    "messages of two of the one before": protobuf(40),
    "messages of few": protobuf(8),
    "Avro of 1,000 arrays": avro(1000),
    "Avro that is cut off": with_options(
        "Kafka", **{"topic": "t", "bootstrap.servers": "h:1", "format": "avro", "avro_schema": "[" * 5000}),
    **{f"a query: {name}": with_query(query) for name, query in QUERIES.items()},
}  # fmt: skip

EVIL_PATTERNS = ("(a+)+$", "(a|aa)+$", "(.*a){25}", "(a*)*b", "((a+)+)+$", "(?=(a+)+$)x", "(a+)+\\1$", "a{1,9999}{1,9}")


def pattern_jobs() -> dict[str, str]:
    """The pattern in each option that takes one, over names that it is slow on."""
    found = {}
    name = "a" * 40 + "b"
    table = (
        f'{{ path = "in.csv", file_format_type = csv, schema {{ table = "{name}", fields {{ {name} = string }} }} }}'
    )
    source = f"source {{ LocalFile {{ plugin_output = f, tables_configs = [{table}, "
    source += table.replace(name, "c" + name, 1) + "] } }\n"
    for pattern in EVIL_PATTERNS:
        text = json.dumps(pattern)
        found[f"{pattern} of TableFilter"] = (
            source + f"transform {{ TableFilter {{ table_pattern = {text} }} }}\n" + SINK
        )
        for transform in ("TableRename", "FieldRename"):
            rules = f"replacements_with_regex = [{{ replace_from = {text}, replace_to = x }}]"
            found[f"{pattern} of {transform}"] = source + f"transform {{ {transform} {{ {rules} }} }}\n" + SINK
        found[f"{pattern} of table_match_regex"] = (
            source + f'transform {{ Sql {{ table_match_regex = {text}, query = "select * from dual" }} }}\n' + SINK
        )
        found[f"{pattern} of files"] = "# compat\n" + with_options(
            "LocalFile", path="many", file_format_type="csv", csv_use_header_line=True, file_filter_pattern=pattern
        )
        found[f"{pattern} of tables of a database"] = with_options(
            "Jdbc", url="jdbc:postgresql://h/d", table_path=pattern, use_regex=True
        )
        found[f"{pattern} of Paimon"] = with_options("Paimon", warehouse="many", table=pattern, use_regex=True)
        found[f"{pattern} of topics"] = with_options(
            "Kafka", **{"topic": pattern, "pattern": True, "bootstrap.servers": "h:1"}
        )
        found[f"{pattern} of Replace"] = (
            SOURCE + (f"transform {{ Replace {{ replace_fields = [a], pattern = {text}, is_regex = true }} }}\n") + SINK
        )
    return found


WRONG_JSON = (
    "[" * 100_000, '{"a":' * 100_000, "null", "1", '"x"', "[]", "{}", "[[[]]]", '{"metaData": null}', '{"metaData": 1}',
    '{"metaData": {"schemaString": 1}}', '{"metaData": {"schemaString": "[]"}}', '{"metaData": {"schemaString": "{}"}}',
    '{"metaData": {"schemaString": "null"}}', '{"metaData": {"schemaString": "{\\"fields\\": 1}"}}',
    '{"metaData": {"schemaString": "{\\"fields\\": [1]}"}}', '{"metaData": {"schemaString": "{\\"fields\\": [{}]}"}}',
    '{"metaData": {"schemaString": "{\\"fields\\": [{\\"name\\": 1, \\"type\\": 2}]}"}}',
    '{"fields": 1}', '{"fields": [1]}', '{"fields": [{"name": 1, "type": 2}]}', '{"schemas": 1}', '{"schemas": [1]}',
    '{"schemas": [{"fields": [{"name": 1, "type": []}]}]}', '{"schema": []}',
    '{"current-schema-id": [], "schemas": []}',
    '{"schemas": [{"schema-id": 0, "fields": [{"id": 1, "name": "a", "type": ' + '{"type": "list", "element": ' * 3000,
    '{"x": NaN}', "\x00", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), '{"a": 1' + "0" * 10_000 + "}",
)  # fmt: skip


def lake_jobs() -> dict[str, tuple[str, Callable[[Path], None]]]:
    """Tables whose files are not what their format says."""
    found: dict[str, tuple[str, Callable[[Path], None]]] = {}
    for number, text in enumerate(WRONG_JSON):

        def delta(folder: Path, text: str = text) -> None:
            log = folder / "delta" / "_delta_log"
            log.mkdir(parents=True)
            (log / f"{0:020}.json").write_text(text)

        def iceberg(folder: Path, text: str = text) -> None:
            place = folder / "warehouse" / "db" / "t" / "metadata"
            place.mkdir(parents=True)
            (place / "v1.metadata.json").write_text(text)

        def paimon(folder: Path, text: str = text) -> None:
            place = folder / "paimon" / "schema"
            place.mkdir(parents=True)
            (place / "schema-0").write_text(text)

        found[f"Delta {number}"] = with_options("Delta", path="delta"), delta
        found[f"Iceberg {number}"] = with_options("Iceberg", warehouse="warehouse", table="db.t"), iceberg
        found[f"Paimon {number}"] = with_options("Paimon", path="paimon"), paimon
    return found


def furnish(folder: Path) -> None:
    """The files that the jobs name."""
    os.mkfifo(folder / "fifo")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "in.csv").write_text("x\n")
    (folder / "many").mkdir()
    (folder / "many" / ("a" * 40 + "b.csv")).write_text("a\n")
    (folder / "many" / ("a" * 40 + "b.db")).mkdir()
    with gzip.open(folder / "bomb.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    for number in range(12):
        (folder / f"fan{number}.conf").write_text(f'include "fan{number + 1}.conf"\n' * 10)
    (folder / "fan12.conf").write_text("x = 1\n")
