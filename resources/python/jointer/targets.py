"""Converts targets of calls to names and back.

A name is ``aten.mm.default`` for an overload, the plain name for a higher-order operator, and
``module.function`` for functions of sizes (``_operator.getitem``, ``torch.sym_sum``).
"""

from __future__ import annotations

import functools
import importlib
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from .errors import CaptureError

#: Modules that register operators when they are imported.
_REGISTERING_MODULES = (
    "torch._higher_order_ops",
    "torch._higher_order_ops.effects",
    "torch._higher_order_ops.triton_kernel_wrap",
    "torch._functorch._activation_offloading.offload_ops",
    "torch._inductor.fx_passes.bucketing",
    "torch._inductor.fx_passes.control_dependencies",
    "torch._inductor.inductor_prims",
    "torch._prims",
    "torch._prims.rng_prims",
    "torch.distributed._functional_collectives",
    "torch.distributed._symmetric_memory",
    "torch.distributed.device_mesh",
    "torch.distributed.fsdp._fully_shard._fsdp_collectives",
    "torch.distributed.tensor",
)

#: Plain functions that compute with sizes. No other functions are ever looked up by a name in a
#: file, so a loaded graph calls only these and operators.
_OPERATORS = """abs add and_ eq floordiv ge getitem gt index invert le lshift lt mod mul ne neg not_
or_ pos pow rshift sub truediv truth xor"""
_MATH = "ceil cos cosh exp fabs floor log log2 pow sin sinh sqrt tan tanh trunc"
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _OPERATORS.split()},
    **{f"math.{name}": getattr(math, name) for name in _MATH.split()},
    **{
        f"torch.{name}": value
        for name, value in vars(torch).items()
        if callable(value) and name.startswith(("sym_", "_sym_"))
    },
}
_FUNCTION_NAMES = {id(value): name for name, value in _FUNCTIONS.items()}


def target_name(target: Any) -> str | None:
    """The name of a call's target; ``None`` if it has no name in a capture."""
    if isinstance(target, (OpOverload, OpOverloadPacket)):
        return str(target)
    if isinstance(target, HigherOrderOperator):
        return target.name()
    if isinstance(target, UnknownOperator):
        return target.name
    return _FUNCTION_NAMES.get(id(target))


def qualified_name(function: Any) -> str:
    """The name of a Python function that is not an operator, for readers of a capture."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        module, name = type(function).__module__, type(function).__qualname__
    return f"{module}.{name}" if module else name


def operators_of(node: fx.Node) -> Iterator[OpOverload | OpOverloadPacket]:
    """The operators with a schema that ``node`` calls, or has as arguments."""
    if isinstance(node.target, (OpOverload, OpOverloadPacket)):
        yield node.target
    if isinstance(node.target, HigherOrderOperator):
        arguments = (*node.args, *node.kwargs.values())
        yield from (each for each in arguments if isinstance(each, OpOverload))


@functools.cache
def schema_text(operator: OpOverload | OpOverloadPacket) -> str | None:
    """The arguments and returns as registered: ``(Tensor self, ...) -> Tensor``. For a packet with
    only one overload, the text of that overload."""
    if isinstance(operator, OpOverloadPacket):
        overloads = operator.overloads()
        return schema_text(getattr(operator, overloads[0])) if len(overloads) == 1 else None
    text = str(operator._schema)
    return text[text.index("(") :] if "(" in text else None


def is_operator(target: Any) -> bool:
    """True if ``target`` is an operator, which may also be an argument of a node."""
    return isinstance(target, (OpOverload, HigherOrderOperator, UnknownOperator))


class UnknownOperator:
    """Represents an operator that does not exist in this process. Calling it raises an
    exception."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = self.__qualname__ = re.sub(r"\W", "_", name)
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise CaptureError(
            f"{self.name} is not known to torch {torch.__version__}; "
            "import the module that registers it before loading the capture"
        )

    def __repr__(self) -> str:
        return f"UnknownOperator({self.name!r})"


def resolve_target(name: str) -> Callable[..., Any]:
    """The target of that name in this process, or an ``UnknownOperator``."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if "." not in name:
        found = getattr(torch.ops.higher_order, name, None)
        return found if isinstance(found, HigherOrderOperator) else UnknownOperator(name)
    found = torch.ops
    try:
        for part in name.split("."):
            found = getattr(found, part)
    except (AttributeError, RuntimeError):
        return UnknownOperator(name)
    return found if isinstance(found, (OpOverload, OpOverloadPacket)) else UnknownOperator(name)


def register_operators() -> None:
    """Import the parts of torch that register operators lazily."""
    for module in _REGISTERING_MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            continue


def schema_aliases(target: Any) -> list[list[Any]]:
    """``[argument index, is written]`` for each aliasing argument of an operator."""
    if not isinstance(target, OpOverload):
        return []
    arguments = target._schema.arguments
    return [[i, a.alias_info.is_write] for i, a in enumerate(arguments) if a.alias_info]
