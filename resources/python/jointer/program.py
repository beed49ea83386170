"""A program to compile or run: one graph, or the forward and backward graphs of a pair.

A program is one or two files. ``{rank}`` in a path is replaced by the rank.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from .document import read_document
from .errors import CaptureError
from .hashing import document_hash
from .load import load_document
from .symbols import Number
from .versions import fit_calls, minor_version

#: Keys of a node's record on which compiled code depends; ``custom`` contains marks of regions.
_COMPUTATION = ("name", "op", "target", "args", "kwargs", "val", "custom")


@dataclass
class Part:
    """One graph of a program."""

    name: str
    #: ``joint``, ``forward``, ``backward``, or another kind of capture.
    phase: str
    gm: fx.GraphModule
    document: Mapping[str, Any]
    #: The canonical hash of the graph.
    hash: str

    def fingerprint(self) -> str:
        """A digest of everything that compiled code depends on, including strides, constants and
        subgraphs, which the hash does not cover."""
        document = self.document
        records = [{k: r[k] for k in _COMPUTATION if k in r} for r in document["nodes"]]
        rest = {k: document.get(k) for k in ("constants", "storages", "symbols", "groups")}
        rest["triton_kernels"] = document.get("triton_kernels")
        text = json.dumps([records, rest], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Program:
    """One part, or a forward and a backward part."""

    parts: list[Part]

    @property
    def is_pair(self) -> bool:
        """True for a pair, whose backward graph reads the values that the forward saves."""
        return len(self.parts) == 2

    @property
    def hash(self) -> str:
        """The hash of the graph; for a pair, both hashes joined by ``+``."""
        return "+".join(part.hash for part in self.parts)

    @property
    def of_another_torch(self) -> str | None:
        """A note for a program that was captured by another version of torch."""
        captured = self.parts[0].document.get("torch") or ""
        if minor_version(captured) in (None, minor_version(torch.__version__)):
            return None
        here = torch.__version__.partition("+")[0]
        return f"captured with torch {captured}, run with torch {here}"

    @property
    def groups(self) -> dict[str, Any]:
        """The process groups of all parts."""
        return {n: g for part in self.parts for n, g in (part.document.get("groups") or {}).items()}

    @property
    def world_size(self) -> int:
        """The number of ranks for which the capture was made."""
        return max(int(part.document.get("world_size") or 1) for part in self.parts)


def path_of_rank(path: str, rank: int) -> str:
    """``path`` with ``{rank}`` replaced by the rank."""
    return path.replace("{rank}", str(rank))


def read_program(
    graph: str,
    backward: str | None = None,
    *,
    rank: int = 0,
    assume: Mapping[str, Number] | None = None,
) -> Program:
    """Read the program of ``rank``.

    Raises:
        CaptureError: a file is not a capture, or the two files are not a pair.
        OSError: a file cannot be read.
    """
    path = path_of_rank(graph, rank)
    document = read_document(path)
    if not backward:
        halves = _halves(document)
        return Program([_part(each, phase, assume, path) for each, phase in halves])
    if document.get("kind") == "pair":
        raise CaptureError(f"{path} is already a pair; leave out the backward file")
    second = path_of_rank(backward, rank)
    document_of_backward = read_document(second)
    if document_of_backward.get("kind") == "pair":
        raise CaptureError(f"{second} is already a pair; give it as the only file")
    return Program(
        [
            _part(document, "forward", assume, path),
            _part(document_of_backward, "backward", assume, second),
        ]
    )


def _halves(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    if document.get("kind") != "pair":
        yield document, document.get("kind") or "joint"
        return
    for half in ("forward", "backward"):
        inner = document.get(half)
        if not isinstance(inner, dict):
            raise CaptureError(f"the pair lacks {half!r}: the capture is damaged")
        yield {"name": document.get("name"), **inner}, half


def _part(
    document: Mapping[str, Any], phase: str, assume: Mapping[str, Number] | None, path: str
) -> Part:
    gm = load_document(document, assume, path)
    assert isinstance(gm, fx.GraphModule)
    fit_calls(gm, document)
    digest = document_hash(document)
    assert isinstance(digest, str)
    return Part(document.get("name") or "graph", phase, gm, document, digest)


def parse_assumptions(text: str) -> dict[str, Number]:
    """``u0=64,u1=2`` as a mapping.

    Raises:
        CaptureError: the text is invalid.
    """
    result: dict[str, Number] = {}
    for item in filter(None, (each.strip() for each in text.split(","))):
        name, found, value = item.partition("=")
        try:
            result[name.strip()] = int(value)
        except ValueError:
            found = ""
        if not found or not name.strip().isidentifier():
            raise CaptureError(f"{item!r}: expected SYMBOL=NUMBER")
    return result
