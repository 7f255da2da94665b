"""The secrets of a plan's sources and sinks, by what they open."""

from connectors.shared.staged import Credentials
from engine.plan.nodes import Plan, Scan, Write


def credentials_of(plan: Plan) -> Credentials:
    """With these a session can end killed runs of other jobs, too: what runs leave in a journal has no secrets."""
    nodes = (node for node in plan.nodes() if isinstance(node, Scan | Write))
    return {key: secrets for node in nodes for key, secrets in node.connector.credentials(node.options).items()}
