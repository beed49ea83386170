"""Reads recipes of compiled order, which ``kernel_order`` applies.

``resources/schema/compiled_order.schema.json`` describes the format. Unknown keys are ignored;
newer versions are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import RecipeError
from .recipe_head import check_head, load_recipe, member

Json = Any

FORMAT = "jointer-compiled-order"
VERSION = 1

#: The keys of the graphs whose kernels a recipe can move.
GRAPHS = ("graph", "forward", "backward")


@dataclass(frozen=True)
class Call:
    """A node that runs in a kernel: its name, its operator, and its number among the calls of the
    operator in the graph, or ``None`` if the number is unknown."""

    name: str
    target: str
    number: int | None


@dataclass(frozen=True)
class KernelName:
    """A kernel as a recipe names it."""

    kind: str
    nodes: tuple[Call, ...]
    #: For a collective or a wait: the number of the collective in the sequence of collectives.
    collective: int | None = None
    #: For a wait: its number among the waits of the collective.
    wait: int = 0

    def __str__(self) -> str:
        if self.nodes:
            more = f" and {len(self.nodes) - 1} more" if len(self.nodes) > 1 else ""
            return self.nodes[0].name + more
        return self.kind if self.collective is None else f"{self.kind} {self.collective}"


@dataclass(frozen=True)
class Move:
    """``kernel`` goes directly before, or after, ``anchor``."""

    kernel: KernelName
    anchor: KernelName
    before: bool

    def __str__(self) -> str:
        return f"{self.kernel} {'before' if self.before else 'after'} {self.anchor}"


@dataclass(frozen=True)
class Collective:
    """A collective in the sequence. Unknown members are ``None``."""

    target: str | None = None
    #: The number of its process group; groups are numbered in the order of their first collectives.
    group: int | None = None
    #: Size of the group.
    ranks: int | None = None
    dtype: str | None = None
    #: Number of elements of its input.
    numel: int | None = None

    def __str__(self) -> str:
        size = f" of {self.numel} {self.dtype}" if self.numel is not None else ""
        group = f" in group {self.group}" if self.group is not None else ""
        ranks = f", {self.ranks} ranks" if self.ranks is not None else ""
        return f"{self.target or 'an unknown collective'}{size}{group}{ranks}"

    def fits(self, other: Collective) -> bool:
        """True if all members that are known for both are equal."""
        pairs = (
            (plain_target(self.target), plain_target(other.target)),
            (self.group, other.group),
            (self.ranks, other.ranks),
            (self.dtype, other.dtype),
            (self.numel, other.numel),
        )
        return all(a is None or b is None or a == b for a, b in pairs)


@dataclass(frozen=True)
class GraphOrder:
    """The moves of one compiled graph."""

    key: str
    where: str
    collectives: tuple[Collective, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class CompiledOrder:
    """A recipe whose format is valid."""

    where: str
    #: SHA-256 of the content, equal on every rank that uses the same recipe.
    digest: str
    graphs: tuple[GraphOrder, ...]


def plain_target(target: str | None) -> str | None:
    """The operator without its overload, and without the suffix of a variant that writes to an
    argument, since Inductor chooses among these variants."""
    if target is None:
        return None
    namespace, _, name = target.partition(".")
    return f"{namespace}.{name.partition('.')[0].removesuffix('_out').rstrip('_')}"


def read_compiled_order(source: str | os.PathLike[str] | Mapping[str, Json]) -> CompiledOrder:
    """The recipe in a file, or in an object read from one.

    Raises:
        RecipeError: it is not a recipe of compiled order, has a newer version, or is damaged.
        OSError: the file cannot be read.
    """
    document, where = load_recipe(source)
    check_head(document, where, "recipe of compiled order", FORMAT, VERSION)
    graphs = member(document, "graphs", dict, where)
    text = json.dumps(document, sort_keys=True)
    return CompiledOrder(
        where=where,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        graphs=tuple(_graph(key, graphs[key], where) for key in GRAPHS if key in graphs),
    )


def _graph(key: str, document: Json, where: str) -> GraphOrder:
    where = f"{where}: {key}"
    collectives = member(document, "collectives", list, where)
    moves = member(document, "moves", list, where)
    return GraphOrder(
        key=key,
        where=where,
        collectives=tuple(
            _collective(each, f"{where}, collective {i}") for i, each in enumerate(collectives)
        ),
        moves=tuple(_move(each, f"{where}, move {i}") for i, each in enumerate(moves)),
    )


def _collective(document: Json, where: str) -> Collective:
    return Collective(
        target=member(document, "target", str, where, None),
        group=member(document, "group", int, where, None),
        ranks=member(document, "ranks", int, where, None),
        dtype=member(document, "dtype", str, where, None),
        numel=member(document, "numel", int, where, None),
    )


def _move(document: Json, where: str) -> Move:
    kernel = _kernel(member(document, "move", dict, where), f"{where}, `move`")
    places = [key for key in ("before", "after") if key in document]
    if len(places) != 1:
        raise RecipeError(f"{where}: expected either `before` or `after`")
    anchor = _kernel(member(document, places[0], dict, where), f"{where}, `{places[0]}`")
    return Move(kernel, anchor, places[0] == "before")


def _kernel(document: Json, where: str) -> KernelName:
    return KernelName(
        kind=member(document, "kind", str, where),
        nodes=tuple(_call(each, where) for each in member(document, "nodes", list, where)),
        collective=member(document, "collective", int, where, None),
        wait=member(document, "wait", int, where, 0),
    )


def _call(document: Json, where: str) -> Call:
    return Call(
        name=member(document, "name", str, where),
        target=member(document, "target", str, where),
        number=member(document, "number", int, where, None),
    )
