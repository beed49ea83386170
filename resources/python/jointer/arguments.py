"""Converts arguments of nodes between torch objects and JSON.

Finite real numbers, booleans, strings, ``None`` and lists are written as they are; everything else
is an object whose first key is the kind: ``{"n": node}``, ``{"dtype": "bfloat16"}``, ``{"tuple":
[...]}``, ... Only ``{"opaque": type, "repr": text}`` has a second key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx

from . import symbols
from .errors import CaptureError
from .groups import as_group, resolve_group
from .targets import UnknownOperator, is_operator, resolve_target, target_name

Json = Any

_REPR_LIMIT = 200
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_TORCH_CONSTANTS = (
    (torch.dtype, "dtype"),
    (torch.layout, "layout"),
    (torch.memory_format, "memory_format"),
)


class Opaque:
    """An object that a capture only describes, by type name and ``repr``."""

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self.text = text

    def __repr__(self) -> str:
        return f"Opaque({self.type_name!r}, {self.text!r})"


def encode_argument(value: Any) -> Json:
    """The JSON of an argument, which may be nested; keys of dicts become strings."""
    if symbols.is_symbolic(value):
        value = symbols.constant_value(value)
        if symbols.is_symbolic(value):
            key = "symfloat" if symbols.is_float(value) else "symint"
            return {key: symbols.expression(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, fx.Node):
        return {"n": value.name}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"f": repr(value)}
    if isinstance(value, list):
        return [encode_argument(each) for each in value]
    if isinstance(value, tuple):
        return {"tuple": [encode_argument(each) for each in value]}
    if isinstance(value, Mapping):
        return {"dict": {str(key): encode_argument(each) for key, each in value.items()}}
    if isinstance(value, slice):
        return {"slice": [encode_argument(x) for x in (value.start, value.stop, value.step)]}
    for kind, key in _TORCH_CONSTANTS:
        if isinstance(value, kind):
            return {key: str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, complex):
        return {"complex": [encode_argument(value.real), encode_argument(value.imag)]}
    if is_operator(value):
        return {"op": target_name(value)}
    return encode_opaque(value)


def encode_opaque(value: Any) -> Json:
    """A description of an object without a JSON form, identical in every run.

    A process group is described by its name, which is a key of the capture's ``groups``.
    """
    if isinstance(value, Opaque):
        return {"opaque": value.type_name, "repr": value.text}
    if (group := as_group(value)) is not None:
        return {"opaque": "ProcessGroup", "repr": group.group_name}
    return {"opaque": type(value).__name__, "repr": _ADDRESS.sub("", repr(value))[:_REPR_LIMIT]}


def decode_opaque(value: Mapping[str, Json]) -> Any:
    """The process group of that name if it exists in this process; otherwise a description."""
    name, text = value["opaque"], value.get("repr", "")
    group = resolve_group(text) if name == "ProcessGroup" else None
    return Opaque(name, text) if group is None else group


def decode_argument(
    value: Json,
    node: Callable[[str], fx.Node],
    assumptions: symbols.Assumptions,
) -> Any:
    """The argument that ``value`` describes; ``node`` looks up a node by name."""

    def decode(each: Json) -> Any:
        return decode_argument(each, node, assumptions)

    if isinstance(value, list):
        return [decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "opaque" in value:
        return decode_opaque(value)
    if len(value) != 1:
        raise CaptureError(f"argument with keys {sorted(value)}: expected exactly one key")
    ((key, inner),) = value.items()
    match key:
        case "n":
            return node(inner)
        case "tuple":
            return tuple(decode(each) for each in inner)
        case "dict":
            return {name: decode(each) for name, each in inner.items()}
        case "slice":
            return slice(*map(decode, inner))
        case "dtype" | "layout" | "memory_format":
            return torch_constant(inner)
        case "device":
            return torch.device(inner)
        case "f":
            return float(inner)
        case "complex":
            return complex(*map(decode, inner))
        case "symfloat":
            return symbols.symbolic(float(assumptions.number(inner)), inner, None)
        case "symint":
            return symbols.symbolic(assumptions.number(inner), inner, None)
        case "op":
            operator = resolve_target(inner)
            return operator if is_operator(operator) else UnknownOperator(inner)
    raise CaptureError(f"argument of unknown kind {key!r}; use a newer Jointer")


def torch_constant(name: str) -> Any:
    """``torch.NAME`` for a dtype, a layout or a memory format."""
    found = getattr(torch, name, None)
    if not isinstance(found, (torch.dtype, torch.layout, torch.memory_format)):
        raise CaptureError(
            f"torch {torch.__version__} has no dtype, layout or memory format {name!r}"
        )
    return found
