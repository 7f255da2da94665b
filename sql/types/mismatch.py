"""Operands that Spark refuses, before it is known where they are."""


class Mismatch(Exception):  # noqa: N818  # it says what it is; users never see it
    """Operands that Spark refuses; `argument` is the position of the wrong one (None: all together)."""

    def __init__(self, message: str, argument: int | None = None, code: str = "PEN3008") -> None:
        super().__init__(message)
        self.message, self.argument, self.code = message, argument, code
