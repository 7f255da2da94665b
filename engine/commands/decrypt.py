"""`penstock decrypt`: decrypts what `penstock encrypt` encrypted."""

from argparse import ArgumentParser, Namespace

from engine.job.options.secret_options import decrypt
from engine.job.options.shade import decrypted
from engine.terminal.secret_input import add_secret_arguments, print_job, print_shaded

SUMMARY = "decrypt a value of a job file"


def add_arguments(parser: ArgumentParser) -> None:
    add_secret_arguments(parser)


def run(arguments: Namespace) -> int:
    return print_job(arguments.job, decrypted) if arguments.job else print_shaded(arguments, decrypt)
