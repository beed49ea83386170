"""What a placeholder or an output is: AOTAutograd's descriptors as JSON, and back.

``ParamAOTInput(target="wq.weight")`` becomes ``{"type": "ParamAOTInput", "target": "wq.weight"}``;
descriptors nest, as in the gradient of a parameter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from torch._functorch._aot_autograd import descriptors as aot

#: Descriptors of what a forward pass returns to its caller; gradients are the others.
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
    """The descriptor that ``value`` describes; one this torch does not have stays a dict."""
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
    """Does the forward pass return the output that ``descriptor`` describes?"""
    while isinstance(descriptor, _SUBCLASS_PARTS):
        descriptor = descriptor.base
    return isinstance(descriptor, _FORWARD_OUTPUTS)


def is_gradient(descriptor: Any) -> bool:
    """Does ``descriptor`` describe the gradient of an input?"""
    return isinstance(descriptor, aot.AOTOutput) and descriptor.is_grad()


def name_inputs(value: Any, names: Mapping[int, aot.AOTInput]) -> Any:
    """The JSON of descriptors with the inputs that have ``names`` described by them.

    Dynamo passes parameters and buffers as ordinary inputs; ``names`` holds, by the input's
    number, the descriptors of those that are known to be more.
    """
    if isinstance(value, list):
        return [name_inputs(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "PlainAOTInput" and value.get("idx") in names:
        return encode_descriptor(names[value["idx"]])
    return {key: name_inputs(each, names) for key, each in value.items()}
