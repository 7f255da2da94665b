"""`penstock encrypt`: encrypts a secret for a job file."""

from argparse import ArgumentParser, Namespace

from engine.job.options.secret_options import encrypt, new_key
from engine.job.options.shade import encrypted
from engine.terminal.secret_input import add_secret_arguments, print_job, print_shaded

SUMMARY = "encrypt a value for a job file, or make a key"


def add_arguments(parser: ArgumentParser) -> None:
    add_secret_arguments(parser)
    parser.add_argument("--new-key", action="store_true", help="print a new key for PENSTOCK_SHADE_KEY, and stop")


def run(arguments: Namespace) -> int:
    if arguments.new_key:
        print(new_key())
        return 0
    return print_job(arguments.job, encrypted) if arguments.job else print_shaded(arguments, encrypt)
