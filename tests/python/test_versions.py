"""Calls of a graph that another version of torch captured."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import fx
from torch._inductor.fx_passes import bucketing  # noqa: F401  (registers its operators)

from jointer.errors import CaptureError
from jointer.versions import fit_calls, minor_version

aten = torch.ops.aten
SCALE = "aten.leaky_relu.default"
GATHER = torch.ops.bucketing._pre_bucket_all_gather.default


def call(target: Any, *args: Any, **kwargs: Any) -> tuple[fx.GraphModule, fx.Node]:
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(target, (x, *args), kwargs)
    graph.output(node)
    return fx.GraphModule(torch.nn.Module(), graph), node


def document(schema: str = "", version: str = "2.10.0") -> dict[str, Any]:
    return {"torch": version, "schemas": {SCALE: schema} if schema else {}}


@pytest.mark.parametrize(
    "text, minor", [("2.15.0+cu132", 15), ("2.9.1", 9), ("1.13.0", None), ("", None), ("2.x", None)]
)
def test_versions(text: str, minor: int | None) -> None:
    assert minor_version(text) == minor


def test_arguments_are_found_by_name() -> None:
    schema = "(Tensor self, str? hint=None, Scalar negative_slope=0.01) -> Tensor"
    gm, node = call(aten.leaky_relu.default, None, 0.5)
    assert fit_calls(gm, document(schema))
    assert node.args[1:] == (0.5,) and not node.kwargs
    x = torch.randn(5)
    assert torch.equal(gm(x), torch.nn.functional.leaky_relu(x, 0.5))


def test_a_renamed_argument_keeps_its_position() -> None:
    gm, node = call(aten.leaky_relu.default, 0.25)
    fit_calls(gm, document("(Tensor self, Scalar slope=0.01) -> Tensor"))
    assert node.args[1:] == (0.25,)


def test_an_unknown_argument_is_named() -> None:
    schema = "(Tensor self, Scalar negative_slope=0.01, bool fast=False) -> Tensor"
    gm, _ = call(aten.leaky_relu.default, 0.5, True)
    with pytest.raises(CaptureError, match="leaky_relu.default has no argument fast in torch"):
        fit_calls(gm, document(schema))


def test_a_missing_argument_is_named() -> None:
    gm, _ = call(aten.mul.Tensor)
    given = {"torch": "2.10.0", "schemas": {"aten.mul.Tensor": "(Tensor self) -> Tensor"}}
    with pytest.raises(CaptureError, match="mul.Tensor requires argument other"):
        fit_calls(gm, given)


def test_a_graph_of_this_torch_is_unchanged() -> None:
    gm, node = call(aten.leaky_relu.default, None, 0.5)
    schema = "(Tensor self, str? hint=None, Scalar negative_slope=0.01) -> Tensor"
    assert not fit_calls(gm, document(schema, torch.__version__))
    assert node.args[1:] == (None, 0.5)


@pytest.mark.parametrize(
    "version, group, place", [("2.11.0", ["0"], 0), ("2.13.0", [], 0), ("2.15.0", [], 1)]
)
def test_buckets_of_every_version(version: str, group: list[str], place: int) -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    args = ([x], 2, *group, torch.bfloat16, [place], 1)
    graph.output(graph.call_function(GATHER, args))
    gm = fx.GraphModule(torch.nn.Module(), graph)
    fit_calls(gm, {"torch": version})
    x = torch.randn(3)
    assert torch.equal(gm(x)[3:], x.bfloat16())
