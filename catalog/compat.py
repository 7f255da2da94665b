"""How far a job is read as Apache SeaTunnel reads it: `--compat`, and the SQL of its queries: `sql.dialect`."""

from enum import Enum


class Compat(str, Enum):
    """The values of `sql.dialect`; `--compat` has those of SeaTunnel, by the lines of its versions: 2.3 and 3.x."""

    OFF = "spark"
    SEATUNNEL_2 = "seatunnel"
    SEATUNNEL_3 = "seatunnel-3"

    @property
    def is_seatunnel(self) -> bool:
        return self is not Compat.OFF
