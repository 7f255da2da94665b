"""Types as text, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import (  # fmt: skip
    ATOMIC_TYPES,
    BIGINT,
    BINARY,
    CALENDAR_INTERVAL,
    DAY_TIME_UNITS,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VOID,
    YEAR_MONTH_UNITS,
    Array,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
)
from catalog.types.typenames import (
    TypeTextError,
    parse_sized_type,
    parse_type,
    to_ddl,
    to_seatunnel,
    to_spark,
    type_of_value,
)

READ = {
    "bigint": BIGINT,
    "LONG": BIGINT,
    " decimal ( 10 , 2 ) ": Decimal(10, 2),
    "decimal": Decimal(10, 0),
    "numeric(5)": Decimal(5, 0),
    "array<int>": Array(INT),
    "map<string, array<double>>": Map(STRING, Array(ATOMIC_TYPES["double"])),
    "struct<a:int,b:string>": Struct((Field("a", INT), Field("b", STRING))),
    "struct<a int not null, `b c`: string comment 'it\\'s'>": Struct(
        (Field("a", INT, False), Field("b c", STRING, True, "it's"))
    ),
    "struct<>": Struct(()),
    "struct<struct: struct<array array<int>>>": Struct((Field("struct", Struct((Field("array", Array(INT)),))),)),
    "interval": CALENDAR_INTERVAL,
    "interval day to second": Interval("day", "second"),
    "interval YEAR": Interval("year", "year"),
    "array<interval hour to minute>": Array(Interval("hour", "minute")),
    "struct<interval: interval, to: int>": Struct((Field("interval", CALENDAR_INTERVAL), Field("to", INT))),
    "time(3)": Time(3),
    "time": Time(6),
    "void": VOID,
    "null": VOID,
    "bytes": BINARY,
    "timestamp_tz": TIMESTAMP,
    "float_vector": Array(FLOAT),
    "sparse_float_vector": Map(INT, FLOAT),
    '{"a": int}': Struct((Field("a", INT),)),
    "{a = int, b: {c: string}}": Struct((Field("a", INT), Field("b", Struct((Field("c", STRING),))))),
    "row<a int, b string>": Struct((Field("a", INT), Field("b", STRING))),
    "array<{a: int}>": Array(Struct((Field("a", INT),))),
}


@pytest.mark.parametrize(("text", "type"), READ.items())
def test_reads(text, type):
    assert parse_type(text) == type


ERRORS = [
    ("decimal(10,2", 12, "expected `)`, found the end of the type"),
    ("decimal(39,2)", 0, "decimal(39,2): 1 <= precision <= 38, 0 <= scale <= precision"),
    ("array<bigit>", 6, "unknown type `bigit`"),
    ("bigint(20)", 6, "`bigint` takes no size"),
    ("struct<a:int", 12, "expected `,` or `>`, found the end of the type"),
    ("struct<a:int,>", 13, "expected a field's name, found `>`"),
    ("map<int>", 7, "expected `,`, found `>`"),
    ("int int", 4, "expected the end of the type, found `int`"),
    ("", 0, "expected a type, found the end of the type"),
    ("int;", 3, "`;` has no meaning in a type"),
    ("interval day to month", 0, "interval day to month does not exist in Spark"),
    ("varchar", 0, "`varchar` needs a length"),
    ("unknown", 0, "unknown type `unknown`"),
    ("array<" * 2000 + "int" + ">" * 2000, 606, "the type is nested too deeply"),
]


@pytest.mark.parametrize(("text", "offset", "message"), ERRORS, ids=[each[0][:20] for each in ERRORS])
def test_errors_have_offset_and_message(text, offset, message):
    with pytest.raises(TypeTextError) as caught:
        parse_type(text)
    assert (caught.value.offset, caught.value.message) == (offset, message)


def test_the_nearest_name_is_offered():
    with pytest.raises(TypeTextError) as caught:
        parse_type("strng")
    assert caught.value.help == "did you mean `string`?"


def test_lengths_are_kept_beside_the_type():
    assert parse_sized_type("varchar(10)").length == 10
    assert parse_sized_type("char(5)").type == STRING
    assert parse_sized_type("string").length is None


def test_a_nested_mapping_is_a_struct():
    value = {"id": "bigint", "address": {"city": "string", "geo": {"lat": "double"}}, "tags": "array<string>"}
    assert (
        str(type_of_value(value).type)
        == "struct<id:bigint,address:struct<city:string,geo:struct<lat:double>>,tags:array<string>>"
    )


def test_a_error_in_a_nested_mapping_names_its_field():
    with pytest.raises(TypeTextError, match=r"^field `a`: field `b`: unknown type `itn`$"):
        type_of_value({"a": {"b": "itn"}})
    with pytest.raises(TypeTextError, match=r"expected a type or a block of fields, found 3"):
        type_of_value(3)


def intervals():
    pairs = [(u[i], u[j]) for u in (YEAR_MONTH_UNITS, DAY_TIME_UNITS) for i in range(len(u)) for j in range(i, len(u))]
    return st.sampled_from(pairs).map(lambda pair: Interval(*pair))


def decimals():
    return st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: Decimal(p, s)))


NAMES = st.one_of(
    st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True),
    st.sampled_from(["struct", "interval", "a b", "x`y", "nicht-da", "to", "1", "größe", "not", "comment"]),
)


def types(nullability, comments):
    leaves = st.one_of(
        st.sampled_from([type for type in ATOMIC_TYPES.values() if type != UNKNOWN]),
        decimals(),
        intervals(),
        st.integers(0, 6).map(Time),
    )
    fields = lambda inner: st.lists(st.builds(Field, NAMES, inner, nullability, comments), max_size=3)  # noqa: E731
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(Array), st.builds(Map, inner, inner), fields(inner).map(lambda each: Struct(tuple(each)))
        ),
        max_leaves=6,
    )


@given(types(st.booleans(), st.none() | st.text("ab'\\`> ")))
def test_ddl_is_read_back(type):
    assert parse_type(to_ddl(type)) == type


@given(types(st.just(True), st.none()))
def test_seatunnel_names_are_read_back(type):
    assert parse_type(to_seatunnel(type)) == type


@given(types(st.just(True), st.none()))
def test_sparks_text_is_stable(type):
    plain = to_ddl(type).replace("`", "")
    assert to_spark(type).replace("`", "") == plain


@given(st.text("abint<>(),:`'1 {}=", max_size=12))
def test_any_text_is_a_type_or_a_placed_error(text):
    raised = None
    try:
        type = parse_type(text)
    except TypeTextError as error:
        raised = error
    if raised:
        assert 0 <= raised.offset <= len(text)
        assert raised.message
    else:
        assert parse_type(to_ddl(type)) == type


def test_seatunnel_names():
    assert to_seatunnel(BINARY) == "bytes"
    assert to_seatunnel(VOID) == "null"
    assert to_seatunnel(Struct((Field("a", Map(STRING, INT)),))) == "{a: map<string, int>}"


def test_columns_to_ddl():
    columns = [Column("id", BIGINT, nullable=False), Column("a b", Decimal(5, 2))]
    assert columns_to_ddl(columns) == "id bigint NOT NULL, `a b` decimal(5,2)"


def test_unknown_cannot_be_ddl():
    with pytest.raises(ValueError, match="array<unknown> cannot be written as DDL"):
        to_ddl(Array(UNKNOWN))


@pytest.mark.spark
def test_spark_reads_our_ddl_as_the_same_type(spark):
    samples = [type for type in READ.values() if type != VOID] + [
        Struct((Field("a b", INT, False, "it's \\ x"), Field("x`y", Array(Interval("year", "month"))))),
    ]
    parse = spark._jvm.org.apache.spark.sql.types.DataType.fromDDL
    for type in samples:
        assert parse(to_ddl(type)).catalogString() == to_spark(type)
