"""The errors of the package. A message is one line: what is wrong, where, and what to do."""


class CaptureError(ValueError):
    """A graph cannot be captured, or a capture cannot be read."""


class RecipeError(ValueError):
    """A recipe cannot be read, or does not fit the graph. The graph is then unchanged."""
