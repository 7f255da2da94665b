"""Random jobs as text: two sources, a few transforms over anything made so far, one to three sinks.

The sources hold zeros, nulls and texts that are no numbers, so that many of the jobs fail under ANSI when a rule lets
an expression see a row that a filter should have kept from it.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

ROWS = {
    "left_rows": [
        "[1, 0, 10, \"x\", \"1.50\"]", "[2, 2, null, \"a,b\", \"0.00\"]", "[3, 3, 0, null, null]",
        "[4, null, 7, \"12\", \"-2.25\"]", "[5, 5, 2147483647, \"X y\", \"99.99\"]", "[5, 1, -4, \"x\", \"1.50\"]",
    ],
    "right_rows": ["[1, 1, 5, \"x\", \"1.00\"]", "[2, 0, 3, \"7\", \"2.00\"]", "[7, 2, null, \"a,b\", null]"],
}  # fmt: skip
COLUMNS = {"id": "bigint", "a": "int", "b": "int", "t": "string", "m": "decimal"}
FIELDS = 'id = bigint, a = int, b = int, t = string, m = "decimal(10,2)"'


@dataclass
class Draft:
    """What has been written so far; `tables` maps each name to its columns and their types."""

    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    transforms: list[str] = field(default_factory=list)

    def add(self, plugin: str, options: str, columns: dict[str, str]) -> None:
        name = f"n{len(self.transforms)}"
        self.transforms.append(f'{plugin} {{ plugin_output = "{name}", {options} }}')
        self.tables[name] = columns


@st.composite
def jobs(draw: st.DrawFn) -> str:
    source = draw(st.sampled_from(["FakeSource", "Pushing"]))
    draft = Draft({name: dict(COLUMNS) for name in ROWS})
    for _ in range(draw(st.integers(1, 6))):
        # The newest node nine times of ten: chains are what the rules work on.
        names = list(draft.tables)
        name = names[-1] if draw(st.integers(0, 9)) and draft.transforms else draw(st.sampled_from(names))
        draw(st.sampled_from(STEPS))(draw, draft, name)
    names = list(draft.tables)
    sinks = {names[-1], *draw(st.lists(st.sampled_from(names), max_size=2))}
    lines = [
        "source {",
        *(
            f'  {source} {{ plugin_output = "{name}", schema {{ fields {{ {FIELDS} }} }}, rows = ['
            + ", ".join(f"{{ kind = INSERT, fields = {row} }}" for row in rows)
            + "] }"
            for name, rows in ROWS.items()
        ),
        "}",
        "transform {",
        *(f"  {each}" for each in draft.transforms),
        "}",
        "sink {",
        *(f'  Console {{ plugin_input = "{name}" }}' for name in sorted(sinks)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def of_type(draw: st.DrawFn, columns: dict[str, str], *types: str) -> str | None:
    names = [name for name, type in columns.items() if type in types]
    return draw(st.sampled_from(names)) if names else None


def number(draw: st.DrawFn, columns: dict[str, str]) -> str:
    return of_type(draw, columns, "int", "bigint") or "1"


def text(draw: st.DrawFn, columns: dict[str, str]) -> str:
    return of_type(draw, columns, "string") or "'x'"


def predicate(draw: st.DrawFn, columns: dict[str, str]) -> str:
    x, y, t = number(draw, columns), number(draw, columns), text(draw, columns)
    return draw(
        st.sampled_from(
            [
                f"{x} <> 0", f"{x} > {y}", f"{x} is not null", f"{t} = 'x'", f"{t} like 'a%'", f"{x} in (1, 2, 5)",
                f"{y} <> 0 and {x} / {y} > 1", f"{x} / {y} >= 1", f"cast({t} as int) > 3", f"{x} + {y} > 5",
                f"upper({t}) = 'X'", f"not ({x} between 2 and 4)", "rand(7) < 0.6", f"{x} % 2 = 0 or {t} is null",
                f"{t} = {x}", f"{t} rlike '^[0-9]+$'", f"coalesce({t}, 'n') <> 'x' -- why not",
            ]
        )
    )  # fmt: skip


def expression(draw: st.DrawFn, columns: dict[str, str]) -> tuple[str, str]:
    x, y, t = number(draw, columns), number(draw, columns), text(draw, columns)
    return draw(
        st.sampled_from(
            [
                (f"{x} + {y}", "bigint"), (f"{x} / {y}", "double"), (f"cast({t} as int)", "int"), ("rand(3)", "double"),
                (f"upper({t})", "string"), (f"concat({t}, '-', {t})", "string"), ("1", "int"), ("1.5", "decimal"),
                (f"case when {y} <> 0 then {x} % {y} end", "bigint"), (f"coalesce({x}, {y})", "bigint"),
                (f"monotonically_increasing_id() * 0 + {x}", "bigint"), (f"length({t})", "int"), ("null", "void"),
            ]
        )
    )  # fmt: skip


def filtered(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    draft.add("Filter", f'plugin_input = "{name}", condition = "{predicate(draw, columns)}"', columns)


def narrowed(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    kept = draw(st.lists(st.sampled_from(list(columns)), min_size=1, unique=True))
    listed = ", ".join(f'"{each}"' for each in kept)
    draft.add(
        "Filter",
        f'plugin_input = "{name}", include_fields = [{listed}]',
        {each: type for each, type in columns.items() if each in kept},
    )


def mapped(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    kept = draw(st.permutations(list(columns)))[: draw(st.integers(1, len(columns)))]
    shifted = dict(zip(kept, [*kept[1:], kept[0]], strict=True)) if draw(st.booleans()) else {k: f"{k}_" for k in kept}
    pairs = ", ".join(f"{old} = {new}" for old, new in shifted.items())
    draft.add(
        "FieldMapper",
        f'plugin_input = "{name}", field_mapper {{ {pairs} }}',
        {new: columns[old] for old, new in shifted.items()},
    )


def copied(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    old = draw(st.sampled_from(list(columns)))
    new = draw(st.sampled_from(["c", "d", *columns]))
    draft.add("Copy", f'plugin_input = "{name}", fields {{ {new} = {old} }}', columns | {new: columns[old]})


def replaced(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    old = draw(st.sampled_from(list(columns)))
    options = draw(st.sampled_from(["", ", is_regex = true", ", is_regex = true, replace_first = true"]))
    draft.add(
        "Replace",
        f'plugin_input = "{name}", replace_field = "{old}", pattern = "x", replacement = "1"{options}',
        columns | {old: "string"},
    )


def divided(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    old = draw(st.sampled_from(list(columns)))
    draft.add(
        "Split",
        f'plugin_input = "{name}", split_field = "{old}", separator = ",", output_fields = [p, q]',
        columns | {"p": "string", "q": "string"},
    )


def renamed(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    draft.add(
        "FieldRename",
        f'plugin_input = "{name}", suffix = "_"',
        {f"{each}_": type for each, type in columns.items()},
    )


def queried(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    new, type = expression(draw, columns)
    kept = ", ".join(columns)
    x, t = number(draw, columns), text(draw, columns)
    query, made = draw(
        st.sampled_from(
            [
                (f"select {kept}, {new} as e from {name}", columns | {"e": type}),
                (f"select {new} as e, {x} as x from {name} where {predicate(draw, columns)}", {"e": type, "x": "int"}),
                (f"with w as (select * from {name}) select *, {new} as e from w", columns | {"e": type}),
                (f"select {t} as t, count(*) as n, max({x}) as x from {name} group by 1 -- a comment",
                 {"t": "string", "n": "bigint", "x": "bigint"}),
                (f"select l.*, r.t as r from {name} l join right_rows r on r.id < 3",
                 columns | {"r": "string"}),
                (f"select distinct {kept} from {name} order by {next(iter(columns))}", columns),
            ]
        )
    )  # fmt: skip
    if "e" in columns or ("join" in query and "r" in columns):
        return filtered(draw, draft, name)
    inputs = f'["{name}", "right_rows"]' if "join" in query and name != "right_rows" else f'"{name}"'
    return draft.add("Sql", f'plugin_input = {inputs}, query = """{query}"""', made)


def united(draw: st.DrawFn, draft: Draft, name: str) -> None:
    columns = draft.tables[name]
    same = [each for each, other in draft.tables.items() if other == columns and list(other) == list(columns)]
    other = draw(st.sampled_from(same))
    draft.add("Filter", f'plugin_input = ["{name}", "{other}"], condition = "true"', columns)


STEPS = [filtered, filtered, filtered, narrowed, mapped, mapped, copied, replaced, divided, renamed, queried, queried,
         united]  # fmt: skip
