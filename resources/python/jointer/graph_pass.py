"""What a person writes a pass of their own with: ``@jointer.graph_pass``.

A pass is ``(gm, example_inputs, **parameters) -> gm``. It may also change ``gm`` in place and
return nothing. The decorator leaves the function as it is, so it can be called, tested and used in
training code as before; it only says how Jointer shows it. ``docs/plugins.md`` has an example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from torch import fx

#: Where upstream runs passes; ``core/pass/pass.h`` says what each is.
STAGES = (
    "joint",
    "partition",
    "clean-up",
    "FSDP",
    "bucketing",
    "reordering",
    "check",
    "compile",
)

#: Where the decorator leaves a function's declaration.
MARK = "__jointer_pass__"

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class Declaration:
    """How a pass is shown."""

    name: str
    summary: str = ""
    stage: str = "reordering"
    keeps_numerics: bool = False
    is_idempotent: bool = False
    #: By parameter: ``least``, ``most``, ``choices``, ``doc``, ``type`` in place of what its
    #: signature says.
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def graph_pass(
    name: str | None = None,
    *,
    summary: str | None = None,
    stage: str = "reordering",
    keeps_numerics: bool = False,
    is_idempotent: bool = False,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[Function], Function]:
    """Declare a function to be a pass.

    Args:
        name: how pipelines call it; the function's own name where not given.
        summary: one sentence; the first of the docstring where not given.
        stage: one of ``STAGES``.
        keeps_numerics: outputs stay bitwise equal.
        is_idempotent: a second run changes nothing.
        parameters: ``{"budget": {"least": 0, "most": 1, "doc": "..."}}``; types and defaults come
            from the signature, sentences from the docstring's ``Args:``.

    Raises:
        ValueError: no such stage.
    """
    if stage not in STAGES:
        raise ValueError(f"stage {stage!r}: one of {', '.join(STAGES)}")

    def declare(function: Function) -> Function:
        lines = (function.__doc__ or "").strip().splitlines()
        declaration = Declaration(
            name=name or function.__name__,
            summary=summary or (lines[0] if lines else ""),
            stage=stage,
            keeps_numerics=keeps_numerics,
            is_idempotent=is_idempotent,
            parameters=parameters or {},
        )
        setattr(function, MARK, declaration)
        return function

    return declare


class Listener(Protocol):
    """Who is told what a running pass does."""

    def progress(self, done: float) -> None:
        """How far it is, 0 to 1."""

    def decide(self, node: str, action: str, reason: str) -> None:
        """Why it did something to a node."""


LISTENER: ContextVar[Listener | None] = ContextVar("jointer_listener", default=None)


def progress(done: float) -> None:
    """Say how far the running pass is, 0 to 1. Does nothing outside of Jointer."""
    if (listener := LISTENER.get()) is not None:
        listener.progress(done)


def decide(node: fx.Node | str, action: str, reason: str) -> None:
    """Say why the running pass did something to ``node``, or did not.

    Args:
        node: or its name; empty for the whole graph.
        action: one word, such as ``moved`` or ``kept``.
        reason: one sentence.

    Does nothing outside of Jointer.
    """
    if (listener := LISTENER.get()) is not None:
        listener.decide(node.name if isinstance(node, fx.Node) else node, action, reason)
