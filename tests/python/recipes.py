"""Recipes for tests."""

from __future__ import annotations

from typing import Any

import torch
from support import trace
from torch import fx

import jointer
from jointer.fingerprint import fingerprint
from jointer.hashing import graph_lines


def chain() -> fx.GraphModule:
    """Two branches that meet, a view, and a write in place."""

    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        a = x.relu()
        b = y.sigmoid()
        c = a @ b
        d = b.t()
        e = a + d
        b.add_(1.0)
        return c, e, b

    return trace(function, torch.ones(4, 4), torch.ones(4, 4))


def recipe(*edits: Any, of: fx.GraphModule | None = None, **more: Any) -> dict[str, Any]:
    """A recipe with these edits; each is a list of changes, or a complete edit."""
    whole = [each if isinstance(each, dict) else {"title": "", "changes": each} for each in edits]
    document: dict[str, Any] = {"format": "jointer-recipe", "version": 2, "edits": whole}
    if of is not None:
        lines = graph_lines(of)
        document["graphs"] = {"graph": {"nodes": len(lines), "hash": jointer.graph_hash(of)}}
        document["fingerprints"] = {"graph": pieces(fingerprint(lines))}
    return {**document, **more}


def pieces(text: str, nodes: int = 16) -> list[str]:
    """A fingerprint in the form that a recipe has."""
    return [text[i : i + 4 * nodes] for i in range(0, len(text), 4 * nodes)]


def names(gm: fx.GraphModule) -> list[str]:
    """The nodes, in order."""
    return [node.name for node in gm.graph.nodes]


def find(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node with that name."""
    return next(node for node in gm.graph.nodes if node.name == name)
