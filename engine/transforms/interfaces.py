"""Which interfaces a transform has. Python compares an object with a protocol anew each time, attribute by attribute;
here it does so once for each transform, which a job of many nodes asks about for each of them."""

from functools import cache
from typing import TYPE_CHECKING

from engine.transforms.base import (
    NativeTransform,
    QueryTransform,
    RouteTransform,
    RoutingTransform,
    RowKindTransform,
    SetTransform,
    TableTransform,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_table_transform(plugin: object) -> "TypeIs[TableTransform]":
    return _has(plugin, TableTransform)


def is_row_kind_transform(plugin: object) -> "TypeIs[RowKindTransform]":
    return _has(plugin, RowKindTransform)


def is_routing_transform(plugin: object) -> "TypeIs[RoutingTransform]":
    return _has(plugin, RoutingTransform)


def is_query_transform(plugin: object) -> "TypeIs[QueryTransform]":
    return _has(plugin, QueryTransform)


def is_set_transform(plugin: object) -> "TypeIs[SetTransform]":
    return _has(plugin, SetTransform)


def is_route_transform(plugin: object) -> "TypeIs[RouteTransform]":
    return _has(plugin, RouteTransform)


def is_native_transform(plugin: object) -> "TypeIs[NativeTransform]":
    return _has(plugin, NativeTransform)


@cache
def _has(plugin: object, interface: type) -> bool:
    return isinstance(plugin, interface)
