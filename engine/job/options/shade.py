"""Encrypts or decrypts the sensitive options of a job file in place; the rest of the text is unchanged."""

from collections.abc import Callable, Mapping

from catalog.diagnostics.diagnostic import Diagnostics, JobError, job_error
from catalog.diagnostics.source import PlacedText
from engine.job.model.job import Job
from engine.job.options.secret_options import PREFIX, SHADED_NAMES, SecretError, Shade, decrypt, encrypt


def encrypted(job: Job, environment: Mapping[str, str]) -> str:
    """The file's text with every sensitive option encrypted that is not yet; raises `JobError`.

    The job names the method (`shade.identifier`); values from variables and files are unchanged.
    """
    shade = shade_of(job)
    return _rewritten(job, lambda value: _encrypted(value, shade, environment))


def decrypted(job: Job, environment: Mapping[str, str]) -> str:
    """The file's text with every sensitive option in plain text; raises `JobError`."""
    shade = shade_of(job)
    return _rewritten(job, lambda value: decrypt(value, shade, environment))


def shade_of(job: Job) -> Shade:
    """How the job's secrets are encrypted; raises `JobError` if it does not say."""
    shade = Shade(job.env.options.string("shade.identifier")) if job.env.options else Shade.NONE
    if shade is Shade.NONE:
        message = f"`{job.source.path}` does not state how its secrets are encrypted"
        raise job_error("PEN1005", message, None, 'env { shade.identifier = "aes-gcm" }')
    return shade


def _encrypted(value: str, shade: Shade, environment: Mapping[str, str]) -> str:
    return value if shade is Shade.AES_GCM and value.startswith(PREFIX) else encrypt(value, shade, environment)


def _rewritten(job: Job, change: Callable[[str], str]) -> str:
    diagnostics = Diagnostics()
    text = job.source.text
    for secret in sorted(_secrets(job), key=lambda value: value.segments[0].file_start, reverse=True):
        try:
            new = change(secret.value)
        except SecretError as error:
            diagnostics.error("PEN1005", f"the value cannot be converted: {error}", secret.span())
            continue
        start, end = secret.segments[0].file_start, secret.segments[0].file_end
        quote = "" if text[start - 1] in "\"'" else '"'  # what is encrypted holds `:` and `=`
        text = text[:start] + quote + new + quote + text[end:]
    if diagnostics.has_errors:
        raise JobError(diagnostics)
    return text


def _secrets(job: Job) -> list[PlacedText]:
    """The texts of options that are encrypted, where they stand in the file word for word, each once."""
    further = job.env.options.strings("shade.options") if job.env.options else ()
    texts = [
        text
        for block in job.blocks
        for name, text in block.options.texts.items()
        if name in block.options.sensitive or name in SHADED_NAMES or name in further
    ]
    own = [
        text for text in texts if text.source is job.source and len(text.segments) == 1 and text.segments[0].is_verbatim
    ]
    return list({text.segments[0].file_start: text for text in own}.values())
