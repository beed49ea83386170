"""Helpers for tracing: fake devices without a GPU, modules and source lines without Dynamo."""

from __future__ import annotations

import contextlib
import platform
from typing import Any

import pytest
import torch
from support import joint_of
from torch import fx, nn
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

import jointer
from jointer import fake_device
from jointer.encode import encode_graph
from jointer.fake_device import without_gpu

linux = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="Linux on x86-64 only"
)


class Negative(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.neg()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient.neg()


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(8)
        self.proj = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Negative.apply(self.proj(self.norm(x)))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).sin()
        return x


def fake_joint() -> fx.GraphModule:
    with without_gpu() as fake, contextlib.ExitStack() as stack:
        with fake, torch.device("cuda"):
            model, x = Model(), torch.ones(4, 8)
        return aot_export_joint_with_descriptors(stack, model, (x,)).graph_module


@linux
def test_a_backward_on_fake_cuda() -> None:
    before = torch.accelerator.current_accelerator()
    document = encode_graph(fake_joint())
    assert torch.accelerator.current_accelerator() == before
    devices = {r["val"]["t"]["device"] for r in document["nodes"] if "t" in (r.get("val") or {})}
    assert devices == {"cuda:0"}
    targets = {r["target"] for r in document["nodes"]}
    assert "aten._fused_rms_norm_backward.default" in targets  # the operator for CUDA


@linux
def test_replaced_functions_are_restored() -> None:
    with contextlib.suppress(KeyError):
        with without_gpu():
            raise KeyError
    with without_gpu(), without_gpu():  # can be nested
        pass
    x = torch.ones(2, requires_grad=True)
    x.sin().sum().backward()
    assert torch.autograd.is_multithreading_enabled()


def test_other_platforms_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_device, "_gpu_is_missed", lambda: True)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(jointer.CaptureError, match="riscv64 without a GPU; install a CPU build"):
        with without_gpu():
            pass


def test_nothing_is_replaced_unless_a_gpu_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_device, "_gpu_is_missed", lambda: False)
    monkeypatch.setattr(fake_device, "_overwrite", None)
    with without_gpu() as fake, fake:
        assert torch.ones(2).sum().shape == ()


def test_modules_and_lines() -> None:
    model, x = Model(), torch.ones(4, 8)
    with jointer.annotate(model):
        document = encode_graph(joint_of(model, x))
    modules, stacks = document["modules"], document["stacks"]
    calls = [r for r in document["nodes"] if r["op"] == "call_function"]

    def of(target: str, tag: str) -> list[dict[str, Any]]:
        return [r for r in calls if r["target"] == target and r["partitioner_tag"] == tag]

    first, second = of("aten.addmm.default", "is_forward")
    assert modules[first["module"]][-1] == ["layers.0.proj", "torch.nn.modules.linear.Linear"]
    assert [path for path, _ in modules[second["module"]]] == ["layers.1", "layers.1.proj"]
    assert "self.proj(self.norm(x))" in stacks[first["stack"]]
    assert "torch/nn" not in stacks[first["stack"]]
    sine = of("aten.sin.default", "is_forward")[0]
    assert "module" not in sine and "layer(x).sin()" in stacks[sine["stack"]]

    product = of("aten.mm.default", "is_backward")[-1]
    assert product["module_from_fwd"] and modules[product["module"]][-1][0] == "layers.0.proj"
    assert "self.proj(self.norm(x))" in stacks[product["stack"]]
    for each in of("aten.neg.default", "is_backward"):  # of the autograd.Function
        assert stacks[each["stack"]].rstrip().endswith("x = layer(x).sin()")

    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    plain = encode_graph(joint_of(model, x))
    assert plain["modules"] == [] and plain["stacks"] == [] or "layer" not in str(plain["stacks"])


def test_lines_are_relative_to_a_folder() -> None:
    from conftest import ROOT

    model = Model()
    with jointer.annotate(model, root=ROOT):
        document = encode_graph(joint_of(model, torch.ones(4, 8)))
    assert any('File "tests/python/test_tracing.py"' in stack for stack in document["stacks"])


def test_hooks_are_removed_even_if_the_model_fails() -> None:
    model = Model()
    with pytest.raises(RuntimeError), jointer.annotate(model):
        model(torch.ones(4, 5))
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
