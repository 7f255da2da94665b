"""The script that spark-submit runs; `build` fills in the names and puts it next to the zip as a file of its own.

Modules in machine code cannot be imported from a zip, so the driver unpacks it first; executors import Penstock's
modules from the zip as it is.
"""

TEMPLATE = '''\
"""Runs {jobs} by Penstock. spark-submit [options] --py-files {archive} {script} [--run-id ID] [-i NAME=VALUE …]"""

import atexit
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile

ARCHIVE = {archive!r}
JOBS = {job_names!r}


def find_archive():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), ARCHIVE)
    for path in [beside, *sys.path]:
        if os.path.basename(path) == ARCHIVE and os.path.exists(path):
            return path
    sys.exit(f"{{ARCHIVE}} is missing: spark-submit --py-files {{ARCHIVE}} {{os.path.basename(__file__)}}")


def kind(platform):
    """System and processor; macOS has its version between them."""
    system, _, rest = platform.partition("-")
    return system, rest.rpartition("-")[2]


def main():
    folder = tempfile.mkdtemp(prefix="penstock-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with zipfile.ZipFile(find_archive()) as archive:
        archive.extractall(folder)
    with open(os.path.join(folder, "penstock-package.json")) as file:
        made_for = json.load(file)
    version = "%d.%d" % sys.version_info[:2]
    if version != made_for["python"]:
        sys.exit(f"{{ARCHIVE}} is for Python {{made_for['python']}}, this is {{version}}: package it with this one")
    platform = sysconfig.get_platform()
    if kind(platform) != kind(made_for["platform"]):
        sys.exit(f"{{ARCHIVE}} has machine code for {{made_for['platform']}}, this is {{platform}}: package it on one")
    sys.path.insert(0, folder)
    os.environ.setdefault("PENSTOCK_ROOT", os.getcwd())
    from engine.cli import main as penstock

    return penstock(["run", *(os.path.join(folder, job) for job in JOBS), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
'''


def launcher(archive: str, script: str, job_names: tuple[str, ...]) -> str:
    """The script's text for an archive and the jobs in it."""
    shown = ", ".join(name.rpartition("/")[2] for name in job_names)
    return TEMPLATE.format(jobs=shown, archive=archive, script=script, job_names=list(job_names))
