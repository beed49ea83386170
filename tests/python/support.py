"""Helpers for several tests."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from jointer.document import FORMAT, VERSION
from jointer.encode import encode_graph
from jointer.load import load_document


def trace(function: Callable[..., Any], *args: Any, mode: str = "fake") -> fx.GraphModule:
    """``function`` traced to ATen operators on tensors like ``args``."""
    return make_fx(function, tracing_mode=mode)(*args)


def joint_of(model: nn.Module, *args: Any) -> fx.GraphModule:
    """The joint graph of ``model``."""
    with contextlib.ExitStack() as stack:
        return aot_export_joint_with_descriptors(stack, model, args).graph_module


def graph_of(*arguments: Any, value: Any = None, **keywords: Any) -> fx.GraphModule:
    """A placeholder ``x``, one call of it with arguments as given, and an output."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    with FakeTensorMode():
        x.meta["val"] = torch.empty(4, 3)
    arguments = fx.map_arg(tuple(arguments), lambda node: x)
    relu = torch.ops.aten.relu.default
    node = graph.create_node("call_function", relu, (x, *arguments), keywords, name="relu")
    node.meta["val"] = x.meta["val"] if value is None else value
    graph.output((node,))
    return fx.GraphModule(nn.Module(), graph)


def through_json(document: Any) -> Any:
    """``document`` after a round trip through JSON."""
    return json.loads(json.dumps(document, allow_nan=False))


def assert_round_trip(gm: fx.GraphModule, **options: Any) -> fx.GraphModule:
    """Checks that encoding, loading and encoding again gives the same document; returns the loaded
    graph.
    """
    document = through_json(encode_graph(gm, **options))
    loaded = load_document(document)
    assert through_json(encode_graph(loaded)) == document
    return loaded


def record_of(gm: fx.GraphModule, name: str) -> dict[str, Any]:
    """The record of the node ``name`` in the capture of ``gm``."""
    return next(r for r in encode_graph(gm)["nodes"] if r["name"] == name)


def document(*nodes: dict[str, Any], **head: Any) -> dict[str, Any]:
    """A capture with these nodes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "forward",
        "name": "test",
        "storages": [],
        "nodes": list(nodes),
        **head,
    }


def tensor(shape: list[int], storage: int = 0, dtype: str = "float32", **more: Any) -> Any:
    """The value of a contiguous tensor on the CPU; ``more`` replaces some of its keys."""
    stride = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    record = {"shape": shape, "dtype": dtype, "device": "cpu", "stride": stride, "offset": 0}
    return {"t": {**record, "storage": storage, **more}}


def placeholder(name: str, value: Any = None) -> dict[str, Any]:
    """A placeholder's record."""
    return {"name": name, "op": "placeholder", "target": name, "val": value}


def call(name: str, target: str, *args: Any, val: Any = None, **more: Any) -> dict[str, Any]:
    """A call's record."""
    return {
        "name": name,
        "op": "call_function",
        "target": target,
        "args": list(args),
        "val": val,
        **more,
    }


def output(*args: Any) -> dict[str, Any]:
    """The output's record."""
    return {"name": "output", "op": "output", "target": "output", "args": [list(args)]}
