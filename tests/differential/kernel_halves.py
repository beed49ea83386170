"""The graphs of a model as Inductor gets them, and the kernels that it makes of them.

    kernel_halves.py NAME FOLDER    writes FOLDER/NAME.KIND.json.zst, the capture of each graph, and what
                                    inductor_oracle.py finds for it, FOLDER/NAME.KIND.kernels.json.zst

NAME is a model of kernel_models.py or half_models.py. KIND is forward or backward or, without gradients, train_step.

`torch.compile` traces the model, and `compile_fx` decomposes the joint graph, runs Inductor's passes on it, and
partitions it. Each graph is captured when it is given to what compiles graphs (`compile_fx_inner`).

Needs torch 2.15 with triton, and the tools of the shared folder (JOINTER_SHARED); no GPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

PYTHON = Path(__file__).resolve().parents[2] / "resources" / "python"


def attention(q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
              scale: float | None = None, enable_gqa: bool = False) -> Any:
    """Scaled dot product attention by the kernel that torch chooses for an H100. It would ask the GPU."""
    import torch

    aten = torch.ops.aten
    if attn_mask is None and q.dtype in (torch.bfloat16, torch.float16):
        return aten._scaled_dot_product_flash_attention(q, k, v, dropout_p, is_causal, scale=scale)[0]
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.where(attn_mask, 0.0, float("-inf")).to(q.dtype)
        attn_mask = attn_mask.expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    needs_sums = any(each.requires_grad for each in (q, k, v))
    return aten._scaled_dot_product_efficient_attention(q, k, v, attn_mask, needs_sums, dropout_p, is_causal,
                                                        scale=scale)[0]


@contextmanager
def without_driver() -> Iterator[None]:
    """Functions that would start the driver, of which Dynamo, AOTAutograd and the passes on joint graphs use some."""
    import torch
    from torch._C import DispatchKey
    from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder
    from torch.fx.experimental import proxy_tensor

    deduce_value = UniformValueConstantFolder._deduce_value

    def deduced_on_cpu(self: Any, node: Any) -> Any:
        """Constants are computed, which torch does on the GPU."""
        kwargs = node.kwargs
        if node.target is torch.ops.prims.device_put.default:
            return self.env[node.args[0]]
        if "device" not in kwargs:
            return deduce_value(self, node)
        node.kwargs = {**kwargs, "device": torch.device("cpu")}
        try:
            return deduce_value(self, node)
        finally:
            node.kwargs = kwargs

    state = torch.zeros(16, dtype=torch.uint8)
    operator = torch.ops.aten.scaled_dot_product_attention.default
    with ExitStack() as stack:
        for owner, name, replacement in (
            (torch.cuda, "get_rng_state", lambda *_: state),
            (torch.cuda, "set_rng_state", lambda *_: None),
            (torch.cuda, "is_current_stream_capturing", lambda: False),
            (UniformValueConstantFolder, "_deduce_value", deduced_on_cpu),
            (proxy_tensor, "CONSTANT_NUMEL_LIMIT", 0),  # numbers that move to the GPU have no known value
        ):
            stack.enter_context(mock.patch.object(owner, name, replacement))
        stack.enter_context(mock.patch.dict(operator.py_kernels, {DispatchKey.CompositeImplicitAutograd: attention}))
        yield


def capture_halves(name: str, folder: Path) -> None:
    sys.path.insert(0, str(PYTHON))
    import jointer
    import torch
    import torch.distributed as dist
    from half_models import RANKS, half_models
    from jointer.fake_device import without_gpu
    from jointer.pretended_gpu import GPUS, pretended_gpu
    from kernel_models import models
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    make, inputs, dtype = {**models(), **half_models(dist.group.WORLD.group_name)}[name]
    torch.set_default_dtype(getattr(torch, dtype))

    def written(gm: Any, example_inputs: Any, is_backward: bool = False, is_inference: bool = False, **_: Any) -> Any:
        kind = "backward" if is_backward else "train_step" if is_inference else "forward"
        jointer.capture(gm, folder / f"{name}.{kind}.json.zst", kind=kind, name=f"{name}.{kind}")

        def run(values: list[Any]) -> Any:
            return gm(*values)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    def backend(gm: Any, values: Any) -> Any:
        with pretended_gpu(GPUS["h100"]):
            return compile_fx(gm, values, inner_compile=written)

    # Padding of matrix products is decided by measuring them.
    with without_gpu() as mode, without_driver(), config.patch(shape_padding=False, force_disable_caches=True), mode:
        with torch.device("cuda"):
            model = make()
            values = [torch.empty(shape, dtype=getattr(torch, each)) for shape, each in inputs]
        loss = torch.compile(model, backend=backend, fullgraph=True)(*values)
        if loss.requires_grad:
            loss.backward()  # Only then is the backward compiled.


def main(name: str, path: str) -> None:
    folder = Path(path)
    # In separate processes: while autograd runs, the GPU is faked in a different way.
    subprocess.run([sys.executable, __file__, name, path, "capture"], check=True)
    paths = [str(each) for each in sorted(folder.glob(f"{name}.*.json.zst")) if "kernels" not in each.name]
    answers = [each.replace(".json.zst", ".kernels.json.zst") for each in paths]
    asked = Path(__file__).with_name("asked_kernels.py")
    subprocess.run([sys.executable, str(asked), *[each for pair in zip(paths, answers) for each in pair]], check=True,
                   env={**os.environ})


if __name__ == "__main__":
    capture_halves(sys.argv[1], Path(sys.argv[2])) if len(sys.argv) > 3 else main(*sys.argv[1:])
