"""Shared by `penstock encrypt` and `penstock decrypt`: reading the value, and reporting errors."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from getpass import getpass

from catalog.diagnostics.diagnostic import Diagnostics, JobError, job_error
from engine.job.model.job import Job
from engine.job.options.secret_options import SecretError, Shade

Shading = Callable[[str, Shade, Mapping[str, str]], str]


def add_secret_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("value", nargs="?", help="the value (default: a prompt on a terminal, else standard input)")
    parser.add_argument("--job", metavar="JOB", help="print this job file with its secrets changed in place instead")
    parser.add_argument("--shade", choices=("aes-gcm", "base64"), default="aes-gcm", help="default: aes-gcm")


def print_shaded(arguments: Namespace, shading: Shading) -> int:
    """Print the value after `shading`; a terminal prompt does not echo it, so that it stays out of the
    shell history."""
    value = arguments.value
    if value is None:
        value = getpass("value: ") if sys.stdin.isatty() else sys.stdin.read().rstrip("\r\n")
    try:
        print(shading(value, Shade(arguments.shade), os.environ))
    except SecretError as error:
        raise job_error("PEN1005", str(error)) from None
    return 0


def print_job(path: str, change: Callable[[Job, Mapping[str, str]], str]) -> int:
    """Print a job file after `change`; one whose text has errors is refused."""
    from engine.job.load import load_file

    diagnostics = Diagnostics()
    job = load_file(path, diagnostics)
    unreadable = [item for item in diagnostics if item.code.startswith("PEN1")]
    if job is None or unreadable:
        raise JobError(unreadable)
    sys.stdout.write(change(job, os.environ))
    return 0
