"""`penstock decrypt`: decrypts what `penstock encrypt` encrypted."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from engine.job.options.secret_options import PREFIX, SecretError, Shade, decrypt
from engine.job.options.shade import decrypted
from engine.terminal.secret_input import add_secret_arguments, print_job, print_shaded

SUMMARY = "decrypt a value of a job file"


def add_arguments(parser: ArgumentParser) -> None:
    add_secret_arguments(parser)


def run(arguments: Namespace) -> int:
    return print_job(arguments.job, decrypted) if arguments.job else print_shaded(arguments, _decrypted)


def _decrypted(value: str, shade: Shade, environment: Mapping[str, str]) -> str:
    """One value alone. A job file may also contain plain values; here, one without the prefix is a mistake."""
    if shade is Shade.AES_GCM and not value.startswith(PREFIX):
        raise SecretError(
            f"the value is not encrypted: give all of an encrypted value, with `{PREFIX}` at its beginning; "
            "`--shade base64` decodes base64"
        )
    return decrypt(value, shade, environment)
