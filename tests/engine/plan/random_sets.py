"""Random jobs over a set of tables, each as text beside the same job written out table by table."""

import re
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

COLUMNS = ("id = bigint, name = string", "id = bigint, amount = int", "key = string")
VALUES = ('[1, "a"]', "[2, 7]", '["k"]')
KINDS = ("INSERT", "UPDATE_AFTER", "DELETE")


@dataclass(frozen=True)
class Table:
    """A table of the set as the steps so far have made it; `node` is what it is called in the job written out."""

    database: str
    name: str
    columns: str
    node: str
    has_kinds: bool = False
    seen: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass
class Draft:
    """The blocks of both jobs so far, and the tables after them."""

    tables: list[Table]
    blocks: list[str] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)

    def of_set(self, plugin: str, options: str) -> None:
        self.blocks.append(f"{plugin} {{ {options} }}")

    def of_table(self, index: int, plugin: str, options: str, **changed: object) -> None:
        table, node = self.tables[index], f"w{len(self.alone)}"
        self.alone.append(f'{plugin} {{ plugin_input = "{table.node}", plugin_output = "{node}", {options} }}')
        self.tables[index] = replace(table, node=node, **changed)


@st.composite
def set_jobs(draw):
    """A job over a set, and the same job written out."""
    source = draw(st.sampled_from(("FakeSource", "LocalFile")))
    shapes = draw(st.lists(st.integers(0, len(COLUMNS) - 1), min_size=1, max_size=5))
    made = [_table(draw, source, index, shape) for index, shape in enumerate(shapes)]
    draft = Draft([table for table, _ in made])
    for number in range(draw(st.integers(0, 4))):
        draw(st.sampled_from(STEPS))(draw, draft, number)
    entries = "\n".join(f"{{ {options} }}" for _, options in made)
    sources = "\n".join(
        f'{source} {{ plugin_output = "{table.node}", {SHARED[source]}, {options} }}' for table, options in made
    )
    into, one = _sink(draft)
    whole = f"""
    source {{ {source} {{ {SHARED[source]}, tables_configs = [{entries}] }} }}
    transform {{ {chr(10).join(draft.blocks)} }}
    sink {{ {into} }}"""
    alone = f"""
    source {{ {sources} }}
    transform {{ {chr(10).join(draft.alone)} }}
    sink {{ {chr(10).join(one(table) for table in draft.tables)} }}"""
    return whole, alone


SHARED = {"FakeSource": "row.num = 2", "LocalFile": 'file_format_type = csv, path = "in/0.csv"'}


def _table(draw, source, index, shape):
    """A table, and the options of its entry or its own block."""
    has_kinds = source == "FakeSource" and draw(st.integers(0, 3)) == 0
    options = f'schema {{ table = "db{index % 2}.t{index}", fields {{ {COLUMNS[shape]} }} }}'
    if source == "LocalFile":
        options += f', path = "in/{shape}.csv"'
    elif has_kinds or draw(st.booleans()):
        kinds = KINDS if has_kinds else KINDS[:1]
        rows = ", ".join(f"{{ kind = {kind}, fields = {VALUES[shape]} }}" for kind in kinds)
        options += f", rows = [{rows}]"
    return Table(f"db{index % 2}", f"t{index}", COLUMNS[shape], f"s{index}", has_kinds), options


def _sink(draft):
    if any(table.has_kinds for table in draft.tables):
        return "Console { }", lambda table: f'Console {{ plugin_input = "{table.node}" }}'
    own = "file_format_type = csv, data_save_mode = DROP_DATA"
    into = f'LocalFile {{ path = "out/${{database_name:none}}/${{table_name}}-${{primary_key:id}}", {own} }}'
    return (
        into,
        lambda table: (
            f'LocalFile {{ plugin_input = "{table.node}", path = "out/{table.database}/{table.name}-id", {own} }}'
        ),
    )


def _chosen(draw, draft):
    count = len(draft.tables)
    return sorted(draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count)))


def _pattern(draft, chosen):
    return "|".join(re.escape(draft.tables[index].path) for index in chosen).replace("\\", "\\\\")


def _filter(draw, draft, number):
    condition = draw(st.sampled_from(("1 = 1", "1 <> 1")))
    draft.of_set("Filter", f'condition = "{condition}"')
    for index in range(len(draft.tables)):
        draft.of_table(index, "Filter", f'condition = "{condition}"')


def _query(draw, draft, number):
    query = f'query = "select *, {number} as n{number} from dual"'
    draft.of_set("Sql", query)
    for index, table in enumerate(draft.tables):
        draft.of_table(index, "Sql", query, seen=(*table.seen, f"n{number}"))


def _matched(draw, draft, number):
    chosen = _chosen(draw, draft)
    draft.of_set("FieldRename", f'table_match_regex = "{_pattern(draft, chosen)}", suffix = "_{number}"')
    for index in chosen:
        draft.of_table(
            index, "FieldRename", f'suffix = "_{number}"', seen=(*draft.tables[index].seen, f"suffix{number}")
        )


def _entries(draw, draft, number):
    chosen = _chosen(draw, draft)
    query = f'query = "select {number} as only{number} from dual"'
    listed = ", ".join(f'{{ table_path = "{draft.tables[index].path}", {query} }}' for index in chosen)
    draft.of_set("Sql", f"table_transform = [{listed}]")
    for index in chosen:
        draft.of_table(index, "Sql", query, columns="", seen=(f"only{number}",))


def _renamed(draw, draft, number):
    options, change = draw(st.sampled_from([
        ('prefix = "p_"', lambda name: f"p_{name}"),
        ('suffix = "_s"', lambda name: f"{name}_s"),
        ("convert_case = UPPER", str.upper),
    ]))  # fmt: skip
    chosen = _chosen(draw, draft)
    draft.of_set("TableRename", f'table_match_regex = "{_pattern(draft, chosen)}", {options}')
    for index in chosen:
        table = draft.tables[index]
        draft.tables[index] = replace(table, name=change(table.name))


def _left_out(draw, draft, number):
    chosen, is_included = _chosen(draw, draft), draw(st.booleans())
    if not is_included and len(chosen) == len(draft.tables):
        return
    names = "|".join(re.escape(draft.tables[index].name) for index in chosen).replace("\\", "\\\\")
    draft.of_set("TableFilter", f'table_pattern = "{names}", pattern_mode = {"INCLUDE" if is_included else "EXCLUDE"}')
    draft.tables = [table for index, table in enumerate(draft.tables) if (index in chosen) is is_included]


def _merged(draw, draft, number):
    shapes = {(table.columns, table.seen) for table in draft.tables}
    if len(shapes) > 1:
        return
    draft.of_set("TableMerge", f'database = "m", table = "m{number}"')
    node, inputs = f"w{len(draft.alone)}", ", ".join(f'"{table.node}"' for table in draft.tables)
    draft.alone.append(f'Filter {{ plugin_input = [{inputs}], plugin_output = "{node}", condition = "1 = 1" }}')
    has_kinds = any(table.has_kinds for table in draft.tables)
    draft.tables = [replace(draft.tables[0], database="m", name=f"m{number}", node=node, has_kinds=has_kinds)]


def _kinds(draw, draft, number):
    """Rows with kinds become plain ones."""
    plugin, options, column = draw(st.sampled_from([
        ("RowKindExtractor", f'custom_field_name = "kind{number}"', f"kind{number}"),
        ("FilterRowKind", "include_kinds = [INSERT]", ""),
    ]))  # fmt: skip
    chosen = [index for index, table in enumerate(draft.tables) if table.has_kinds]
    if not chosen:
        return
    draft.of_set(plugin, f'table_match_regex = "{_pattern(draft, chosen)}", {options}')
    for index in chosen:
        seen = (*draft.tables[index].seen, column) if column else draft.tables[index].seen
        draft.of_table(index, plugin, options, has_kinds=False, seen=seen)


STEPS = [_filter, _query, _matched, _entries, _renamed, _left_out, _merged, _merged, _kinds]
