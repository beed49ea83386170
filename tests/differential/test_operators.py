"""Compares FLOP formulas, with one graph per operator, on shapes that no capture has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import TORCH
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.flop_counter import FlopCounterMode

import jointer as jointer_package

aten = torch.ops.aten


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype)


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "mm": (aten.mm.default, (randn(3, 5), randn(5, 7))),
    "addmm": (aten.addmm.default, (randn(7), randn(3, 5), randn(5, 7))),
    "bmm": (aten.bmm.default, (randn(2, 3, 5), randn(2, 5, 7))),
    "baddbmm": (aten.baddbmm.default, (randn(2, 3, 7), randn(2, 3, 5), randn(2, 5, 7))),
    "convolution_1d": (
        aten.convolution.default,
        (randn(2, 4, 16), randn(6, 4, 3), None, [1], [1], [1], False, [0], 1),
    ),
    "convolution_2d_strided": (
        aten.convolution.default,
        (randn(2, 4, 16, 12), randn(6, 4, 3, 5), None, [2, 1], [1, 2], [1, 1], False, [0, 0], 1),
    ),
    "convolution_grouped": (
        aten.convolution.default,
        (randn(2, 4, 16, 12), randn(6, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 2),
    ),
    "convolution_transposed": (
        aten.convolution.default,
        (randn(2, 4, 8, 8), randn(4, 6, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ),
    "convolution_backward": (
        aten.convolution_backward.default,
        (randn(2, 6, 16, 12), randn(2, 4, 16, 12), randn(6, 4, 3, 3), [6], [1, 1], [1, 1], [1, 1],
         False, [0, 0], 1, [True, True, True]),
    ),
    "convolution_backward_weight_only": (
        aten.convolution_backward.default,
        (randn(2, 6, 16, 12), randn(2, 4, 16, 12), randn(6, 4, 3, 3), [6], [1, 1], [1, 1], [1, 1],
         False, [0, 0], 1, [False, True, False]),
    ),
    "convolution_backward_transposed": (
        aten.convolution_backward.default,
        (randn(2, 6, 16, 16), randn(2, 4, 8, 8), randn(4, 6, 3, 3), [6], [2, 2], [1, 1], [1, 1],
         True, [1, 1], 1, [True, True, True]),
    ),
    "flash_attention": (
        aten._scaled_dot_product_flash_attention.default,
        (randn(2, 4, 64, 32, dtype=torch.bfloat16),) * 3,
    ),
    "efficient_attention": (
        aten._scaled_dot_product_efficient_attention.default,
        (randn(2, 4, 64, 32), randn(2, 4, 48, 32), randn(2, 4, 48, 32), None, True),
    ),
    "cudnn_attention": (
        aten._scaled_dot_product_cudnn_attention.default,
        (*(randn(2, 4, 64, 32, dtype=torch.bfloat16),) * 3, None, True),
    ),
    "packed_flash_attention": (
        aten._flash_attention_forward.default,
        (*(randn(96, 4, 32, dtype=torch.bfloat16),) * 3, torch.tensor([0, 40, 96], dtype=torch.int32),
         torch.tensor([0, 40, 96], dtype=torch.int32), 56, 56, 0.0, True, False),
    ),
    "grouped_query_attention": (
        aten._scaled_dot_product_flash_attention.default,
        (randn(2, 4, 64, 32, dtype=torch.bfloat16), *(randn(2, 2, 64, 32, dtype=torch.bfloat16),) * 2),
    ),
    "flash_attention_without_offsets": (
        aten._flash_attention_forward.default,
        (*(randn(2, 64, 4, 32, dtype=torch.bfloat16),) * 3, None, None, 64, 64, 0.0, True, False),
    ),
    "cpu_flash_attention": (
        aten._scaled_dot_product_flash_attention_for_cpu.default,
        (randn(2, 4, 64, 32), randn(2, 4, 48, 32), randn(2, 4, 48, 32)),
    ),
}
#: The first torch whose registry counts the operator, unless it is the oldest.
SINCE = {"grouped_query_attention": (2, 12), "flash_attention_without_offsets": (2, 14), "cpu_flash_attention": (2, 15)}


@pytest.mark.parametrize("name", CASES)
def test_formula_equals_the_registry(name: str, tmp_path: Path, jointer: Any) -> None:
    if TORCH < SINCE.get(name, TORCH):
        pytest.skip(f"torch {torch.__version__} does not count it")
    operator, arguments = CASES[name]
    tensors = [each for each in arguments if isinstance(each, torch.Tensor)]

    def call(*inputs: torch.Tensor) -> Any:
        left = iter(inputs)
        return operator(*(next(left) if isinstance(a, torch.Tensor) else a for a in arguments))

    with FakeTensorMode() as mode:
        is_on_cuda = "attention" in name and "cpu" not in name
        fakes = [mode.from_tensor(t).to("cuda") if is_on_cuda else mode.from_tensor(t) for t in tensors]
        with FlopCounterMode(display=False) as counter:
            call(*fakes)
        module = make_fx(call, tracing_mode="fake")(*fakes)
    path = tmp_path / "operator.json"
    jointer_package.capture(module, path, kind="forward")
    assert jointer("info", path)["flops"]["torch_registry"] == counter.get_total_flops() > 0
