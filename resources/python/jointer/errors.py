"""The errors of the package. A message is one line: what is wrong, where, and what to do."""

from __future__ import annotations

import json


class CaptureError(ValueError):
    """A graph cannot be captured, or a capture cannot be read."""


class RecipeError(ValueError):
    """A recipe cannot be read, or does not fit the graph. The graph is then unchanged."""


def byte_of(error: json.JSONDecodeError) -> int:
    """The position of an error in UTF-8 text, in bytes; ``error.pos`` counts characters."""
    return len(error.doc[: error.pos].encode(errors="surrogatepass"))


def first_line(error: BaseException) -> str:
    """The first line of the message that is not blank; the name of the type if there is none."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return text or type(error).__name__
