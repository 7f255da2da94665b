"""Equal scans become one."""

from engine.plan.nodes import AnyNode, Plan, Scan, rewrite


def share_scans(plan: Plan) -> Plan:
    """Merge scans with the same connector, options, table and parallelism.

    Not if the source yields different rows each time, nor if the job gives the scans different `uid`s.
    """
    alike: dict[tuple[object, ...], list[Scan]] = {}

    def share(node: AnyNode) -> AnyNode:
        if not isinstance(node, Scan):
            return node
        if not node.connector.source_capabilities.is_deterministic:
            return node
        first = alike.setdefault(_key(node), [])
        for scan in first:
            if can_share(scan, node):
                return scan
        first.append(node)
        return node

    return rewrite(plan, share)


def can_share(a: Scan, b: Scan) -> bool:
    return (
        a.connector is b.connector
        and _scan_settings(a) == _scan_settings(b)
        and dict(a.options.values) == dict(b.options.values)
        and a.table == b.table
    )


def _key(scan: Scan) -> tuple[object, ...]:
    """What is cheap to compare and equal in scans that can be shared: the table's name, and options of plain values.

    Without the name each of n tables of a set would be compared with all others.
    """
    plain = ((name, value) for name, value in scan.options.values.items() if isinstance(value, str | int | float))
    return scan.connector.name, scan.table.path, *sorted(plain)


def _scan_settings(scan: Scan) -> tuple[object, ...]:
    return scan.parallelism, scan.uid, scan.columns, scan.filters, scan.cache, scan.of_group
