"""Random queries: joins, groups, windows, set operations, subqueries, CTEs and generators over the oracle's tables."""

import random
from collections import defaultdict
from dataclasses import dataclass

from tests.oracle.expressions import EVERY_COLUMNS, KINDS, Columns, ExpressionGenerator
from tests.oracle.shapes import SHAPES

TABLE_COLUMNS: dict[str, Columns] = {
    "every": EVERY_COLUMNS,
    "orders": {
        "int": ["id", "customer"],
        "dec": ["amount"],
        "date": ["placed"],
        "str": ["state", "lines[0].sku"],
        "strs": ["lines.sku"],
        "ints": ["lines.qty"],
    },
    "customers": {
        "int": ["id"],
        "str": ["name", "address.city"],
        "ts": ["since"],
        "frac": ["score"],
    },
}
SIMPLE_KINDS = ("bool", "int", "frac", "dec", "str", "date", "ts", "ints", "map", "struct")
ORDERABLE = ("int", "frac", "dec", "str", "date", "ts")
JOINS = ("join", "left join", "right join", "full join", "cross join", "left semi join", "left anti join")


@dataclass(frozen=True)
class Relation:
    """What stands in a FROM: its text and its columns by kind."""

    text: str
    columns: Columns


class QueryGenerator:
    """Random queries, valid by the grammar's intent; Spark has the last word."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._names = 0

    def query(self, depth: int = 2) -> str:
        if self.random.random() < 0.5:
            return SHAPES[self.random.choice(list(SHAPES))](self)
        kinds = self._kinds()
        shape = self.random.random()
        if depth > 0 and shape < 0.15:
            return self._with(depth, kinds)
        if depth > 0 and shape < 0.35:
            return self._set_operation(depth, kinds)
        return self._select(depth, kinds, named=False) + self._tail(kinds)

    def _kinds(self) -> list[str]:
        return [self.random.choice(SIMPLE_KINDS) for _ in range(self.random.randint(1, 4))]

    def _with(self, depth: int, kinds: list[str]) -> str:
        name = self.name("w")
        inner = self._select(depth - 1, kinds, named=True)
        columns = _by_kind([(f"{name}.c{i}", kind) for i, kind in enumerate(kinds)])
        outer = self._block(Relation(name, columns), self._kinds(), depth - 1, named=False)
        return f"with {name} as ({inner}) {outer}"

    def _set_operation(self, depth: int, kinds: list[str]) -> str:
        kinds = [kind for kind in kinds if kind not in ("map",)] or ["int"]
        operator = self.random.choice(("union all", "union", "intersect", "except", "union all"))
        left, right = (self._select(depth - 1, kinds, named=True) for _ in range(2))
        return f"{left} {operator} {right}"

    def _select(self, depth: int, kinds: list[str], *, named: bool) -> str:
        return self._block(self._relation(depth), kinds, depth, named=named)

    def _block(self, relation: Relation, kinds: list[str], depth: int, *, named: bool) -> str:
        make = ExpressionGenerator(self.random.randrange(1 << 30), relation.columns)
        where = f" where {make.make('bool', 2)}" if self.random.random() < 0.5 else ""
        if depth > 0 and self.random.random() < 0.2:
            where = (where + " and " if where else " where ") + self._predicate_subquery(make)
        if self.random.random() < 0.35:
            return self._grouped(relation, make, kinds, where, named=named)
        items = [self._item(make.make(kind, 2), i, named=named) for i, kind in enumerate(kinds)]
        if self.random.random() < 0.2 and not named:
            items.append(f"{make.make('win', 1)} as w")
        distinct = "distinct " if self.random.random() < 0.1 and "map" not in kinds else ""
        return f"select {distinct}{', '.join(items)} from {relation.text}{where}"

    def _grouped(
        self, relation: Relation, make: ExpressionGenerator, kinds: list[str], where: str, *, named: bool
    ) -> str:
        keys = [make.make(self.random.choice(ORDERABLE), 0) for _ in range(self.random.randint(1, 2))]
        keys = [key for key in keys if not key[0].isdigit() and key[0] != "-"] or ["1 + 1"]
        items = [self._item(self._aggregate(make, kind), i, named=named) for i, kind in enumerate(kinds)]
        items += [] if named else [f"{key} as k{i}" for i, key in enumerate(keys)]
        if not named and self.random.random() < 0.3:
            items.append(make.make("agg", 1))
        grouping = self.random.choice(("{}", "{}", "{}", "rollup({})", "cube({})", "grouping sets (({}), ())"))
        having = " having count(*) > 1" if self.random.random() < 0.2 else ""
        return (
            f"select {', '.join(items)} from {relation.text}{where} group by {grouping.format(', '.join(keys))}{having}"
        )

    def _aggregate(self, make: ExpressionGenerator, kind: str) -> str:
        function = {"bool": "bool_or", "ints": "any_value", "map": "any_value", "struct": "max"}.get(kind)
        function = function or self.random.choice(("max", "min", "first", "any_value"))
        return f"{function}({make.make(kind, 1)})"

    def _item(self, text: str, index: int, *, named: bool) -> str:
        return f"{text} as c{index}" if named or self.random.random() < 0.7 else text

    def _predicate_subquery(self, make: ExpressionGenerator) -> str:
        if self.random.random() < 0.5:
            return "exists (select 1 from customers cc where cc.id = 1)"
        negation = self.random.choice(("", "not "))
        return f"{make.make('int', 0)} {negation}in (select oo.customer from orders oo where oo.amount > 10)"

    def _tail(self, kinds: list[str]) -> str:
        if self.random.random() < 0.2 and "map" not in kinds:
            return f" order by {self.random.randint(1, len(kinds))} desc limit 10"
        return ""

    def _relation(self, depth: int) -> Relation:
        shape = self.random.random()
        if depth > 0 and shape < 0.25:
            return self._join(depth)
        if depth > 0 and shape < 0.45:
            return self._subquery(depth)
        if shape < 0.52:
            return Relation("range(10) r", {"int": ["id", "r.id"]})
        if shape < 0.58:
            return Relation(
                "values (1, 'a', 1.5), (2L, null, 2) as v(x, y, z)", {"int": ["v.x"], "str": ["y"], "dec": ["v.z"]}
            )
        if shape < 0.66:
            return Relation(
                "every lateral view explode(nums) e as n", {**EVERY_COLUMNS, "int": ["num", "e.n", "n", "big"]}
            )
        return self.table()

    def table(self) -> Relation:
        table = self.random.choice(("every", "every", "orders", "customers"))
        name = self.name("t")
        columns = {kind: [f"{name}.{each}" for each in names] for kind, names in TABLE_COLUMNS[table].items()}
        return Relation(f"{table} {self.random.choice(('', 'as '))}{name}", columns)

    def _subquery(self, depth: int) -> Relation:
        name, kinds = self.name("s"), self._kinds()
        text = self._select(depth - 1, kinds, named=True)
        return Relation(f"({text}) {name}", _by_kind([(f"{name}.c{i}", kind) for i, kind in enumerate(kinds)]))

    def _join(self, depth: int) -> Relation:
        left = self.table()
        right = self.table() if self.random.random() < 0.7 else self._subquery(depth)
        join = self.random.choice(JOINS)
        both = {kind: [*left.columns.get(kind, ()), *right.columns.get(kind, ())] for kind in KINDS}
        condition = (
            ""
            if join == "cross join"
            else f" on {ExpressionGenerator(self.random.randrange(1 << 30), both).make('bool', 1)}"
        )
        visible = left.columns if "semi" in join or "anti" in join else both
        return Relation(f"{left.text} {join} {right.text}{condition}", visible)

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"


def _by_kind(columns: list[tuple[str, str]]) -> Columns:
    grouped: dict[str, list[str]] = defaultdict(list)
    for name, kind in columns:
        grouped[kind].append(name)
    return grouped
