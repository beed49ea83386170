"""``@jointer.graph_pass``, which declares a pass.

A pass is ``(gm, example_inputs, **parameters) -> gm``. It may also modify ``gm`` in place and
return nothing. The decorator only describes the pass to Jointer. It does not change the function,
which can still be called, tested and used in training code. ``docs/plugins.md`` has an example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from torch import fx

#: Stages of upstream's pipelines, described in ``core/pass/pass.h``.
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

#: Attribute of a function that contains its declaration.
MARK = "__jointer_pass__"

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class Declaration:
    """The declaration of a pass."""

    name: str
    summary: str = ""
    stage: str = "reordering"
    keeps_numerics: bool = False
    is_idempotent: bool = False
    saves_memory: bool = False
    #: Per parameter: ``least``, ``most``, ``choices``, ``may_be_none``, ``is_of_texts``, ``doc``,
    #: ``type``, which override the signature.
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def graph_pass(
    name: str | None = None,
    *,
    summary: str | None = None,
    stage: str = "reordering",
    keeps_numerics: bool = False,
    is_idempotent: bool = False,
    saves_memory: bool = False,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[Function], Function]:
    """Declare that a function is a pass.

    Args:
        name: the name in pipelines; default: the function's name.
        summary: one sentence; default: the first line of the docstring.
        stage: one of ``STAGES``.
        keeps_numerics: True if outputs remain bitwise equal.
        is_idempotent: True if a second run changes nothing.
        saves_memory: True if the pass is meant to lower the peak: raising it causes a warning.
        parameters: ``{"budget": {"least": 0, "most": 1, "doc": "..."}}``; types and defaults come
            from the signature, descriptions from the docstring's ``Args:``.

    Raises:
        ValueError: the stage is unknown.
    """
    if stage not in STAGES:
        raise ValueError(f"stage {stage!r}: expected one of {', '.join(STAGES)}")

    def declare(function: Function) -> Function:
        lines = (function.__doc__ or "").strip().splitlines()
        declaration = Declaration(
            name=name or function.__name__,
            summary=summary or (lines[0] if lines else ""),
            stage=stage,
            keeps_numerics=keeps_numerics,
            is_idempotent=is_idempotent,
            saves_memory=saves_memory,
            parameters=parameters or {},
        )
        setattr(function, MARK, declaration)
        return function

    return declare


class Listener(Protocol):
    """Receives the reports of a running pass."""

    def progress(self, done: float) -> None:
        """Report progress, from 0 to 1."""

    def decide(self, node: str, action: str, reason: str) -> None:
        """Report a decision about a node."""


LISTENER: ContextVar[Listener | None] = ContextVar("jointer_listener", default=None)


def progress(done: float) -> None:
    """Report the progress of the running pass, from 0 to 1. Does nothing outside Jointer."""
    if (listener := LISTENER.get()) is not None:
        listener.progress(done)


def decide(node: fx.Node | str, action: str, reason: str) -> None:
    """Report why the running pass did, or did not, do something to ``node``.

    Args:
        node: the node or its name; empty for the whole graph.
        action: one word, such as ``moved`` or ``kept``.
        reason: one sentence.

    Does nothing outside Jointer.
    """
    if (listener := LISTENER.get()) is not None:
        listener.decide(node.name if isinstance(node, fx.Node) else node, action, reason)
