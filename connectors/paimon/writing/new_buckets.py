"""The buckets of keys that a partition does not have yet: those with room first, by number, then new ones."""

from typing import TYPE_CHECKING, Final

from catalog.quoting import quote
from connectors.paimon.split_reading import BUCKET
from connectors.paimon.writing.tasks import Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NUMBER: Final = "__penstock_number"
_ROOM: Final = "__penstock_room"
_OPEN: Final = "__penstock_open"
_NEXT: Final = "__penstock_next"
_PARTITION: Final = "__penstock_partition_"


def with_new_buckets(rows: "DataFrame", layout: Layout, existing: "DataFrame | None") -> "DataFrame":
    """The rows, with a bucket for those whose `BUCKET` is NULL; `existing` are the table's keys with their buckets.

    Rows are numbered by key, so that a task that is tried again gives each row the same bucket.
    """
    from pypaimon.index.dynamic_bucket import MAX_DYNAMIC_BUCKETS
    from pyspark.sql.functions import broadcast, expr

    table = layout.open()
    target, most = table.options.dynamic_bucket_target_row_num(), table.options.dynamic_bucket_max_buckets()
    partitions = table.partition_keys
    by, order = ", ".join(map(quote, partitions)), ", ".join(map(quote, table.primary_keys))
    window = f"partition by {by}, {BUCKET} order by {order} rows between unbounded preceding and current row"
    numbered = rows.selectExpr("*", f"count(1) over ({window}) - 1 as {_NUMBER}")
    room, open_bucket, next_bucket = "0L", "cast(null as int)", "0"
    if existing is not None:
        same = " and ".join(f"{quote(name)} <=> {_PARTITION}{place}" for place, name in enumerate(partitions))
        numbered = numbered.join(broadcast(_rooms(existing, partitions, target)), expr(same), "left")
        room, next_bucket = f"coalesce({_ROOM}, 0L)", f"coalesce({_NEXT}, 0)"
        open_bucket = f"filter({_OPEN}, place -> {_NUMBER} < place.until)[0].bucket"
    limit = most if most > 0 else MAX_DYNAMIC_BUCKETS
    added = f"cast(({next_bucket} + ({_NUMBER} - {room}) div {target}) % {limit} as int)"
    assigned = f"coalesce({BUCKET}, if({_NUMBER} < {room}, {open_bucket}, {added})) as {BUCKET}"
    return numbered.selectExpr(*(quote(name) for name in rows.columns if name != BUCKET), assigned)


def _rooms(existing: "DataFrame", partitions: list[str], target: int) -> "DataFrame":
    """For each partition the buckets with fewer keys than the target, and the number of the next bucket.

    The n-th new key goes to the first open bucket with `until` above n, and to a new one if n is not below the room.
    """
    names = [f"{_PARTITION}{place}" for place in range(len(partitions))]
    keys = existing.selectExpr(
        *(f"{quote(name)} as {new}" for name, new in zip(partitions, names, strict=True)), BUCKET
    )
    counted = keys.groupBy(*names, BUCKET).count().selectExpr(*names, f"struct({BUCKET} as bucket, count) as size")
    sizes = counted.groupBy(*names).agg({"size": "collect_list"}).toDF(*names, "sizes")
    spaces = sizes.selectExpr(
        *names,
        f"array_max(sizes).bucket + 1 as {_NEXT}",
        "transform(sequence(0, array_max(sizes).bucket), number -> struct(number as bucket, "
        f"{target} - coalesce(map_from_entries(sizes)[number], 0L) as free)) as places",
    ).selectExpr("*", "filter(places, place -> place.free > 0) as free_places")
    until = "aggregate(slice(free_places, 1, number + 1), 0L, (sum, before) -> sum + before.free)"
    return spaces.selectExpr(
        *names,
        _NEXT,
        f"aggregate(free_places, 0L, (sum, place) -> sum + place.free) as {_ROOM}",
        f"transform(free_places, (place, number) -> struct(place.bucket as bucket, {until} as until)) as {_OPEN}",
    )
