"""Adapts the calls of a graph captured by a different version of torch to the installed version.

If the schema in the capture differs from the installed one, positional arguments are matched by
name. Arguments that the installed operator does not accept are refused, unless they are None.
Buckets refer to dtypes by their index among torch's attributes, which changed in 2.14. Up to 2.12,
they also refer to their group by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import fx
from torch._ops import OpOverload

from .errors import CaptureError
from .targets import target_name

_GATHER = "bucketing._pre_bucket_all_gather.default"

#: The first minor version in which ``torch.bcomplex32`` precedes all other dtypes.
_FIRST_WITH_BCOMPLEX32 = 14


def minor_version(text: str) -> int | None:
    """The 15 in ``2.15.0+cu132``; ``None`` if the text is not a version of torch 2."""
    major, _, rest = text.partition(".")
    minor = rest.partition(".")[0]
    return int(minor) if major == "2" and minor.isdecimal() else None


def fit_calls(gm: fx.GraphModule, document: Mapping[str, Any]) -> bool:
    """Adapt the calls of ``gm``, loaded from ``document``, to the installed torch.

    Returns:
        True if a different version captured the graph.

    Raises:
        CaptureError: an operator does not accept its arguments.
    """
    captured = document.get("torch") or ""
    minor, installed = minor_version(captured), minor_version(torch.__version__)
    if minor is None or minor == installed:
        return False
    schemas = document.get("schemas") or {}
    for node in gm.graph.nodes:
        if not isinstance(node.target, OpOverload):
            continue
        name = target_name(node.target)
        if name == _GATHER:
            _fit_gather(node, minor)
        elif text := schemas.get(name):
            _fit(node, text, captured)
    gm.recompile()
    return True


def _fit_gather(node: fx.Node, minor: int) -> None:
    inputs, size, *rest = node.args
    named = bool(rest) and isinstance(rest[0], str)
    group, (dtype, places, *rest) = rest[:1] if named else [""], rest[1:] if named else rest
    wants_name = "group_name" in {each.name for each in node.target._schema.arguments}
    has_bcomplex32 = hasattr(torch, "bcomplex32")
    shift = int(has_bcomplex32) - int(minor >= _FIRST_WITH_BCOMPLEX32)
    moved = [place + shift for place in places]
    node.args = (inputs, size, *(group if wants_name else ()), dtype, moved, *rest)


def _fit(node: fx.Node, schema: str, captured: str) -> None:
    theirs, ours = _names(schema), node.target._schema.arguments
    names = [each.name for each in ours]
    if theirs is None or theirs == names:
        return
    given: dict[str, Any] = {}
    for place, value in enumerate(node.args):
        name = theirs[place] if place < len(theirs) else None
        if name not in names and place < len(names) and names[place] not in theirs:
            name = names[place]  # renamed
        given[name or f"number {place}"] = value
    given |= node.kwargs
    unknown = [name for name, value in given.items() if name not in names and value is not None]
    missing = [each.name for each in ours if each.name not in given and not each.has_default_value()]
    if unknown or missing:
        what = f"has no argument {unknown[0]}" if unknown else f"requires argument {missing[0]}"
        raise CaptureError(
            f"node {node.name}: {target_name(node.target)} {what} in torch {torch.__version__}, "
            f"but the capture is from torch {captured}; set JOINTER_PYTHON to a Python with torch "
            f"{captured}, or capture again"
        )
    first_keyword = next((i for i, each in enumerate(ours) if each.kwarg_only), len(ours))
    args = []
    for each in ours[:first_keyword]:
        if each.name not in given:
            break
        args.append(given.pop(each.name))
    node.args = tuple(args)
    node.kwargs = {name: value for name, value in given.items() if name in names}


def _names(schema: str) -> list[str] | None:
    """The names of the arguments of ``schema``; ``None`` if torch cannot parse it."""
    try:
        return [each.name for each in torch._C.parse_schema(f"ns::name{schema}").arguments]
    except RuntimeError:
        return None
