"""What a project gives each of its jobs, in one environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.job.model.job import BlockKind
from engine.job.model.tree import MapNode


@dataclass(frozen=True, eq=False, slots=True)
class ProjectDefaults:
    """Variables, the entries of `env`, named connections, and the options of blocks by kind and connector.

    What a job or the command line says wins over all of it. The keys of `blocks` have the connector's name in lower
    case.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    env: MapNode | None = None
    connections: Mapping[str, MapNode] = field(default_factory=dict)
    blocks: Mapping[tuple[BlockKind, str], MapNode] = field(default_factory=dict)
    environment: str | None = None


NO_PROJECT = ProjectDefaults()
