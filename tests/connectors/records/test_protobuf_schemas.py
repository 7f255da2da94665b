"""Messages of Protobuf before a run: what is declared is checked against them where the package that reads them is."""

import subprocess
import sys

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from tests.services.protobuf import ORDERS

KAFKA = 'bootstrap.servers = "b:9092", topic = t, format = protobuf'
INLINE = f'protobuf_message_name = Order, protobuf_schema = """{ORDERS}"""'


def compiled(folder, text):
    path = folder / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    return compile_job(path, Settings(), diagnostics), list(diagnostics)


def read(folder, options):
    return compiled(folder, f"source {{ Kafka {{ {KAFKA}, {options} }} }}\nsink {{ Console {{}} }}")


def written(folder, columns, options=INLINE):
    source = f"FakeSource {{ schema {{ fields {{ {columns} }} }} }}"
    return compiled(folder, f"source {{ {source} }}\nsink {{ Kafka {{ {KAFKA}, {options} }} }}")[1]


def errors(found):
    return [(each.message, each.help) for each in found if each.severity.value == "error"]


@pytest.fixture
def no_protobuf(monkeypatch):
    for module in ("grpc_tools", "google.protobuf", "google.protobuf.descriptor_pb2"):
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.usefixtures("no_protobuf")
@pytest.mark.parametrize(
    ("columns", "is_open"), [("schema { fields { id = bigint } }", False), ("metadata_columns = [offset]", True)]
)
def test_without_the_package_the_declared_columns_count_and_a_warning_names_it(tmp_path, columns, is_open):
    text = ORDERS + "// not compiled before"
    job, found = read(tmp_path, f'protobuf_message_name = Order, protobuf_schema = """{text}""", {columns}')
    assert job.plan.nodes()[0].table.is_open == is_open
    assert [(each.code, each.severity.value, each.message, each.help) for each in found] == [
        ("PEN4002", "warning", "the Protobuf message `Order` is not checked: compiling it needs grpcio-tools",
         "pip install 'penstock-etl[protobuf]'"),
    ]  # fmt: skip


@pytest.mark.usefixtures("no_protobuf")
def test_a_sink_validates_without_the_package(tmp_path):
    text = ORDERS + "// not compiled before, either"
    found = written(tmp_path, "id = bigint", f'protobuf_message_name = Order, protobuf_schema = """{text}"""')
    assert [(each.code, each.severity.value) for each in found] == [("PEN4002", "warning")]


@pytest.mark.usefixtures("no_protobuf")
def test_a_descriptor_set_is_not_checked_without_the_package(tmp_path):
    (tmp_path / "orders.desc").write_bytes(b"\x0a\x00")
    given = f'protobuf_message_name = Order, protobuf_descriptor_file = "{tmp_path}/orders.desc"'
    [warning] = read(tmp_path, given)[1]
    assert warning.message == "the Protobuf message `Order` is not checked: reading it needs protobuf"


def test_a_file_that_is_not_there_is_a_warning_with_its_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = (
        'protobuf_message_name = Order, protobuf_descriptor_file = "orders.proto", schema { fields { id = bigint } }'
    )
    [warning] = read(tmp_path, given)[1]
    assert (warning.code, warning.severity.value) == ("PEN4002", "warning")
    assert f"`{tmp_path}/orders.proto` cannot be read: No such file or directory" in warning.message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("protobuf_message_name = Order",
         ["`format = protobuf` needs `protobuf_schema` or `protobuf_descriptor_file`"]),
        ('protobuf_schema = "message Order {}"', ["`format = protobuf` needs `protobuf_message_name`"]),
        ('protobuf_message_name = Order, protobuf_schema = "", protobuf_descriptor_file = a',
         ["`protobuf_schema` and `protobuf_descriptor_file` are the same twice"]),
        ('protobuf_message_name = Order, protobuf_descriptor_file = "s3a://b/a.proto"',
         ["`protobuf_descriptor_file` is read on this machine, and `s3a://b/a.proto` is elsewhere"]),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_reported(tmp_path, options, expected):
    assert [message for message, _ in errors(read(tmp_path, options)[1])] == expected
    assert [message for message, _ in errors(written(tmp_path, "id = bigint", options))] == expected


def test_options_of_protobuf_with_another_format_are_reported(tmp_path):
    source = 'Kafka { bootstrap.servers = "b:9092", topic = t, protobuf_message_name = Order }'
    assert errors(compiled(tmp_path, f"source {{ {source} }}\nsink {{ Console {{}} }}")[1]) == [
        ("`protobuf_message_name` has no effect with `format = json`", "format = protobuf")
    ]


@pytest.mark.spark
def test_the_message_declares_the_columns(tmp_path):
    job, found = read(tmp_path, INLINE)
    assert found == []
    assert [str(column) for column in job.plan.nodes()[0].table.columns] == [
        "id bigint", "note string", "lines array<struct<sku:string,count:bigint>>",
        "by_sku map<string,struct<sku:string,count:bigint>>", "color string", "colors array<string>",
        "counts map<int,int>", "price double", "paid boolean", "code binary", "total decimal(20,0)", "weight float",
        "at timestamp", "took interval day to second", "points int", "first struct<sku:string,count:bigint>",
    ]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("id = int, ID2 = int", [("the Protobuf message `shop.Order` has no field `ID2`", "did you mean `id`?")]),
        ('first = "struct<skus:string>"',
         [("the Protobuf message `shop.Line` has no field `skus`", "did you mean `sku`?")]),
        ('first = "struct<count:int>"',
         [("the Protobuf message `shop.Line` has `count` as bigint, and `schema` as int", "declare it as it is")]),
        ("lines = string",
         [("the Protobuf message `shop.Order` has `lines` as array<struct<sku:string,count:bigint>>, and `schema` as "
           "string", "declare it as it is")]),
        ('counts = "map<int,string>"',
         [("the Protobuf message `shop.Order` has `counts` as map<int,int>, and `schema` as map<int,string>",
           "declare it as it is")]),
        ('counts = "map<bigint,bigint>", total = bigint, price = "decimal(9,2)", FIRST = "struct<Count:bigint>"', []),
    ],
)  # fmt: skip
def test_declared_columns_are_checked_against_the_message(tmp_path, columns, expected):
    assert errors(read(tmp_path, f"{INLINE}, schema {{ fields {{ {columns} }} }}")[1]) == expected


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ('id = int, lines = "array<struct<count:smallint>>", points = tinyint, total = bigint, took = string',
         [("the Protobuf message `shop.Order` has `took` as interval day to second, and the rows as string",
           "cast the column in a `Sql` transform")]),
        ("nam = string", [("the Protobuf message `shop.Order` has no field `nam`", None)]),
        ("points = bigint",
         [("the Protobuf message `shop.Order` has `points` as int, and the rows as bigint",
           "cast the column in a `Sql` transform")]),
        ("lines = int",
         [("the Protobuf message `shop.Order` has `lines` as array<struct<sku:string,count:bigint>>, and the rows as "
           "int", "cast the column in a `Sql` transform")]),
    ],
)  # fmt: skip
def test_rows_are_checked_against_the_message(tmp_path, columns, expected):
    assert errors(written(tmp_path, columns)) == expected


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('syntax = "proto3";\nmessage A { B b = 1; }', "A",
         ('the Protobuf schema is not valid: line 2, column 13: "B" is not defined.', None)),
        ("message A { int32 a = 1; }", "A",
         ("the Protobuf schema is not valid: line 1, column 13: "
          'Expected "required", "optional", or "repeated".', None)),
        ('syntax = "proto3"; message A { int32 a = 1; }', "a.A",
         ("the Protobuf schema has no message `a.A`", "known: `A`")),
        ('syntax = "proto3"; message A { int32 a = 1; message C {} } message B { message C {} }', "C",
         ("the Protobuf schema has several messages `C`", "name one in full: `A.C`, `B.C`")),
        ('syntax = "proto3"; message A { repeated A a = 1; }', "A",
         ("the Protobuf message `A` contains itself, which no type of Spark's does",
          "declare the fields to read: `schema { fields { name = type } }`")),
        ('syntax = "proto3"; message A { int32 a = 1; int32 A = 2; }', "A",
         ("two fields of the message `A` differ in case alone",
          "declare one of them: `schema { fields { name = type } }`")),
    ],
)  # fmt: skip
def test_schemas_that_are_not_valid_are_reported_at_their_place(tmp_path, text, name, expected):
    assert errors(read(tmp_path, f'protobuf_message_name = "{name}", protobuf_schema = """{text}"""')[1]) == [expected]


@pytest.mark.spark
def test_a_required_field_that_the_rows_lack_is_reported(tmp_path):
    text = (
        'syntax = "proto2"; message A { required B b = 1; } message B { required int32 x = 1; optional int32 y = 2; }'
    )
    given = f'protobuf_message_name = A, protobuf_schema = """{text}"""'
    assert errors(written(tmp_path, 'b = "struct<y:int>"', given)) == [
        ("the field `x` of the Protobuf message `B` is required, and the rows do not have it", None)
    ]
    assert errors(written(tmp_path, 'b = "struct<x:int>"', given)) == []


@pytest.mark.spark
def test_a_file_imports_others_of_its_directory_and_a_descriptor_set_must_be_whole(tmp_path):
    (tmp_path / "line.proto").write_text('syntax = "proto3"; message Line { string sku = 1; }')
    (tmp_path / "order.proto").write_text('syntax = "proto3"; import "line.proto"; message Order { Line line = 1; }')
    given = f'protobuf_message_name = Order, protobuf_descriptor_file = "{tmp_path}/order.proto"'
    assert [str(column) for column in read(tmp_path, given)[0].plan.nodes()[0].table.columns] == [
        "line struct<sku:string>"
    ]
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    from connectors.records.protobuf.descriptors import files_of_file

    files = FileDescriptorSet.FromString(files_of_file(f"{tmp_path}/order.proto"))
    del files.file[0]
    for content, message in (
        (files.SerializeToString(), "the descriptor set does not have all that it needs"),
        (b"no", "it is no descriptor set"),
    ):
        (tmp_path / "order.desc").write_bytes(content)
        [(found, help)] = errors(read(tmp_path, given.replace("order.proto", "order.desc"))[1])
        assert found.startswith(message)
        assert "--include_imports" in help


@pytest.mark.spark
def test_marked_records_have_nulls_in_all_columns(tmp_path):
    text = 'syntax = "proto2"; message A { required int32 a = 1; }'
    given = f'protobuf_message_name = A, protobuf_schema = """{text}"""'
    for way, column in (("fail", "a int not null"), ("mark", "a int")):
        job, _ = read(tmp_path, f"{given}, format_error_handle_way = {way}")
        assert str(job.plan.nodes()[0].table.columns[0]) == column


@pytest.mark.spark
def test_spark_tasks_read_messages_where_penstock_is_not_installed():
    import pyarrow as pa
    from pyspark import cloudpickle

    from connectors.records.protobuf import message_values
    from connectors.records.protobuf.descriptors import files_of_text

    rows = pa.struct([("lines", pa.list_(pa.struct([("sku", pa.string())]))), ("error", pa.string())])
    parts = (("lines", "lines", (("sku", "sku", ()),)),)
    cloudpickle.register_pickle_by_value(message_values)
    task = cloudpickle.dumps(message_values.decoding(files_of_text(ORDERS), "shop.Order", parts, rows))
    program = (
        "import sys, pickle, pyarrow; sys.modules['connectors'] = sys.modules['catalog'] = None\n"
        "print(pickle.load(sys.stdin.buffer)(pyarrow.array([bytes([26, 3, 10, 1, 97])])).to_pylist())"
    )
    done = subprocess.run([sys.executable, "-c", program], input=task, capture_output=True, check=False)
    assert done.stdout.decode().strip() == "[{'lines': [{'sku': 'a'}], 'error': None}]", done.stderr.decode()
