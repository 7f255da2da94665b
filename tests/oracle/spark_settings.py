"""Writes `engine/job/options/spark_settings.txt`: the names of settings in the jars of the installed PySpark.

python -m tests.oracle.spark_settings
"""

import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

FILE = Path(__file__).parents[2] / "engine/job/options/spark_settings.txt"
NAME = re.compile(r"spark(?:\.[A-Za-z][\w-]*)+")
WIDTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of each kind of constant in a class file (JVM specification, 4.4), but for texts (kind 1)."""


def constants(data: bytes) -> Iterator[str]:
    """The texts in the constant pool of a class file."""
    count = struct.unpack_from(">H", data, 8)[0]
    position, number = 10, 1
    while number < count:
        kind = data[position]
        if kind == 1:
            length = struct.unpack_from(">H", data, position + 1)[0]
            yield data[position + 3 : position + 3 + length].decode("utf-8", "replace")
            position += 3 + length
        else:
            position += 1 + WIDTHS[kind]
        number += 2 if kind in (5, 6) else 1


def settings(jars: Path) -> Iterator[str]:
    for jar in jars.glob("spark-*.jar"):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class"):
                    yield from filter(NAME.fullmatch, constants(archive.read(name)))


def main() -> None:
    import pyspark

    names = sorted({name for name in settings(Path(pyspark.__file__).parent / "jars") if ".test" not in name.lower()})
    FILE.write_text("\n".join(names) + "\n", encoding="utf-8")
    print(f"{len(names)} settings of Spark {pyspark.__version__}")


if __name__ == "__main__":
    main()
