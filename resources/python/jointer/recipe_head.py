"""The head of recipe files, and their members: what all kinds of recipes have in common.

A recipe is a JSON object with ``format``, the name of its kind, and ``version``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import RecipeError, byte_of

Json = Any

#: Descriptions of types in messages.
_EXPECTED: dict[Any, str] = {
    str: "a string",
    int: "an integer",
    (str, list): "a string",
    (str, type(None)): "a string or null",
    dict: "an object",
    list: "a list",
}

_REQUIRED = object()


def load_recipe(source: str | os.PathLike[str] | Mapping[str, Json]) -> tuple[Json, str]:
    """The content of a file, or an object read from one, and its name in messages.

    Raises:
        RecipeError: the file is not JSON.
        OSError: the file cannot be read.
    """
    if isinstance(source, Mapping):
        return source, "recipe"
    where = os.fspath(source)
    try:
        return json.loads(Path(source).read_bytes()), where
    except UnicodeDecodeError as error:
        raise RecipeError(f"{where}: byte {error.start} is not UTF-8 text: not a recipe") from None
    except json.JSONDecodeError as error:
        raise RecipeError(
            f"{where}: invalid JSON near byte {byte_of(error)}; is the file truncated or damaged?"
        ) from None
    except RecursionError:
        raise RecipeError(f"{where}: nested too deeply for a recipe") from None


def check_head(document: Json, where: str, kind: str, format_name: str, newest: int) -> None:
    """Raise a ``RecipeError`` unless ``document`` has this format, in version 1 to ``newest``.

    ``kind`` is what messages call such a file.
    """
    if not isinstance(document, Mapping) or document.get("format") != format_name:
        raise RecipeError(f'{where}: not a {kind}: expected `format` to be "{format_name}"')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise RecipeError(f"{where}: `version` is missing or not an integer")
    if not 1 <= version <= newest:
        known = "version 1" if newest == 1 else f"versions 1 to {newest}"
        advice = "; use a newer Jointer" if version > newest else ""
        raise RecipeError(
            f"{where}: recipe version {version} is not supported: this program reads {known}"
            f"{advice}"
        )


def member(document: Json, key: str, kind: Any, where: str, default: Any = _REQUIRED) -> Any:
    """``document[key]``, or ``default`` if the key is missing and a default is given.

    Raises a ``RecipeError`` unless the value has the type ``kind``, which ``_EXPECTED`` describes.
    """
    if not isinstance(document, Mapping):
        raise RecipeError(f"{where}: expected an object")
    if key not in document:
        if default is _REQUIRED:
            raise RecipeError(f"{where}: `{key}` is missing")
        return default
    value = document[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecipeError(f"{where}: `{key}`: expected {_EXPECTED[kind]}")
    return value
