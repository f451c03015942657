"""The exceptions of headwave. Every message is one line that says what was expected, what was found, and what to do."""


class Error(Exception):
    """The base class of all exceptions that headwave defines."""


class ShapeError(Error, ValueError):
    """Sizes that must agree differ, or a size or an option is out of its range."""


class NumericError(Error, ValueError):
    """A number is not finite, or out of the range that the mathematics needs."""


class FormatError(Error, ValueError):
    """An input or an argument has the wrong format or type, or does not fit the model."""


class IoError(Error, OSError):
    """A file cannot be opened, read or written."""
