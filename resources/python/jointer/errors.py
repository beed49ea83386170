"""The one error of the package."""


class CaptureError(ValueError):
    """A graph cannot be captured, or a capture cannot be read.

    The message is one line: what is wrong, where (a node, a file), and what to do about it.
    """
