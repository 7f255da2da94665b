"""The buckets of rows, computed for whole columns, are those that pypaimon computes row by row."""

import json
import random
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from pypaimon.schema.data_types import PyarrowFieldParser
from pypaimon.schema.table_schema import TableSchema
from pypaimon.write.row_key_extractor import FixedBucketRowKeyExtractor

from connectors.paimon.writing.bucket_hash import buckets_of

CHANCE = random.Random("buckets")
ROWS = 300
TEXTS = ["", "a", "1234567", "12345678", "123456789", "ü" * 4, "😀", "x" * 33, "\0"]


def numbers(bits):
    most = 2 ** (bits - 1)
    return [-most, most - 1, 0, -1, 1, *(CHANCE.randrange(-most, most) for _ in range(ROWS - 5))]


def times():
    start = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return [start + timedelta(microseconds=CHANCE.randrange(-(10**15), 10**16)) for _ in range(ROWS)]


def texts():
    return [
        CHANCE.choice(TEXTS) + str(CHANCE.randrange(10 ** CHANCE.randrange(1, 20))) for _ in range(ROWS - 9)
    ] + TEXTS


COLUMNS = {
    "BOOLEAN": lambda: [CHANCE.random() < 0.5 for _ in range(ROWS)],
    "TINYINT": lambda: numbers(8),
    "SMALLINT": lambda: numbers(16),
    "INT": lambda: numbers(32),
    "BIGINT": lambda: numbers(64),
    "DATE": lambda: [date(1, 1, 1) + timedelta(CHANCE.randrange(3_000_000)) for _ in range(ROWS)],
    "DECIMAL(18, 4)": lambda: [Decimal(number) / 10**4 for number in numbers(56)],
    "STRING": texts,
    "BYTES": lambda: [text.encode() for text in texts()],
    "TIMESTAMP(6)": lambda: [time.replace(tzinfo=None) for time in times()],
    "TIMESTAMP(3)": lambda: [
        time.replace(tzinfo=None, microsecond=time.microsecond // 1000 * 1000) for time in times()
    ],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": times,
}


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize(
    "types", [*([type] for type in COLUMNS), ["STRING", "BIGINT", "STRING"], ["TIMESTAMP(6)", "STRING", "INT"]], ids=str
)
def test_buckets_are_those_of_pypaimon(types, count):
    fields = [{"id": index, "name": f"c{index}", "type": f"{type} NOT NULL"} for index, type in enumerate(types)]
    names = [field["name"] for field in fields]
    known = {
        "version": 3,
        "id": 0,
        "fields": fields,
        "highestFieldId": len(types),
        "partitionKeys": [],
        "timeMillis": 1,
    }
    table = TableSchema.from_json(
        json.dumps({**known, "primaryKeys": names, "options": {"bucket": str(count)}, "timeMillis": 1})
    )
    arrow = PyarrowFieldParser.from_paimon_schema(table.fields)
    columns = [pa.array(COLUMNS[type](), field.type) for type, field in zip(types, arrow, strict=True)]
    columns = [pa.concat_arrays([column.slice(0, 1), column]).slice(1) for column in columns]  # with an offset
    batch = pa.RecordBatch.from_arrays(columns, names=names)
    wanted = FixedBucketRowKeyExtractor(table)._extract_buckets_batch(batch)
    assert buckets_of(columns, count).tolist() == wanted


def test_no_rows_and_what_is_left_to_pypaimon():
    assert buckets_of([pa.array([], pa.string())], 4).tolist() == []
    assert buckets_of([pa.array([1, None])], 4) is None
    assert buckets_of([pa.array([1.5])], 4) is None
    assert buckets_of([pa.array([Decimal(1)], pa.decimal128(38, 0))], 4) is None
