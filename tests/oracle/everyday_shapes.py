"""Queries as people write them, in the forms where sqlglot and Spark most easily differ: each makes one at random.

USING whose key is not the first column, aggregates in ORDER BY beside HAVING and windows, operators without brackets,
casts of literals, bracketed joins, correlated subqueries in every clause, constant arguments, functions of other
systems, comparisons of nested values, names that are computed, items beside a generator, TRANSFORM.
"""

import random
from collections.abc import Callable

_NUMBERS = ("num", "big", "money", "dbl", "tiny", "1", "2", "100", "1.5", "cast(100 as int)", "2L", "'3'", "null")
_JOINS = ("join", "left join", "right join", "full join", "left semi join", "left anti join", "inner join")
_AGGREGATES = ("sum(amount)", "count(*)", "max(id)", "min(placed)", "max(amount)", "count(distinct state)")
_FOREIGN = (
    "unnest",
    "truncate",
    "timestamp_ntz",
    "datetime",
    "xor",
    "list",
    "localtime",
    "glob",
    "insert",
    "int64",
    "text",
)


def using(chooser: random.Random) -> str:
    both = ["id", "customer", "amount", "state"]
    keys = ", ".join(chooser.sample(both, chooser.randint(1, 2)))
    right = chooser.choice(("orders", "(select amount, customer, id, state, placed as day from orders)"))
    join = chooser.choice(_JOINS)
    criteria = "natural " + join if chooser.random() < 0.25 and "semi" not in join and "anti" not in join else join
    items = ["*", "o.*", "o.* except (placed)", f"{keys.split(',')[0]}, o.{keys.split(',')[0]}"]
    items += (
        []
        if "semi" in join or "anti" in join
        else ["p.*", "o.*, p.*", "p.*, o.*", "struct(p.*) as s", "p.id, o.id, o.state"]
    )
    on = "" if criteria.startswith("natural") else f" using ({keys})"
    third = f" {chooser.choice(_JOINS[:4])} customers c using (id)" if chooser.random() < 0.3 else ""
    return f"select {chooser.choice(items)} from orders o {criteria} {right} p{on}{third}"


def sorted_aggregates(chooser: random.Random) -> str:
    first, second, third = (chooser.choice(_AGGREGATES) for _ in range(3))
    name = chooser.choice(("n", "amount", "id", "total", "state"))
    having = chooser.choice(
        ("", "", f" having {third} is not null", f" having {first} is not null", " having state > 'a'")
    )
    window = chooser.choice(("", "", ", row_number() over (order by state) as r"))
    order = chooser.choice((first, second, name, f"{first} desc, state", "state", "2", f"{second}, {name}"))
    group = chooser.choice(("state", "state", "rollup(state)", "all"))
    clause = chooser.choice(("order by", "order by", "sort by", "distribute by"))
    return f"select state, {first} as {name}{window} from orders group by {group}{having} {clause} {order}"


def precedence(chooser: random.Random) -> str:
    operators = ("+", "-", "*", "/", "%", "||", "&", "|", "^", "<<", ">>", "=", "<", ">=", "<=>", "div", "<>")
    text = chooser.choice(_NUMBERS)
    for _ in range(chooser.randint(2, 5)):
        sign = chooser.choice(("", "", "", "-", "+ ", "~"))
        text += f" {chooser.choice(operators)} {sign}{chooser.choice(_NUMBERS)}"
    text += chooser.choice(
        ("", "", " is null", " between 1 and 2", " in (1, 2)", " like '1%'", " is not null and flag")
    )
    return f"select {chooser.choice(('', 'not ', '- ', '+ '))}{text} from every"


def casts_of_literals(chooser: random.Random) -> str:
    type_ = chooser.choice(("int", "bigint", "smallint", "decimal(5,1)", "double", "string"))
    literal = chooser.choice(("100", "-1", "'7'", "1.5", "2L", "null"))
    cast = chooser.choice((f"cast({literal} as {type_})", f"{type_.split('(')[0]}({literal})", f"({literal})::{type_}"))
    other = chooser.choice(("money", "num", "1.25", "big", "whole", "huge"))
    operator = chooser.choice(("+", "-", "*", "/", "%", "=", "<", "div"))
    return f"select {cast} {operator} {other}, {other} {operator} {cast} from every"


def bracketed_joins(chooser: random.Random) -> str:
    one = chooser.choice(
        ("orders o", "(select * from orders) o", "(orders) o", "(from orders) o", "(values (1L, 2)) as o(id, z)")
    )
    two = chooser.choice(
        ("customers c", "(select id, name from customers) c", "(customers c join range(3) r using (id))")
    )
    on = "" if "range" in two else chooser.choice((" on o.id = c.id", " using (id)", ""))
    inner = f"({one} {chooser.choice(('join', 'left join', 'cross join'))} {two}{'' if 'cross' in one else on})"
    if "cross join" in inner:
        inner = inner.replace(on, "") if on else inner
    outer = chooser.choice(("", " x", " join every e on e.big = 1"))
    return f"select * from {inner}{outer}"


def correlated(chooser: random.Random) -> str:
    outer = chooser.choice(("o.id", "o.amount", "o.state", "sum(o.amount)"))
    item = chooser.choice(("max(c.id)", "c.id", f"max(c.id) + {outer}", outer, "count(*)"))
    where = chooser.choice((" where c.id = o.customer", " where c.id > o.id", "", f" where {outer} is not null"))
    tail = chooser.choice(
        ("", "", " group by c.name", f" having count(*) > {outer}", f" order by {outer} limit 1", " limit 1")
    )
    inner = f"(select {item} from customers c{where}{tail})"
    return chooser.choice((
        f"select {inner} as s from orders o",
        f"select o.id from orders o where exists {inner}",
        f"select o.id from orders o where o.id in {inner}",
        f"select o.state from orders o group by o.state having count(*) > {inner}",
        f"select o.id from orders o order by {inner}",
        f"select * from orders o, lateral {inner} as l(v)",
        f"select o.id from orders o join customers d on d.id = {inner}",
        f"select sum({inner}) from orders o",
    ))  # fmt: skip


def other_functions(chooser: random.Random) -> str:
    name = chooser.choice(_FOREIGN)
    arguments = chooser.choice(("", "num", "txt", "nums", "1, 2", "'a'"))
    return chooser.choice((f"select {name}({arguments}) from every", f"select * from {name}({arguments or '1'})"))


def constant_arguments(chooser: random.Random) -> str:
    return "select " + chooser.choice((
        f"to_binary(txt, '{chooser.choice(('hex', 'utf-8', 'base64', 'base65', 'UTF8', ''))}')",
        f"regexp_replace(txt, 'a', 'b', {chooser.choice(('0', '1', '-1', '2', 'num'))})",
        f"from_json(txt, 'a int', map('mode', {chooser.choice(('1', chr(39) + 'FAILFAST' + chr(39), 'txt'))}))",
        f"mask(txt, '{chooser.choice(('A', 'AB', ''))}')",
        f"interval '{chooser.choice(('1', '1-2', '1-13', '1 02', '1 25', 'x', ''))}' "
        f"{chooser.choice(('day', 'year to month', 'day to hour', 'month'))}",
        f"time '{chooser.choice(('12:00', '25:00:00', 'x', '1:2:3', '12:00:00.5'))}'",
        f"uniform({chooser.choice(('1', 'num', '1.5'))}, {chooser.choice(('2', chr(39) + 'a' + chr(39), '3L'))})",
        f"stack({chooser.choice(('0', '1', '2', 'num'))}, 1, 2)",
        f"ntile({chooser.choice(('0', '1', 'num'))}) over (order by num)",
        f"percentile(num, {chooser.choice(('0.5', '1.5', 'array(0.1, 2)', 'dbl'))})",
    )) + " from every"  # fmt: skip


def collated(chooser: random.Random) -> str:
    """Strings with collations of every strength, in what joins or compares them."""
    names = ("utf8_lcase", "unicode", "unicode_ai", "UNICODE_CI", "de_ci_ai", "utf8_binary", "utf8_lcase_rtrim", "nope")
    plain = ("word", "low", "low_nn", "uni", "ai", "trimmed", "pair.low", "lows[0]", "'a'", "'b'", "upper(low)", "num")
    one, two, three = (
        chooser.choice((*plain, f"{chooser.choice(plain[:-1])} collate {chooser.choice(names)}", "concat(low, 'x')"))
        for _ in range(3)
    )
    operator = chooser.choice(("=", "<", "<=>", "!=", "||"))
    item = chooser.choice((
        f"{one} {operator} {two}", f"coalesce({one}, {two}, {three})", f"if(num > 1, {one}, {two})",
        f"case when num = 1 then {one} else {two} end", f"case {one} when {two} then {three} end",
        f"{one} in ({two}, {three})", f"array({one}, {two})", f"map({one}, {two})", f"struct({one}, {two})",
        f"concat_ws({one}, {two}, {three})", f"replace({one}, {two}, 'z')", f"{one} like {two}", f"split({one}, {two})",
        f"array_contains(array({one}, {two}), {three})", f"greatest({one}, {two})", f"cast({one} as string collate de)",
        f"transform(lows, x -> x || {one})", f"max({one})", f"collect_list({one})", f"lower({one}) = {two}",
        f"instr({one}, {two})", f"trim({one} from {two})", f"by_low[{one}]", f"{one} in (select {two} from words)",
    ))  # fmt: skip
    return chooser.choice((
        f"select {item} from words", f"select {item} as x from words", f"select num from words where {one} = {two}",
        f"select {one} as x from words union all select {two} from words",
    ))  # fmt: skip


_BASES = ("small", "num", "big", "dbl", "flt", "money", "huge", "whole", "txt", "day", "ts", "ntz", "flag", "null")
_NESTS = ("({}, txt)", "named_struct('q', {})", "array({})", "array(named_struct('q', {}))", "map(1, {})", "map({}, 1)")


def nested_values(chooser: random.Random) -> str:
    """Tuples, arrays and maps of two types, in what compares or joins them."""
    nest = chooser.choice(_NESTS)
    bases = chooser.sample(_BASES[:-1] if nest.startswith("map({}") else _BASES, 2)
    one, two = (nest.format(base) for base in bases)
    operator = chooser.choice(("=", "<", "<=>", "!=", ">="))
    item = chooser.choice((
        f"{one} {operator} {two}", f"{one} {operator} {two}", f"{one} in ({two}, {one})",
        f"{one} in (select {two} from every)", f"{one} between {two} and {two}", f"case {one} when {two} then 1 end",
        f"coalesce({one}, {two})", f"if(flag, {one}, {two})", f"array({one}, {two})", f"nullif({one}, {two})",
        f"greatest({one}, {two})", f"array_contains(array({one}), {two})", f"equal_null({one}, {two})",
        f"array_union(array({one}), array({two}))", f"map({one}, 1)[{two}]", f"array_append(array({one}), {two})",
    ))  # fmt: skip
    if chooser.random() < 0.15:
        return f"select {one} as x from every union all select {two} from every"
    return f"select {item} as x from every"


def named_by_texts(chooser: random.Random) -> str:
    """IDENTIFIER over a constant text, which may be NULL or no name."""
    text = chooser.choice((
        "'num'", "'NU' || 'm'", "concat('n', 'um')", "lower('NUM')", "'num' || null", "concat('num', null)", "null",
        "trim(' num ')", "concat_ws('', 'n', null, 'um')", "upper(null)", "' num '", "'a b'", "''", "'`num`'", "1",
        "replace('nom', 'o', 'u')", "reverse('mun')", "cast(null as string)", "'every.num'", "'abs'", "'every'",
    ))  # fmt: skip
    return chooser.choice((
        f"select identifier({text}) from every", f"select identifier({text})(num) from every",
        f"select num from identifier({text})", f"select identifier({text}) + 1 as x from every where identifier({text}) > 1",
    ))  # fmt: skip


def beside_generators(chooser: random.Random) -> str:
    """Items without an alias beside a generator, which Spark names after it has taken the generator out."""
    path = chooser.choice(
        ("doc:a", "doc:a.b", "doc:a[0]", "doc:['a']", "every.doc:B", "point.a", "point", "num", "nums[0]")
    )
    item = chooser.choice((
        path, f"{path}::string", f"cast({path} as string)", f"({path})", f"({path})::string", f"upper({path}::string)",
        f"coalesce({path}::string, 'a')", f"{path} is null", f"array({path})", f"{path}::string::int",
        f"if(flag, {path}, {path})", f"{path}::string || 'a'", f"struct({path})", f"{path} as z",
    ))  # fmt: skip
    generator = chooser.choice(
        ("explode(nums)", "posexplode(nums)", "inline(points)", "explode(nums) as n", "stack(1, 2)")
    )
    return f"select {', '.join(chooser.sample((item, generator), 2))} from every"


def scripts(chooser: random.Random) -> str:
    """TRANSFORM: rows through a program."""
    inputs = chooser.choice(("num, txt", "num", "*", "num + 1, upper(txt)", "every.num", "nums", "sum(num)", "nope"))
    verb = chooser.choice(("transform({})", "transform ({})", "map {}", "reduce {}"))
    output = chooser.choice(
        ("", " as (a, b)", " as (a int, b string)", " as a, b", " as (a decimal(10, 2), b array<int>)")
    )
    tail = chooser.choice(("", " where num > 1", " group by num", " limit 1"))
    query = f"select {verb.format(inputs)} using 'cat'{output} from every{tail}".replace("select map", "map")
    query = query.replace("select reduce", "reduce")
    return chooser.choice((query, f"select * from ({query}) as q", f"with q as ({query}) select * from q"))


MUTATED: tuple[Callable[[random.Random], str], ...] = (
    *(using, sorted_aggregates, precedence, casts_of_literals, bracketed_joins),
    *(correlated, other_functions, constant_arguments, collated),
)
"""Forms of which mutants are made: all of their syntax is followed here, that of TRANSFORM is not."""
EVERYDAY = (*MUTATED, nested_values, nested_values, named_by_texts, beside_generators, scripts)


def everyday_query(seed: int, shapes: tuple[Callable[[random.Random], str], ...] = EVERYDAY) -> str:
    chooser = random.Random(seed)
    return chooser.choice(shapes)(chooser)
