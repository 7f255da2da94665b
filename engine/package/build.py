"""Writes the zip and, next to it, the script."""

import json
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from engine.package.contents import dependency_files, job_files, module_files
from engine.package.launcher import launcher
from engine.supervised import release


def build(jobs: Sequence[Path], output: Path) -> tuple[Path, Path]:
    """Write the archive and the script; returns their paths."""
    names, entries = job_files(jobs)
    release()
    made_for = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}", "platform": sysconfig.get_platform()}
    output.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(output, "w", ZIP_DEFLATED) as archive:
        archive.writestr("penstock-package.json", json.dumps(made_for))
        for name, path in dict((*dependency_files(), *module_files(), *entries)).items():
            archive.write(path, name)
    script = output.with_suffix(".py")
    script.write_text(launcher(output.name, script.name, names), encoding="utf-8")
    return output, script
