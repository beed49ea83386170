"""Reads recipe files.

``docs/recipe.md`` describes the format. Unknown keys are ignored; newer versions are refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import RecipeError
from .recipe_head import check_head, load_recipe, member

Json = Any

FORMAT = "jointer-recipe"
#: Version 2 has ``inputs`` and ``copy``.
VERSION = 2

#: The keys of the graphs that a recipe can edit.
GRAPHS = ("graph", "forward", "backward")

#: The kinds of changes, each with the type of its value and its other required keys.
_CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "move": (list, {"before": str}),
    "policy": ((str, type(None)), {"select": (str, list)}),
    "insert": (dict, {"before": str}),
    "remove": (str, {}),
    "replace": (str, {}),
}


@dataclass(frozen=True)
class RecipeGraph:
    """A graph that a recipe edits, as it was before the first edit."""

    hash: str
    #: The hash after the last edit; empty if not recorded.
    after: str = ""
    #: The fingerprint before the first edit (``fingerprint.py``); empty if not recorded.
    fingerprint: str = ""
    #: The corresponding hashes that are equal on every rank of the program; empty if not recorded.
    rank_hash: str = ""
    rank_after: str = ""
    #: Process group -> the first node that communicates in it.
    groups: dict[str, str] = field(default_factory=dict)
    #: Device -> the first node whose value is on it.
    devices: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """An edit, the unit that a user undoes."""

    title: str
    by: str
    changes: list[Mapping[str, Json]]


@dataclass(frozen=True)
class Recipe:
    """A recipe whose format is valid."""

    where: str
    edits: list[Edit]
    #: The graphs, by key in ``GRAPHS``; empty in a recipe written by hand.
    graphs: dict[str, RecipeGraph] = field(default_factory=dict)
    #: Node -> the canonical line of the node without the name, before the first edit.
    expects: dict[str, str] = field(default_factory=dict)


def change_kind(change: Mapping[str, Json]) -> str:
    """The kind of ``change``."""
    return next(kind for kind in change if kind in _CHANGES)


def split_half(name: str) -> tuple[str, str]:
    """``("backward", "mm_12")`` for ``backward:mm_12``; an empty half if there is no prefix."""
    half, found, rest = name.partition(":")
    if found and half in GRAPHS[1:] and not rest.startswith(":"):
        return half, rest
    return "", name


def read_recipe(source: str | os.PathLike[str] | Mapping[str, Json] | Recipe) -> Recipe:
    """The recipe in a file, or in an object read from one.

    Raises:
        RecipeError: the file is not a recipe, has a newer version, or is damaged.
        OSError: the file cannot be read.
    """
    if isinstance(source, Recipe):
        return source
    document, where = load_recipe(source)
    check_head(document, where, "recipe", FORMAT, VERSION)
    return _parse(document, where)


def _parse(document: Json, where: str) -> Recipe:
    fingerprints = member(document, "fingerprints", dict, where, {})
    graphs = member(document, "graphs", dict, where, {})
    edits = document.get("edits")
    if not isinstance(edits, list):
        raise RecipeError(f"{where}: `edits` is missing or not a list")
    return Recipe(
        where=where,
        edits=[_edit(each, f"{where}: edit {i}") for i, each in enumerate(edits)],
        graphs={
            key: _graph(
                graphs[key], _fingerprint(fingerprints, key, where), f"{where}: graphs, {key}"
            )
            for key in GRAPHS
            if key in graphs
        },
        expects=_texts(
            member(document, "expects", dict, where, {}), f"{where}: expects", "a string"
        ),
    )


def _fingerprint(fingerprints: Mapping[str, Json], key: str, where: str) -> str:
    lines = fingerprints.get(key) or []
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise RecipeError(f"{where}: fingerprints, {key}: expected a list of strings")
    return "".join(lines)


def _graph(document: Json, fingerprint: str, where: str) -> RecipeGraph:
    return RecipeGraph(
        hash=member(document, "hash", str, where),
        after=member(document, "after", str, where, ""),
        fingerprint=fingerprint,
        rank_hash=member(document, "rank_hash", str, where, ""),
        rank_after=member(document, "rank_after", str, where, ""),
        groups=_nodes(document, "groups", where),
        devices=_nodes(document, "devices", where),
    )


def _edit(document: Json, where: str) -> Edit:
    title, by = (member(document, key, str, where, "") for key in ("title", "by"))
    changes = document.get("changes")
    if not isinstance(changes, list):
        raise RecipeError(f"{where}: `changes`: expected a list")
    for number, change in enumerate(changes):
        _check_change(change, f"{where}, change {number}")
    return Edit(title=title, by=by, changes=changes)


def _check_change(change: Json, where: str) -> None:
    if not isinstance(change, Mapping):
        raise RecipeError(f"{where}: expected an object")
    kind = next((each for each in change if each in _CHANGES), None)
    if kind is None:
        known = ", ".join(_CHANGES)
        raise RecipeError(f"{where}: not a known change ({known}); use a newer Jointer")
    about, members = _CHANGES[kind]
    if kind == "move":
        _check_texts(change, "move", where)
    for key, expected in {kind: about, **members}.items():
        member(change, key, expected, where)
    if kind == "policy":
        _check_policy(change, where)
    if "inputs" in change and kind == "replace":
        _check_inputs(change, where)


def _check_policy(change: Mapping[str, Json], where: str) -> None:
    named = change["select"]
    if isinstance(named, list):
        _check_texts(change, "select", where)
        if not named:
            raise RecipeError(f"{where}: `select`: expected at least one node")
    region = change.get("ac_graph_id")
    if isinstance(region, bool) or not isinstance(region, (int, type(None))):
        raise RecipeError(f"{where}: `ac_graph_id`: expected an integer or null")


def _check_inputs(change: Mapping[str, Json], where: str) -> None:
    for key in ("target", "args", "kwargs"):
        if key in change:
            raise RecipeError(f"{where}: `inputs` and `{key}` cannot be used together")
    inputs = change["inputs"]
    if not isinstance(inputs, Mapping) or not inputs:
        raise RecipeError(
            f"{where}: `inputs`: expected an object with a node name for each input"
        )
    _texts(inputs, f"{where}: `inputs`", "a string")


def _check_texts(document: Mapping[str, Json], key: str, where: str) -> None:
    texts = document[key]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise RecipeError(f"{where}: `{key}`: expected a list of strings")


def _nodes(document: Mapping[str, Json], key: str, where: str) -> dict[str, str]:
    nodes = member(document, key, dict, where, {})
    return _texts(nodes, f"{where}: `{key}`", "the name of a node")


def _texts(document: Mapping[str, Json], where: str, expected: str) -> dict[str, str]:
    for key, value in document.items():
        if not isinstance(value, str):
            raise RecipeError(f"{where}, {key}: expected {expected}")
    return dict(document)
