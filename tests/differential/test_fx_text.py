"""Text printed by torch, in each of its forms, compared with the native capture of the graph."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jointer as jointer_package
import pytest
import torch
import torch.nn.functional as F
from conftest import output_of
from torch.fx.experimental.proxy_tensor import make_fx


def _values(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor | None]:
    """Views, tuples, constants, text, infinities, dtypes, devices, keyword arguments."""
    y = torch.addmm(b, x, w)
    z = y.view(4, 2, 4).transpose(1, 2)[:, 1:3]
    first, second = torch.split(z, 1, dim=1)
    gelu = F.gelu(first, approximate="tanh")
    r = gelu + second.masked_fill(second > 0, -float("inf"))
    top = torch.max(r.to(torch.float64), dim=-1)
    full = torch.full((4,), float("inf"), dtype=torch.bfloat16)
    parts = torch.unbind(x.expand(2, 4, 8).permute(2, 0, 1).contiguous(), 0)
    index = x[torch.tensor([0, 1])] + x.select(0, 1).unsqueeze(0).squeeze(0)
    einsum = torch.einsum("ij,jk->ik", x, w)
    norm, _, _ = torch.native_layer_norm(x, [8], w[0], b, 1e-05)
    return [top.values, top.indices, full.t(), None, parts[3], index, einsum, norm, x[..., None]]


def _sizes(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """Symbolic sizes, in computations and as arguments."""
    n = x.shape[0]
    return [x.new_zeros(2 * n + 1, 8), x.reshape(n * 8 // 4, 4), torch.cat([x, x]).view(2, n, 8)]


def _condition(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A higher-order operator with subgraphs."""

    def double(v: torch.Tensor) -> torch.Tensor:
        return v.sin() * 2

    def halve(v: torch.Tensor) -> torch.Tensor:
        return v.cos() / 2

    return torch.cond(x.sum() > 0, double, halve, (x,)) + 1


def _training(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Forward and backward in one graph."""
    w = w.detach().requires_grad_()
    loss = F.silu(x @ w + b).sum()
    return loss, *torch.autograd.grad(loss, [w])


MODELS = (_values, _sizes, _condition, _training)


@pytest.fixture(params=list(itertools.product(MODELS, ("fake", "symbolic"))), ids=str, scope="module")
def module(request: pytest.FixtureRequest) -> torch.fx.GraphModule:
    function, mode = request.param
    inputs = (torch.randn(4, 8), torch.randn(8, 8), torch.randn(8))
    return make_fx(function, tracing_mode=mode)(*inputs)


@pytest.fixture
def rows() -> Callable[[Path], list[tuple[str, ...]]]:
    """Name, target and output bytes of every node in a file."""

    def read(path: Path) -> list[tuple[str, ...]]:
        table = csv.DictReader(io.StringIO(output_of("jointer", "export", path, "--format", "csv", "-o", "-")))
        return [(row["name"], row["target"], row["output_bytes"]) for row in table]

    return read


def _native(module: torch.fx.GraphModule, path: Path) -> Path:
    jointer_package.capture(module, path)
    return path


def _has_unread_elements(module: torch.fx.GraphModule) -> bool:
    """True if a tuple has elements that no node reads, whose types the text does not contain."""
    for node in module.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, (list, tuple)) and len(node.users) < len(value):
            return True
    return False


@pytest.mark.parametrize("stride", [False, True])
@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("colored", [False, True])
@pytest.mark.parametrize("expanded", [False, True])
def test_print_readable(
    module: torch.fx.GraphModule,
    jointer: Callable[..., Any],
    rows: Callable[[Path], Any],
    tmp_path: Path,
    stride: bool,
    device: bool,
    colored: bool,
    expanded: bool,
) -> None:
    text = module.print_readable(
        print_output=False,
        include_stride=stride,
        include_device=device,
        colored=colored,
        expanded_def=expanded,
    )
    path = tmp_path / "graph.txt"
    path.write_text(text)
    native = _native(module, tmp_path / "graph.json")
    if _has_unread_elements(module):
        unread = {
            node.name
            for node in module.graph.nodes
            if isinstance(node.meta.get("val"), (list, tuple))
        }
        expected = [row for row in rows(native) if row[0] not in unread]
        assert [row for row in rows(path) if row[0] not in unread] == expected
    else:
        assert jointer("info", path)["hash"] == jointer_package.graph_hash(module)
        # The text does not contain the hints of its symbols.
        columns = 2 if jointer("info", path)["symbols"] else 3
        expected = [row[:columns] for row in rows(native)]
        assert [row[:columns] for row in rows(path)] == expected
    derived = " ".join(jointer("info", path)["derived"])
    assert ("strides of" in derived) == (not stride)
    assert ("devices of" in derived) == (not device)


@pytest.mark.parametrize("form", ["listing", "code"])
def test_forms_without_types(
    module: torch.fx.GraphModule,
    jointer: Callable[..., Any],
    rows: Callable[[Path], Any],
    tmp_path: Path,
    form: str,
) -> None:
    """Nodes and arguments are read, and a graph without values has the same hash."""
    path = tmp_path / "graph.txt"
    path.write_text(str(module.graph) if form == "listing" else module.code)
    native = _native(module, tmp_path / "graph.json")
    assert [row[:2] for row in rows(path)] == [row[:2] for row in rows(native)]

    bare = torch.fx.GraphModule(module, torch.fx.Graph())
    bare.graph.output(bare.graph.graph_copy(module.graph, {}))
    for node in bare.graph.nodes:
        node.meta.clear()
    assert jointer("info", path)["hash"] == jointer_package.graph_hash(bare)


def test_subgraphs_are_included(jointer: Callable[..., Any], tmp_path: Path) -> None:
    inputs = (torch.randn(4, 8), torch.randn(8, 8), torch.randn(8))
    module = make_fx(_condition, tracing_mode="fake")(*inputs)
    path = tmp_path / "graph.txt"
    path.write_text(module.print_readable(print_output=False))
    again = tmp_path / "again.txt"
    output_of("jointer", "export", path, "--format", "fx-text", "-o", again)
    text = again.read_text()
    assert "class true_graph_0(torch.nn.Module):" in text
    assert "torch.ops.aten.cos.default(" in text
    assert jointer("info", again)["hash"] == jointer("info", path)["hash"]


def test_export_prints_what_torch_prints(module: torch.fx.GraphModule, tmp_path: Path) -> None:
    """The writer's text equals torch's, except for the names of the class and of subgraphs' storages."""
    native = _native(module, tmp_path / "graph.json")
    path = tmp_path / "graph.txt"
    output_of("jointer", "export", native, "--format", "fx-text", "-o", path)
    expected = module.print_readable(print_output=False, include_stride=True, include_device=True)

    def statements(text: str) -> list[str]:
        return [line for line in text.splitlines() if " = " in line or "return" in line]

    assert statements(path.read_text()) == statements(expected)
