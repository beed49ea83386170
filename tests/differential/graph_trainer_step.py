"""Traces a training step of a small MoE model through torchtitan's graph_trainer and captures it before the
passes that test_graph_trainer_parallel.py compares. Needs no GPU: tensors and process groups are fake.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "python"))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import fx  # noqa: E402
from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: E402

# A twin of a group uses the default backend instead of NCCL, which requires a GPU.
if hasattr(dist, "ProcessGroupNCCL"):
    del dist.ProcessGroupNCCL

from torchtitan.config import TORCH_DTYPE_MAP  # noqa: E402
from torchtitan.distributed import ParallelDims  # noqa: E402
from torchtitan.distributed import utils as dist_utils  # noqa: E402
from torchtitan.experiments.graph_trainer import ep_chunk_pass  # noqa: E402
from torchtitan.experiments.graph_trainer import make_fx_tracer as tracer  # noqa: E402
from torchtitan.experiments.graph_trainer.common_utils import maybe_register_blockmask_pytree_node  # noqa: E402
from torchtitan.experiments.graph_trainer.passes import (  # noqa: E402
    _get_pass_name,
    apply_graph_passes,
    compile_time_passes,
)
from torchtitan.experiments.graph_trainer.precompile_main import _prepare_loss_for_precompile  # noqa: E402
from torchtitan.experiments.graph_trainer.trainer import make_fwd_bwd_step  # noqa: E402
from torchtitan.tools import utils  # noqa: E402

import jointer  # noqa: E402
from jointer.fake_device import without_gpu  # noqa: E402

LOOKED_AT = (
    "populate_chunk_dim_metadata_pass",
    "ep_overlap_chunk_pass",
    "isolate_ep_process_group_pass",
    "ep_overlap_schedule_pass",
    "concretize_ep_chunk_symbolic_shapes_pass",
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="deepseek_v3")
    parser.add_argument("--dp", type=int, required=True)
    parser.add_argument("--ep", type=int, required=True)
    parser.add_argument("--strategy", required=True)
    parser.add_argument("--dim", default="batch")
    parser.add_argument("--module-fqn", required=True)
    parser.add_argument("--late-sums", action="store_true", help="add gradients of chunks where eager adds them")
    parser.add_argument("--policy", default="default", help="which values are recomputed in the backward")
    parser.add_argument("--until", default=LOOKED_AT[-1], choices=LOOKED_AT, help="the last pass that runs")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq", type=int, default=512)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def configured(o: argparse.Namespace) -> Any:
    registry = importlib.import_module(f"torchtitan.experiments.graph_trainer.{o.model}.config_registry")
    names = {"deepseek_v3": "graph_trainer_deepseek_v3_debugmodel", "qwen3": "graph_trainer_qwen3_debugmodel_moe"}
    config = getattr(registry, names[o.model])()
    config.training.seq_len, config.training.local_batch_size = o.seq, o.batch
    config.training.disable_cuda_graphs = True
    config.parallelism.data_parallel_shard_degree = o.dp
    config.parallelism.expert_parallel_degree = o.ep
    config.compile.memory_policy = o.policy
    overlap = config.compile.ep_overlap
    overlap.enabled, overlap.strategy, overlap.chunk_dim, overlap.module_fqn = True, o.strategy, o.dim, o.module_fqn
    overlap.disable_early_grad_accumulation = o.late_sums
    return config


def half_way(env: Any, hint: int) -> torch.SymInt:
    """An unbacked size, marked like the one that torchtitan splits in two."""
    size = env.create_unbacked_symint()
    symbol = size.node.expr
    env.pending_fresh_unbacked_symbols.remove(symbol)
    env.constrain_symbol_range(symbol, hint // 2, hint)
    env.var_to_hint_override[symbol] = hint
    return size


def fakeify_with(o: argparse.Namespace, inputs: list[torch.Tensor]) -> Any:
    """Makes the inputs, which are already fake; those that graph chunking splits get a symbolic batch or sequence."""
    dim, hint = (0, o.batch) if o.dim == "batch" else (1, o.seq)
    marked = {id(each) for each in inputs if each.dim() > dim and each.shape[dim] == hint}
    sizes: list[torch.SymInt] = []

    def fakeify(mode: Any, tensor: torch.Tensor, *, input_name: str | None = None) -> torch.Tensor:
        if o.strategy != "graph" or id(tensor) not in marked:
            return tensor
        if not sizes:
            sizes.append(half_way(mode.shape_env, hint))
        shape: list[Any] = list(tensor.shape)
        shape[dim] = sizes[0]
        strides: list[Any] = list(tensor.stride())
        for outer in range(dim):
            strides[outer] = strides[outer] // hint * sizes[0]
        with mode:
            return torch.empty_strided(shape, strides, dtype=tensor.dtype, device=tensor.device)

    return fakeify


def names_as_read(module: Any, _: Any = None, **__: Any) -> Any:
    """Numbers new names as in a graph that was read from a file."""
    namespace = fx.graph._Namespace()
    for node in module.graph.nodes:
        assert namespace.create_name(node.name, node) == node.name
    module.graph._graph_namespace = namespace
    return module


def fix_materialized_views() -> None:
    """Fixes ep_overlap_chunk, which puts the sizes that a view of a whole gradient reads after that view, so
    that the graph is refused. Here they are placed right before it.
    """
    source = inspect.getsource(ep_chunk_pass._materialize_suffix_from_full_boundary)
    for old, new in (
        ("args, kwargs, meta, name = originals[node]", "args, kwargs, meta, name = originals[node]; at = current.next"),
        ("materialized_shape = _mat", "with gm.graph.inserting_before(at): materialized_shape = _mat"),
        ("with gm.graph.inserting_after(current):", "with gm.graph.inserting_before(at):"),
    ):
        assert source.count(old) == 1, "torchtitan's function has changed"
        source = source.replace(old, new)
    exec(source, vars(ep_chunk_pass))


def main() -> None:
    o = arguments()
    fix_materialized_views()
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("torchtitan") and hasattr(module, "device_type"):
            module.device_type = "cuda"
    config = configured(o)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=o.dp)
    dims = ParallelDims(
        dp_shard=o.dp, dp_replicate=1, cp=1, tp=1, pp=1, ep=o.ep, world_size=o.dp,
        spmd_backend=config.parallelism.spmd_backend,
    )  # fmt: skip
    dims.build_mesh()
    dist_utils.set_spmd_backend(config.parallelism.spmd_backend)
    spec = config.model_spec
    spec.model.update_from_config(config=config)
    with torch.device("meta"), utils.set_default_dtype(TORCH_DTYPE_MAP[config.training.dtype]):
        model = spec.model.build()
    with without_gpu() as fake:
        model = spec.parallelize_fn(
            model, parallel_dims=dims, training=config.training, parallelism=config.parallelism,
            compile_config=config.compile, ac_config=config.activation_checkpoint, dump_folder="",
        )  # fmt: skip

        class Shared:
            """The tracer creates its own mode, but fake inputs need the mode in which they were created."""

            def __new__(cls, *_: Any, **given: Any) -> Any:
                fake.shape_env = given.get("shape_env")
                return fake

        tracer.FakeTensorMode = Shared  # type: ignore[misc]
        with fake:
            model.to_empty(device="cuda")
            model.train()
            loss = config.loss.build(compile_config=config.compile)
            _prepare_loss_for_precompile(model, loss)
            tokens = [torch.randint(0, spec.model.vocab_size, (o.batch, o.seq), device="cuda") for _ in range(2)]
            total = torch.empty((), dtype=torch.int64, device="cuda")
            positions = torch.arange(0, o.seq, dtype=torch.int32, device="cuda").expand(o.batch, o.seq)
            with torch.compiler.set_stance("force_eager"):
                masks = model.get_attention_masks(positions=positions)
        extra = {"attention_masks": masks, "positions": positions}
        maybe_register_blockmask_pytree_node()
        leaves = [each for each in torch.utils._pytree.tree_leaves((tokens, extra)) if isinstance(each, torch.Tensor)]
        tracer._fakeify_input = fakeify_with(o, leaves)
        step = make_fwd_bwd_step(model, loss)

        def bound(*args: Any) -> Any:
            """Makes masks as long as the inputs, even if the length is a symbol."""
            changed = ep_chunk_pass.prepare_ep_overlap_trace_call_inputs(config.compile, args, {})
            return step(*(changed[0] if changed else args))

        traced = tracer.minimal_fx_tracer(bound, module=model)(*tokens, total, extra)
        o.out.mkdir(parents=True)
        passes: list[Any] = []
        for each in compile_time_passes(traced, config, parallel_dims=dims, include_inductor=False):
            if _get_pass_name(each) == "ep_overlap_chunk_pass":
                passes.append(names_as_read)
            if _get_pass_name(each) in LOOKED_AT:
                passes.append(jointer.capture_pass(o.out / f"before_{_get_pass_name(each)}.json.zst"))
            passes.append(each)
            if _get_pass_name(each) == o.until:
                passes.append(jointer.capture_pass(o.out / f"after_{o.until}.json.zst"))
                break
        apply_graph_passes(traced.gm, traced.example_inputs, passes, compile_config=config.compile)


if __name__ == "__main__":
    main()
