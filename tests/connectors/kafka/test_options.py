"""The Kafka connector before it runs: what its options mean, and what is reported of them."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.kafka.connector import connector
from engine.compile import Settings, compile_job
from engine.plan.rendering.explain_text import explain

COLUMNS = "schema { fields { id = bigint, name = string } }"
GOOD = f'bootstrap.servers = "b:9092", topic = "orders", {COLUMNS}'


def compiled(folder, text):
    path = folder / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    return compile_job(path, Settings(), diagnostics), diagnostics


def source_errors(folder, options):
    job = f"source {{ Kafka {{ {options} }} }}\nsink {{ Console {{}} }}"
    return [str(each.message) for each in compiled(folder, job)[1] if each.severity.value == "error"]


def sink_errors(folder, options):
    source = "FakeSource { schema { fields { id = bigint, name = string, at = timestamp } } }"
    job, found = compiled(
        folder, f'source {{ {source} }}\nsink {{ Kafka {{ bootstrap.servers = "b:9092", {options} }} }}'
    )
    return job, [str(each.message) for each in found]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (GOOD, []),
        (GOOD.replace("b:9092", "broker"), ["`broker` in `bootstrap.servers` is not `host:port`"]),
        (GOOD.replace("orders", " , "), ["`topic` names no topic"]),
        (GOOD + ", start_mode = timestamp", ["`start_mode = timestamp` needs `start_mode.timestamp`"]),
        (GOOD + ", start_mode.end_timestamp = 5",
         ["`start_mode.end_timestamp` has no effect with `start_mode = group_offsets`"]),
        (GOOD + ", start_mode = timestamp, start_mode.timestamp = 6, start_mode.end_timestamp = 5",
         ["`start_mode.end_timestamp = 5` is before `start_mode.timestamp`"]),
        (GOOD + ", start_mode.offsets = { orders-0 = 1 }",
         ["`start_mode.offsets` has no effect with `start_mode = group_offsets`"]),
        (GOOD + ", start_mode = specific_offsets, start_mode.offsets = { order-0 = 1 }",
         ["`order-0` in `start_mode.offsets` is of no topic that is read"]),
        (GOOD + ', start_mode = specific_offsets, start_mode.offsets = { orders = 1 }',
         ["`orders = 1` does not name a partition and its first offset"]),
        (GOOD + ", metadata_columns = [ofset]", ["a record has no `ofset`"]),
        (GOOD.replace("name =", "_error =") + ", format_error_handle_way = mark",
         ["the column `_error` is in the `schema` and is added to it"]),
        (GOOD + ", format = raw", ["`format = raw` yields one column, of bytes or a string"]),
        (GOOD + ", format = native", ["`format = native` has columns of its own"]),
    ],
)  # fmt: skip
def test_options_of_a_source_that_do_not_fit_are_reported(tmp_path, options, expected):
    assert source_errors(tmp_path, options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("topic = t", []),
        ('topic = "t_$${name}"', []),
        ('topic = "t_$${nam}"', ["`topic` names the column `nam`, which the rows do not have"]),
        ("topic = t, partition_key_fields = [key]", ["the rows have no column `key`"]),
        ("topic = t, format = raw", ["`format = raw` writes one column, a string or bytes, beside those of headers"]),
        ("format = json", ["Kafka needs `topic`"]),
        ("topic = t, partition = 1, assign_partitions = [a]", ["`assign_partitions` has no effect beside `partition`"]),
        (
            "format = native",
            [
                "`format = native` writes the column `value`, which the rows do not have",
                "`format = native` writes `headers`, `key`, `partition`, `value`, `topic`: a record has no part for "
                "`id`, `name`, `at`",
            ],
        ),
        (
            "topic = t, semantics = EXACTLY_ONCE",
            ["`semantics = EXACTLY_ONCE`: records are sent in no transaction, so that readers see them one by one"],
        ),
    ],
)
def test_options_of_a_sink_that_do_not_fit_are_reported(tmp_path, options, expected):
    assert sink_errors(tmp_path, options)[1] == expected


def test_records_of_a_source_are_written_without_their_offset_and_time(tmp_path):
    source = f"Kafka {{ {GOOD.partition(', schema')[0]}, format = native }}"
    sink = 'Kafka { bootstrap.servers = "a:1", topic = t, format = native }'
    _, found = compiled(tmp_path, f"source {{ {source} }}\nsink {{ {sink} }}")
    [item] = found
    assert "`offset`, `timestamp`, `timestampType` of the rows are not written" in item.message


def test_explain_says_which_records_may_come_again_and_shows_no_secret(tmp_path):
    jaas = 'sasl.jaas.config = "x required username=\\"u\\" password=\\"planted-9a\\";"'
    job, _ = sink_errors(tmp_path, f"topic = t, kafka.config {{ security.protocol = SASL_SSL, {jaas} }}")
    text = explain(job.plan)
    assert "an interrupted commit sends the records that the topic lacks" in text
    assert "SASL_SSL" in text
    assert "planted-9a" not in text


def test_the_columns_are_those_of_the_schema_and_of_the_record(tmp_path):
    options = GOOD + ", metadata_columns = [topic, offset], format_error_handle_way = mark"
    job, found = compiled(tmp_path, f"source {{ Kafka {{ {options} }} }}\nsink {{ Console {{}} }}")
    assert not list(found)
    [write] = job.plan.writes
    assert [str(column) for column in write.table.columns] == [
        "id bigint", "name string", "_topic string", "_offset bigint", "_error string", "_value string",
    ]  # fmt: skip
    assert connector.jars(write.options) == connector.maven


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (GOOD + ", format = debezium_json", []),
        (GOOD + ", format = canal_json, canal_json.table.include = orders", []),
        (GOOD.partition(", schema")[0] + ", format = ogg_json",
         ["`format = ogg_json` needs a `schema`: the columns of the rows that change"]),
        (GOOD + ", debezium_decimals = string", ["`debezium_decimals` has no effect with `format = json`"]),
        (GOOD + ", table.include = x", ["`table.include` has no effect with `format = json`: it is for change logs"]),
        (GOOD + ", metadata_columns = [database]", ["a record has no `database`"]),
        (GOOD + ", format = debezium_json, debezium_record_table_filter { table = x }",
         ["`debezium_record_table_filter` has no `table`"]),
    ],
)  # fmt: skip
def test_options_of_change_logs_that_do_not_fit_are_reported(tmp_path, options, expected):
    assert source_errors(tmp_path, options) == expected


def test_a_change_log_into_a_sink_that_would_add_deletes_as_rows_is_refused(tmp_path):
    source = f"source {{ Kafka {{ {GOOD}, format = debezium_json }} }}"
    _, found = compiled(tmp_path, f'{source}\nsink {{ Delta {{ path = "t" }} }}')
    assert [each.code for each in found] == ["PEN4011"]
    keyed = 'Delta { path = "t", write_mode = changelog, primary_keys = [id] }'
    assert not list(compiled(tmp_path, f"{source}\nsink {{ {keyed} }}")[1])


def test_units_of_timestamps_that_nothing_declares_are_warned_of(tmp_path):
    source = GOOD.replace("name = string", "at = timestamp")
    options = f"{source}, format = debezium_json, debezium_record_include_schema = false"
    _, found = compiled(tmp_path, f"source {{ Kafka {{ {options} }} }}\nsink {{ Console {{}} }}")
    assert [each.code for each in found] == ["PEN4040"]


def test_row_kinds_reach_a_topic_as_a_change_log_only(tmp_path):
    source = f"source {{ Kafka {{ {GOOD}, format = debezium_json }} }}"
    sink = 'sink {{ Kafka {{ bootstrap.servers = "b:9092", topic = u, {} }} }}'
    assert [each.code for each in compiled(tmp_path, f"{source}\n{sink.format('format = json')}")[1]] == ["PEN4011"]
    [unkeyed] = compiled(tmp_path, f"{source}\n{sink.format('format = ogg_json')}")[1]
    assert (unkeyed.code, unkeyed.help) == ("PEN2005", "partition_key_fields = [id]")
    keyed = sink.format("format = ogg_json, partition_key_fields = [id]")
    assert not list(compiled(tmp_path, f"{source}\n{keyed}")[1])


AVRO = '"""{"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"}]}"""'
UNDECLARED = GOOD.partition(", schema")[0] + ", format = avro"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (GOOD + ", format = avro", []),
        (f"{UNDECLARED}, avro_schema = {AVRO}", []),
        (f"{UNDECLARED}, schema_registry.url = \"http://r\"", []),
        (UNDECLARED, ["`format = avro` needs `schema`, `avro_schema` or `schema_registry.url`"]),
        (f'{UNDECLARED}, avro_schema = "5"', ["the Avro schema has no type `5`"]),
        (GOOD + f", avro_schema = {AVRO}", ["`avro_schema` has no effect with `format = json`"]),
        (GOOD + ", format = avro, schema_registry.user = u", ["`schema_registry.user` needs `schema_registry.url`"]),
        (GOOD + ', format = avro, pattern = true, schema_registry.url = "http://r"',
         ["`schema_registry.url` needs `schema_registry.subject`, since the topics are not fixed"]),
    ],
)  # fmt: skip
def test_options_of_avro_that_do_not_fit_are_reported(tmp_path, options, expected):
    assert source_errors(tmp_path, options) == expected


def test_avro_declares_the_columns_and_its_jar_is_fetched(tmp_path):
    job, _ = compiled(tmp_path, f"source {{ Kafka {{ {UNDECLARED}, avro_schema = {AVRO} }} }}\nsink {{ Console {{}} }}")
    [scan] = [node for node in job.plan.nodes() if node.name == "Kafka"] or [job.plan.nodes()[0]]
    assert [str(column) for column in scan.table.columns] == ["id bigint not null"]
    assert any("spark-avro" in jar for jar in connector.jars(scan.options))


def test_rows_that_avro_cannot_hold_are_reported(tmp_path):
    source = 'FakeSource { schema { fields { m = "map<int,int>" } } }'
    sink = 'Kafka { bootstrap.servers = "b:9092", topic = t, format = avro }'
    _, found = compiled(tmp_path, f"source {{ {source} }}\nsink {{ {sink} }}")
    assert [each.message for each in found] == ["the rows cannot be written as Avro: Avro has no type for map<int,int>"]
