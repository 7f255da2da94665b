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
        first = alike.setdefault(_simple_options(node), [])
        for scan in first:
            if can_share(scan, node):
                return scan
        first.append(node)
        return node

    return rewrite(plan, share)


def can_share(a: Scan, b: Scan) -> bool:
    return (
        a.connector is b.connector
        and a.connector.source_capabilities.is_deterministic
        and _manner(a) == _manner(b)
        and dict(a.options.values) == dict(b.options.values)
        and a.table == b.table
    )


def _simple_options(scan: Scan) -> tuple[object, ...]:
    """What two scans that can be shared have in common, to compare only those: the options that are plain values."""
    plain = ((name, value) for name, value in scan.options.values.items() if isinstance(value, str | int | float))
    return scan.connector.name, *sorted(plain)


def _manner(scan: Scan) -> tuple[object, ...]:
    return scan.parallelism, scan.uid, scan.columns, scan.filters, scan.cache
