"""What goes wrong: every message is one line, which says what was expected, what came and what to do."""


class Error(Exception):
    """Everything that headwave raises of its own."""


class ShapeError(Error, ValueError):
    """Two sizes that must agree do not."""


class NumericError(Error, ValueError):
    """A number that cannot be computed with: not finite, or out of the range that the mathematics needs."""


class FormatError(Error, ValueError):
    """What was given is not what its format, or the model that it describes, demands."""


class IoError(Error, OSError):
    """A file could not be opened, read or written."""
