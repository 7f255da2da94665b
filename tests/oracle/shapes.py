"""Forms of queries beyond a block of SELECT: each makes one at random, with a generator's tables and expressions."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tests.oracle.expressions import ExpressionGenerator

if TYPE_CHECKING:
    from tests.oracle.queries import QueryGenerator, Relation

NUMBERS = ("int", "dec", "frac")
KEYS = ("int", "str", "date", "dec")
ATOMS = ("bool", "int", "frac", "dec", "str", "date", "ts")


def _make(make: "QueryGenerator", relation: "Relation") -> ExpressionGenerator:
    return ExpressionGenerator(make.random.randrange(1 << 30), relation.columns)


def _column(make: "QueryGenerator", relation: "Relation", *kinds: str) -> str:
    """A column of one of the kinds, in brackets if there is none."""
    found = [name for kind in kinds for name in relation.columns.get(kind, ())]
    return make.random.choice(found) if found else "(1)"


def pivot(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    aggregates = make.random.choice(
        (
            "sum(v)",
            "max(v) as m",
            "sum(v) as s, count(*) as c",
            "avg(v), min(w)",
            "count(distinct w) as d, sum(v + 1) as t",
        )
    )
    kind = make.random.choice(("int", "str", "bool"))
    values = {"int": "1, 2 as two", "str": "'a', 'b' as bee", "bool": "true, false as no"}[kind]
    rest = f", {of.make(make.random.choice(ATOMS), 1)} as g" if make.random.random() < 0.7 else ""
    inner = f"select {of.make(kind, 1)} as p, {of.make(make.random.choice(NUMBERS), 1)} as v, {of.make('int', 0)} as w{rest}"
    if make.random.random() < 0.2:
        values = f"({values.split(',')[0]}, 1), ({values.split(',')[0]}, 2) as both"
        return f"select * from ({inner} from {relation.text}) pivot ({aggregates} for (p, w) in ({values}))".replace(
            "min(w)", "min(v)"
        ).replace("distinct w", "distinct v")
    return f"select * from ({inner} from {relation.text}) pivot ({aggregates} for p in ({values}))"


def unpivot(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    kind = make.random.choice(("int", "dec", "str", "date", "frac"))
    items = [f"{of.make(kind, 1)} as a", f"{of.make(kind, 1)} as b", f"{of.make(make.random.choice(ATOMS), 1)} as c"]
    nulls = make.random.choice(("", "include nulls ", "exclude nulls "))
    how = make.random.choice(("(v for n in (a, b))", "(v for n in (a as x, b))", "((v) for n in ((a), (b) as y))"))
    return f"select * from (select {', '.join(items)} from {relation.text}) unpivot {nulls}{how}"


def pipe(make: "QueryGenerator") -> str:
    """A chain of operators over columns that it names itself."""
    relation = make.table()
    of = _make(make, relation)
    kinds = [make.random.choice(ATOMS) for _ in range(3)]
    items = ", ".join(f"{of.make(kind, 1)} as p{at}" for at, kind in enumerate(kinds))
    columns = {f"p{at}": kind for at, kind in enumerate(kinds)}
    text = f"from {relation.text} |> where {of.make('bool', 1)} |> select {items}"
    for _ in range(make.random.randint(1, 4)):
        text += f" |> {_operator(make, columns)}"
    return text


def _operator(make: "QueryGenerator", columns: dict[str, str]) -> str:
    by_kind: dict[str, list[str]] = {}
    for name, kind in columns.items():
        by_kind.setdefault(kind, []).append(name)
    of = ExpressionGenerator(make.random.randrange(1 << 30), by_kind)
    kind, name = make.random.choice(ATOMS), make.name("x")
    choice = make.random.choice(
        ("where", "extend", "set", "drop", "aggregate", "order", "limit", "as", "join", "union", "select")
    )
    first = make.random.choice(list(columns)) if columns else None
    if choice == "extend":
        text = f"extend {of.make(kind, 1)} as {name}"
        columns[name] = kind
    elif choice == "set" and first:
        text = f"set {first} = {of.make(kind, 1)}"
        columns[first] = kind
    elif choice == "drop" and first and len(columns) > 1:
        text = f"drop {first}"
        del columns[first]
    elif choice == "aggregate" and first:
        text = f"aggregate max({of.make(kind, 1)}) as {name}, count(*) as n group by {first}"
        held = columns[first]
        columns.clear()
        columns.update({first: held, name: kind, "n": "int"})
        if make.random.random() < 0.3:
            text = text.replace(f"group by {first}", f"group by {first} as k")
            columns["k"] = columns.pop(first)
    elif choice == "order" and first:
        text = f"order by {first} desc"
    elif choice == "limit":
        text = "limit 3"
    elif choice == "as":
        text = f"as {name}"
    elif choice == "join":
        text = f"{make.random.choice(('join', 'left join', 'cross join', 'left semi join'))} customers {name}"
        text += "" if "cross" in text else f" on {name}.id = 1"
    elif choice == "select" and first:
        text = f"select {first}, {of.make(kind, 1)} as {name}"
        held = columns[first]
        columns.clear()
        columns.update({first: held, name: kind})
    else:
        text = f"where {of.make('bool', 1)}"
    return text


def lateral(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    join = make.random.choice((",", " cross join", " left join", " join"))
    inner = f"select {of.make(make.random.choice(ATOMS), 1)} as l, cc.id + 1 as m from customers cc"
    if make.random.random() < 0.5:
        inner = f"select {of.make(make.random.choice(ATOMS), 1)} as l, 1 as m"
    on = " on true" if join in (" left join", " join") and make.random.random() < 0.5 else ""
    return f"select lat.l, lat.m, {of.make(make.random.choice(ATOMS), 1)} from {relation.text}{join} lateral ({inner}) lat{on}"


def correlated(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    key = _column(make, relation, "int")
    scalar = make.random.choice(
        (
            f"(select max(oo.amount) from orders oo where oo.customer = {key})",
            f"(select count(*) from customers cc where cc.id = {key})",
            "(select min(cc.since) from customers cc)",
            f"(select sum(oo.amount) + 1 from orders oo where oo.id = {key} and oo.state = 'a')",
            f"(select first(cc.name) from customers cc where cc.id = {key} group by cc.id limit 1)",
        )
    )
    where = make.random.choice(
        (
            f"exists (select 1 from orders oo where oo.customer = {key})",
            f"not exists (select * from customers cc where cc.id = {key} and cc.score > 1)",
            f"{key} in (select oo.id from orders oo where oo.state = {of.make('str', 0)})",
            f"({key}, {of.make('str', 0)}) in (select oo.id, oo.state from orders oo)",
            f"{of.make('dec', 0)} > {scalar}" if "amount" in scalar else f"{key} is not null",
        )
    )
    return (
        f"select {scalar} as s, coalesce({scalar}, null) as z, {of.make('int', 1)} from {relation.text} where {where}"
    )


def recursive(make: "QueryGenerator") -> str:
    of = ExpressionGenerator(make.random.randrange(1 << 30), {"int": ["n"], "str": ["s"]})
    name = make.name("r")
    columns = make.random.choice(("(n, s)", "(n, s)"))
    step = f"select n + {make.random.choice(('1', '1L', 'cast(1 as smallint)'))}, {of.make('str', 1)} from {name} where n < 5"
    return f"with recursive {name}{columns} as (select 1, 'a' union all {step}) select {of.make('int', 1)} as i, s, n from {name}"


def aliases(make: "QueryGenerator") -> str:
    """Lateral column aliases."""
    relation = make.table()
    of = _make(make, relation)
    return (
        f"select {of.make('int', 2)} as la, la + 1 as lb, {of.make('str', 1)} as lc, upper(lc) || lb, lb + {of.make('dec', 1)} as ld,"
        f" case when la > 1 then lb end from {relation.text}"
    )


def grouping(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    keys = [of.make(make.random.choice(KEYS), 1) for _ in range(2)]
    g, h = keys
    agg = of.make("agg", 1)
    return make.random.choice(
        (
            f"select {g} as g, {h} as h, {agg} as a from {relation.text} group by all",
            f"select {g} as g, {h}, {agg} from {relation.text} group by 1, 2 order by all",
            f"select {g} as g, {h} as h, {agg} from {relation.text} group by g, h having count(*) > 1 order by g nulls last, 2",
            f"select g, h, grouping(g), grouping_id(g, h), {'sum(i)'} from (select {g} as g, {h} as h, {of.make('int', 1)} as i from {relation.text}) group by cube(g, h)",
            f"select g, h, grouping_id(), max(i) from (select {g} as g, {h} as h, {of.make('ts', 1)} as i from {relation.text}) group by grouping sets ((g, h), (g), ())",
            f"select g, h, count(*) as n from (select {g} as g, {h} as h from {relation.text}) group by g, rollup(h) having n > 1",
            f"select g, sum(sum(i)) over (order by g), rank() over (partition by count(*) order by max(i)) from (select {g} as g, {of.make('num', 1)} as i from {relation.text}) group by g",
            f"select g, {'max(i)'} as m, m + 1 from (select {g} as g, {of.make('int', 1)} as i from {relation.text}) group by g order by sum(i), m",
            f"select distinct g, h from (select {g} as g, {h} as h from {relation.text}) order by h, g limit 5 offset 1",
        )
    )


def using(make: "QueryGenerator") -> str:
    join = make.random.choice(
        ("join", "left join", "right join", "full join", "left semi join", "left anti join", "inner join")
    )
    natural = make.random.random() < 0.3
    on = "" if natural else " using (id)"
    what = make.random.choice(
        ("*", "id, o.id + 1, state", "o.*", "* except (amount)", "id, coalesce(id, 0) as z, o.id as oi")
    )
    if "semi" not in join and "anti" not in join and make.random.random() < 0.5:
        what = make.random.choice(
            ("id, c.id as ci, name", "c.*, o.amount", "* except (lines, address)", "o.id, c.id, id")
        )
    return f"select {what} from orders o {'natural ' if natural else ''}{join} customers c{on}"


def generators(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    view, columns = make.random.choice(
        (
            (f"explode({of.make('map', 1)})", "gk, gv"),
            (f"posexplode({of.make('ints', 1)})", "gp, gv"),
            (f"explode_outer({of.make('strs', 1)})", "gv"),
            (f"inline({of.make('structs', 0)})", "gv, gb, gc"),
            (f"stack(2, {of.make('int', 1)}, {of.make('str', 1)}, {of.make('int', 1)}, {of.make('str', 1)})", "gv, gs"),
            (f"json_tuple({of.make('str', 1)}, 'a', 'b')", "gv, gw"),
            (f"inline_outer({of.make('structs', 0)})", "gv, gb, gc"),
        )
    )
    outer = make.random.choice(("", "outer "))
    form = make.random.random()
    if form < 0.5:
        return f"select g.gv, {columns}, {of.make('int', 1)} from {relation.text} lateral view {outer}{view} g as {columns}"
    if form < 0.75:
        return f"select {view}, {of.make('int', 1)} as i from {relation.text}"
    return f"select {columns}, {of.make('int', 1)} from {relation.text}, lateral {view} as g({columns})"


def tables(make: "QueryGenerator") -> str:
    """Table functions and inline tables."""
    of = ExpressionGenerator(make.random.randrange(1 << 30), {})
    a, b = (make.random.choice(ATOMS) for _ in range(2))
    rows = ", ".join(f"({of.make(a, 1)}, {of.make(b, 1)})" for _ in range(make.random.randint(1, 3)))
    return make.random.choice(
        (
            f"select * from values {rows} as v(x, y)",
            f"select v.x, y from (values {rows}) as v(x, y)",
            f"values {rows}",
            f"select id + {of.make('int', 1)} from range({make.random.choice(('5', '1, 5', '1, 9, 2'))})",
            f"select * from explode({of.make('ints', 1)}) as e(v)",
            f"select * from inline({of.make('structs', 1)})",
            f"select * from posexplode(collection => {of.make('strs', 1)})",
            f"select * from stack(2, {of.make(a, 1)}, {of.make(a, 1)})",
            f"select * from variant_explode({of.make('variant', 1)})",
            f"table {make.random.choice(('orders', 'customers'))}",
            f"select mask({of.make('str', 1)}, upperChar => 'A', digitChar => 'd')",
        )
    )


def sets(make: "QueryGenerator") -> str:
    """Set operations whose sides differ in types."""
    left, right = make.table(), make.table()
    a, b = _make(make, left), _make(make, right)
    groups = (
        NUMBERS,
        ("date", "ts"),
        ("str", "int"),
        ("ints", "ints"),
        ("struct", "struct"),
        ("ym", "ym"),
        ("dt", "dt"),
        ("str", "date"),
    )
    chosen = [make.random.choice(groups) for _ in range(make.random.randint(1, 3))]
    one = ", ".join(f"{a.make(make.random.choice(kinds), 1)} as c{at}" for at, kinds in enumerate(chosen))
    two = ", ".join(b.make(make.random.choice(kinds), 1) for kinds in chosen)
    operator = make.random.choice(("union", "union all", "intersect", "intersect all", "except", "except all", "minus"))
    tail = make.random.choice(("", " order by c0", " order by 1 desc limit 3", " limit 2"))
    third = f" union all select {two} from {right.text}" if make.random.random() < 0.2 else ""
    return f"select {one} from {left.text} {operator} select {two} from {right.text}{third}{tail}"


def ctes(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    kinds = [make.random.choice(ATOMS) for _ in range(2)]
    inner = f"select {', '.join(of.make(kind, 1) for kind in kinds)} from {relation.text}"
    seen = ExpressionGenerator(make.random.randrange(1 << 30), {kinds[0]: ["a.u", "u"], kinds[1]: ["v"]})
    second = f"select {seen.make(make.random.choice(ATOMS), 1)} as w, a.* from a"
    return f"with a(u, v) as ({inner}), b as ({second}) select b.w, b.u, q.v from b join (select * from a) as q on b.u <=> q.u"


def windows(make: "QueryGenerator") -> str:
    relation = make.table()
    of = _make(make, relation)
    order, key = _column(make, relation, "int", "date", "str"), _column(make, relation, "str", "int")
    frame = make.random.choice(
        (
            "",
            " rows between 2 preceding and current row",
            " rows unbounded preceding",
            " range between unbounded preceding and current row",
        )
    )
    return (
        f"select {of.make('int', 1)} as i, sum({of.make('num', 1)}) over w as s, lag({of.make('any', 0)}) over (w2),"
        f" count({of.make('any', 1)}) over (partition by {key}), row_number() over w2 - 1"
        f" from {relation.text} window w as (partition by {key} order by {order}{frame}), w2 as (order by {order} desc nulls last)"
    ).replace("over (w2)", "over w2")


def clauses(make: "QueryGenerator") -> str:
    """Samples, column aliases of a subquery, struct stars, sorting without limit."""
    relation = make.table()
    of = _make(make, relation)
    return make.random.choice(
        (
            f"select {of.make('int', 1)} from every tablesample ({make.random.choice(('10 percent', '5 rows', 'bucket 1 out of 4'))})"
            if relation.text.startswith("every")
            else f"select {of.make('str', 1)} from {relation.text}",
            f"select s.a, b from (select {of.make('int', 1)}, {of.make('str', 1)} from {relation.text}) as s(a, b)",
            "select point.*, e.points.a, e.* except (point, points, doc, nums) from every e",
            f"select z.* from (select {of.make('struct', 1)} as z from {relation.text})",
            f"select {of.make('int', 1)} as i, {of.make('str', 1)} as s from {relation.text} sort by i, s desc",
            f"select {of.make('int', 1)} as i from {relation.text} distribute by i",
            f"select {of.make('int', 1)} as i, 1 as j from {relation.text} cluster by i, j",
            f"select {of.make('any', 1)} as a, {of.make('ord', 1)} as o from {relation.text} order by o desc nulls first, {of.make('ord', 0)} limit 2 + 1 offset 1",
            f"select {of.make('bool', 1)} as a, struct(*) as st from (select {of.make('int', 1)} as i, {of.make('str', 1)} as s from {relation.text}) t".replace(
                of.make("bool", 0), "true"
            ),
        )
    )


SHAPES: Mapping[str, Callable[["QueryGenerator"], str]] = {
    each.__name__: each
    for each in (
        pivot, unpivot, pipe, lateral, correlated, recursive, aliases, grouping, using, generators, tables, sets, ctes,
        windows, clauses,
    )
}  # fmt: skip
