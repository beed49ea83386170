"""Converts AOTAutograd's descriptors of placeholders and outputs to JSON and back.

``ParamAOTInput(target="wq.weight")`` becomes ``{"type": "ParamAOTInput", "target": "wq.weight"}``;
descriptors nest, as in the gradient of a parameter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from torch._functorch._aot_autograd import descriptors as aot

#: Descriptors of outputs that the forward returns to its caller; the others are gradients.
_FORWARD_OUTPUTS = (
    aot.PlainAOTOutput,
    aot.InputMutationAOTOutput,
    aot.IntermediateBaseAOTOutput,
    aot.MetadataMutationAOTOutput,
    aot.PhiloxUpdatedForwardOffsetAOTOutput,
    aot.ForwardTokenAOTOutput,
)
_SUBCLASS_PARTS = (
    aot.SubclassGetAttrAOTOutput,
    aot.SubclassSizeAOTOutput,
    aot.SubclassStrideAOTOutput,
)


def encode_descriptor(value: Any) -> Any:
    """A descriptor, a list of them, or a part of one, as JSON."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        parts = {name: encode_descriptor(getattr(value, name)) for name in names}
        return {"type": type(value).__name__, **parts}
    if isinstance(value, (list, tuple)):
        return [encode_descriptor(each) for each in value]
    if value is None or isinstance(value, (bool, int, float, str, dict)):
        return value
    return str(value)


def decode_descriptor(value: Any) -> Any:
    """The descriptor that ``value`` describes; a dict if its type does not exist in this torch or
    has other fields."""
    if isinstance(value, list):
        return [decode_descriptor(each) for each in value]
    if not isinstance(value, dict) or "type" not in value:
        return value
    kind = getattr(aot, value["type"], None)
    parts = {key: decode_descriptor(each) for key, each in value.items() if key != "type"}
    if not dataclasses.is_dataclass(kind):
        return value
    try:
        return kind(**parts)
    except (AssertionError, TypeError):  # other fields, or a part that this torch does not have
        return value


def is_forward_output(descriptor: Any) -> bool:
    """True if the forward returns the output that ``descriptor`` describes."""
    while isinstance(descriptor, _SUBCLASS_PARTS):
        descriptor = descriptor.base
    return isinstance(descriptor, _FORWARD_OUTPUTS)


def is_gradient(descriptor: Any) -> bool:
    """True if ``descriptor`` describes the gradient of an input."""
    return isinstance(descriptor, aot.AOTOutput) and descriptor.is_grad()


def name_inputs(value: Any, names: Mapping[int, aot.AOTInput]) -> Any:
    """The JSON of descriptors, in which ``names`` replaces those of some inputs.

    Dynamo passes parameters and buffers as ordinary inputs; ``names`` contains their descriptors,
    by index of the input.
    """
    if isinstance(value, list):
        return [name_inputs(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "PlainAOTInput" and value.get("idx") in names:
        return encode_descriptor(names[value["idx"]])
    return {key: name_inputs(each, names) for key, each in value.items()}
