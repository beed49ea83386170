"""The kernels that Inductor's scheduler generates for a graph.

Runs the steps of ``torch._inductor.compile_fx`` up to code generation on fake tensors, for a GPU
that need not exist (``pretended_gpu``): decomposition, post-grad passes, lowering, fusion, and
memory reordering. Nothing is compiled or run.

Steps
  1. The capture is loaded and traced again with Inductor's decompositions, as torchtitan's
     ``inductor_decomposition`` does. Each new node knows the call of the capture that it comes
     from. Placeholders keep their names: Inductor decides by name which inputs it may free.
  2. ``view_to_reshape``, fake tensor propagation and the post-grad passes, as in
     ``compile_fx_inner``.
  3. ``GraphLowering.run`` makes IR; for every operation, the node being lowered is recorded, since
     the origins that Inductor records for an extern kernel include its inputs.
  4. ``Scheduler`` fuses the operations and reorders them. Each refusal to fuse is recorded.

Autotuning, benchmarking and caches are off, so the result depends only on the graph, the torch
version and the GPU.

Calls of operators and Triton kernels that this process lacks become extern kernels with the
captured results.

Deviations from a compilation by ``torch.compile``: each half is lowered as captured, without the
joint-graph passes that run before partitioning; the strides of outputs are not fixed, as when
``compile_fx_inner`` is called directly; sizes are numbers.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch import Tensor, fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._ordered_set import OrderedSet
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten
from torch.utils.flop_counter import flop_registry

from .arguments import Opaque
from .encode import HEAD
from .errors import CaptureError, first_line
from .targets import UnknownOperator
from .triton import missing_kernel

#: Metadata key for the call of the capture from which a node of the lowered graph originates.
_ORIGIN = "jointer_origin"

#: The kinds that are counted as kernels on the device. Collectives are not, and the remaining kinds
#: only name, wait for or select results.
_KERNELS = frozenset(
    {"pointwise", "reduction", "mix_order_reduction", "template", "foreach", "extern"}
)

_SETTINGS = {
    "compile_threads": 1,
    "max_autotune": False,
    "max_autotune_gemm": False,
    "benchmark_kernel": False,
    "benchmark_fusion": False,
    "force_disable_caches": True,
    "triton.autotune_at_compile_time": False,
}

#: Calls that change only the shape although their schemas do not declare views.
_RESHAPES = frozenset({torch.ops.aten._unsafe_view.default, torch.ops.aten.reshape.default})

#: Numbers of the operators that stand for missing ones; names must be unique in the process.
_numbers = itertools.count()

#: Called with the stage that runs ("decompose", "lower", "fuse", "reorder"), the number of nodes
#: that are done, and the number of all nodes; both are 0 in stages that do not count nodes.
Tell = Callable[[str, int, int], None]

#: Lowering is recursive in the depth of inlined expressions.
_RECURSION = 20_000


@dataclass
class _Scheduled:
    """The scheduler's result and the facts that were recorded on the way to it."""

    graph: Any
    #: The node of the lowered graph for which each operation was made, by the operation's name.
    lowered: dict[str, fx.Node]
    #: Reasons of refused fusions, by the names of both nodes; the last attempt counts.
    refused: dict[tuple[str, str], str]

    @property
    def scheduler(self) -> Any:
        return self.graph.scheduler


# --- Steps 1 to 4 ---


class _Retracer(fx.Interpreter):
    """Runs a graph while ``make_fx`` traces it. New nodes know the node that they come from."""

    def __init__(self, gm: fx.GraphModule, tell: Tell) -> None:
        super().__init__(gm)
        self._tell = tell
        self._done = 0
        self._of = len(gm.graph.nodes)

    def run_node(self, n: fx.Node) -> Any:
        self._tell("decompose", self._done, self._of)
        self._done += 1
        n.meta["custom"] = {**(n.meta.get("custom") or {}), _ORIGIN: n.name}
        if n.op == "call_function":
            value = n.meta.get("val")
            if missing_kernel(n, {}) or isinstance(n.target, UnknownOperator):
                return self._opaque(n, value)
            if value is not None and not isinstance(value, (Tensor, list, tuple)):
                return value  # a number that the capture assumes
            if n.target is torch.ops.aten._assert_scalar.default:
                return None
        try:
            return super().run_node(n)
        except CaptureError:
            raise
        except Exception as error:
            reason = first_line(error)
            raise CaptureError(f"node {n.name} cannot be decomposed: {reason}") from error

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return ``None`` for objects that the capture only describes, such as device meshes."""
        return tree_map_only(Opaque, lambda _: None, super().output(target, args, kwargs))

    def _opaque(self, n: fx.Node, value: Any) -> Any:
        """Call an operator that stands for one that this process lacks. It reads the tensors that
        the call reads and returns tensors as captured; Inductor makes an extern kernel of it."""
        results, structure = tree_flatten(value)
        layouts = [
            (tuple(each.shape), each.stride(), each.dtype, each.device)
            for each in results
            if isinstance(each, Tensor)
        ]
        operator = torch.library.custom_op(
            f"jointer_kernels::opaque_{next(_numbers)}",
            lambda inputs: [],
            mutates_args=(),
            schema="(Tensor[] inputs) -> Tensor[]",
        )
        operator.register_fake(
            lambda inputs: [
                torch.empty_strided(shape, stride, dtype=dtype, device=device)
                for shape, stride, dtype, device in layouts
            ]
        )
        given = tree_leaves(self.fetch_args_kwargs_from_env(n))
        made = iter(operator._opoverload([each for each in given if isinstance(each, Tensor)]))
        returned = [next(made) if isinstance(each, Tensor) else each for each in results]
        return tree_unflatten(returned, structure)


def _decompose(gm: fx.GraphModule, tell: Tell) -> tuple[fx.GraphModule, FakeTensorMode, list[Any]]:
    from torch._inductor.decomposition import select_decomp_table

    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    placeholders = gm.graph.find_nodes(op="placeholder")
    with mode:
        values = [_fresh(node.meta.get("val")) for node in placeholders]
    with mode, torch.no_grad(), fx.traceback.preserve_node_meta():
        traced = make_fx(_Retracer(gm, tell).run, decomposition_table=select_decomp_table())(*values)
    # Tracing selects every result, but some lowerings do not produce unused results.
    for node in reversed(traced.graph.nodes):
        if getattr(node.target, "__name__", "") == "getitem" and not node.users:
            traced.graph.erase_node(node)
    _keep_names(placeholders, traced)
    end = traced.graph.output_node()
    returned = end.args[0]
    end.args = (tuple(returned) if isinstance(returned, (tuple, list)) else (returned,),)
    traced.recompile()
    return traced, mode, values


def _fresh(value: Any) -> Any:
    if isinstance(value, Opaque):
        return None  # such as a device mesh
    if not isinstance(value, Tensor):
        return value
    return torch.empty_strided(
        value.shape, value.stride(), dtype=value.dtype, device=value.device
    )


def _keep_names(old: Sequence[fx.Node], traced: fx.GraphModule) -> None:
    """Give the placeholders of ``traced`` the names of ``old``."""
    new = traced.graph.find_nodes(op="placeholder")
    wanted = {node.name for node in old}
    for node in traced.graph.nodes:
        if node.name in wanted:
            node._rename(f"{node.name}_traced")
    for before, after in zip(old, new, strict=True):
        after._rename(before.name)
        after.name = after.target = before.name


def kernels_of(gm: fx.GraphModule, tell: Tell | None = None) -> dict[str, Any]:
    """The kernels of ``gm``, which ``load`` returned, in the order in which they run.

    Args:
        gm: the graph.
        tell: called when a stage begins and, in stages that count nodes, before every node.

    Returns:
        ``source`` ("inductor"), ``torch`` (version), ``kernels``, ``device_kernels`` (the number of
        kernels on the GPU or, if none runs on a GPU, on the CPU), ``memory_bound`` (number and
        bytes of those without FLOPs), ``peak_bytes`` (memory that a kernel frees counts until the
        kernel has run) and ``not_fused``.

    Raises:
        CaptureError: a node cannot be decomposed; the message names it.
    """
    from torch._guards import TracingContext, tracing
    from torch._inductor import compile_fx, config
    from torch._inductor.debug import DebugContext
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V

    tell = tell or (lambda stage, done, of: None)
    kind = (gm.meta.get(HEAD) or {}).get("kind")
    calls = {node.name: node for node in gm.graph.nodes if node.op == "call_function"}
    traced, mode, values = _decompose(gm, tell)
    with contextlib.ExitStack() as stack:
        for each in (
            config.patch(_known_settings(config)),
            V.set_fake_mode(mode),
            torch.no_grad(),
            tracing(TracingContext(mode)),
            DebugContext(),
            _deep_recursion(),
        ):
            stack.enter_context(each)
        compile_fx.view_to_reshape(traced)
        compile_fx.fake_tensor_prop(traced, values)
        compile_fx._recursive_record_original_output_strides(traced)
        compile_fx._recursive_post_grad_passes(traced, is_inference=False)
        graph = GraphLowering(
            traced,
            example_inputs=values,
            shape_env=mode.shape_env,
            graph_id=0,
            is_inference=False,
            is_backward=kind == "backward",
            inputs_to_check=compile_fx.get_input_idxs_to_check(values, ()),
        )
        if hasattr(graph, "freeze_runtime_asserts"):
            graph.freeze_runtime_asserts()
        stack.enter_context(V.set_graph_handler(graph))
        stack.enter_context(V.set_extern_kernel_nodes([]))
        stack.enter_context(_distributed_autotuning())
        with _recorded_operations(graph) as lowered, _counted_nodes(graph, traced, tell):
            graph.run(*values)
        graph.init_wrapper_code()
        tell("fuse", 0, 0)
        with _recorded_refusals() as refused, _announced_reordering(tell):
            graph._update_scheduler()
        return _describe(_Scheduled(graph, lowered, refused), calls)


def _known_settings(config: Any) -> dict[str, Any]:
    """The settings that this version of torch has."""

    def is_known(name: str) -> bool:
        owner = config
        for part in name.split("."):
            if not hasattr(owner, part):
                return False
            owner = getattr(owner, part)
        return True

    return {name: value for name, value in _SETTINGS.items() if is_known(name)}


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _distributed_autotuning() -> contextlib.AbstractContextManager[Any]:
    """The context that lowering expects in versions of torch that have it."""
    try:
        from torch._inductor import distributed_autotune
    except ImportError:
        return contextlib.nullcontext()
    return distributed_autotune.graph_context()


@contextlib.contextmanager
def _recorded_operations(graph: Any) -> Iterator[dict[str, fx.Node]]:
    """Record the node for which each operation other than a loop is made."""
    from torch._inductor import ir
    from torch._inductor.virtualized import V

    made: dict[str, fx.Node] = {}
    register = graph.register_operation

    def register_operation(operation: Any, *args: Any, **kwargs: Any) -> str:
        name = register(operation, *args, **kwargs)
        if V.graph.current_node is not None and not isinstance(operation, ir.ComputedBuffer):
            made[name] = V.graph.current_node
        return name

    with mock.patch.object(graph, "register_operation", register_operation):
        yield made


@contextlib.contextmanager
def _counted_nodes(graph: Any, traced: fx.GraphModule, tell: Tell) -> Iterator[None]:
    """Report how many nodes have been lowered."""
    number = itertools.count()
    of = len(traced.graph.nodes)
    lower = graph.run_node

    def run_node(node: fx.Node) -> Any:
        tell("lower", next(number), of)
        return lower(node)

    with mock.patch.object(graph, "run_node", run_node):
        yield


@contextlib.contextmanager
def _announced_reordering(tell: Tell) -> Iterator[None]:
    """Report when the scheduler has fused the kernels and begins to order them for low memory."""
    from torch._inductor import memory

    reorder = memory.reorder_for_peak_memory

    def reorder_for_peak_memory(*args: Any, **kwargs: Any) -> Any:
        tell("reorder", 0, 0)
        return reorder(*args, **kwargs)

    with mock.patch.object(memory, "reorder_for_peak_memory", reorder_for_peak_memory):
        yield


@contextlib.contextmanager
def _recorded_refusals() -> Iterator[dict[tuple[str, str], str]]:
    """Record why the scheduler does not fuse pairs of nodes."""
    from torch._inductor import scheduler

    refused: dict[tuple[str, str], str] = {}
    say = scheduler.WhyNoFuse.__call__

    def record(self: Any, reason: str, *args: Any) -> None:
        say(self, reason, *args)
        with contextlib.suppress(Exception):  # a reason whose text does not match its arguments
            refused.pop((self.name1, self.name2), None)  # the order is that of the last attempts
            refused[self.name1, self.name2] = reason % args if args else reason

    with mock.patch.object(scheduler.WhyNoFuse, "__call__", record):
        yield refused


# --- The answer ---


def _describe(result: _Scheduled, calls: Mapping[str, fx.Node]) -> dict[str, Any]:
    devices = [str(node.get_device() or "").partition(":")[0] for node in result.scheduler.nodes]
    kernels = [
        {**_kernel(node, result, calls), "device": device}
        for node, device in zip(result.scheduler.nodes, devices, strict=True)
    ]
    main = "cuda" if "cuda" in devices else "cpu"
    on_device = [
        kernel
        for kernel, device in zip(kernels, devices, strict=True)
        if kernel["kind"] in _KERNELS and device == main
    ]
    bound = [each for each in on_device if not each["flops"]]
    return {
        "source": "inductor",
        "torch": torch.__version__.partition("+")[0],
        "kernels": kernels,
        "device_kernels": len(on_device),
        "memory_bound": {"kernels": len(bound), "bytes": sum(each["bytes"] for each in bound)},
        "peak_bytes": _peak_bytes(result),
        "not_fused": _not_fused(result),
    }


def _kernel(node: Any, result: _Scheduled, calls: Mapping[str, fx.Node]) -> dict[str, Any]:
    computed = [name for part in node.get_nodes() for name in _computed(part, result)]
    names = [name for name in dict.fromkeys(computed) if name in calls and not _is_view(calls[name])]
    reads, writes = (
        sum(
            node.get_read_write_buffer_accesses(
                include_reads=reads, include_writes=not reads
            ).values()
        )
        for reads in (True, False)
    )
    return {
        "name": node.get_name(),
        "kind": _kind(node),
        "nodes": names,
        "reads_bytes": int(reads),
        "writes_bytes": int(writes),
        "bytes": int(node.get_read_write_buffers_sizes()),
        "flops": _flops(node, names, calls),
        "ms": _estimated_ms(node),
        "iterations": _iterations(node),
    }


def _computed(part: Any, result: _Scheduled) -> list[str]:
    """The calls of the capture that an operation computes."""
    operation = part.node
    if operation is None:
        return []
    known = result.lowered.get(operation.get_operation_name())
    if known is not None:
        return _origins([known])
    externs = set(result.lowered.values())
    return _origins([each for each in operation.get_origins() if each not in externs])


def _origins(nodes: Sequence[fx.Node]) -> list[str]:
    found = ((node.meta.get("custom") or {}).get(_ORIGIN) for node in nodes)
    return [name for name in found if name is not None]


def _is_view(call: fx.Node) -> bool:
    return getattr(call.target, "is_view", False) or call.target in _RESHAPES


def _kind(node: Any) -> str:
    from torch._inductor import ir, scheduler

    if isinstance(node, scheduler.NopKernelSchedulerNode):
        return "nop"
    if isinstance(node, scheduler.ForeachKernelSchedulerNode):
        return "foreach"
    if isinstance(node, getattr(scheduler, "FusedMixOrderReductions", ())):
        return "mix_order_reduction"
    if node.is_template():
        return "template"
    if not isinstance(node, scheduler.ExternKernelSchedulerNode):
        return "reduction" if node.is_reduction() else "pointwise"
    if isinstance(node.node, ir.MultiOutput):
        return "multi_output"
    if isinstance(node.node, ir._WaitKernel):
        return "wait"
    if isinstance(node.node, ir._CollectiveKernel):
        return "collective"
    operator = getattr(node.node, "op_overload", None)
    return "view" if getattr(operator, "is_view", False) else "extern"


def _flops(node: Any, names: Sequence[str], calls: Mapping[str, fx.Node]) -> int:
    """Inductor's FLOPs or, where it gives none, those of torch's registry for the calls."""
    with contextlib.suppress(Exception):  # FLOPs are unknown for some operators
        if flops := node.estimate_flops():
            return int(flops)
    packet = getattr(getattr(node.node, "op_overload", None), "overloadpacket", None)
    if packet not in flop_registry:
        return 0
    with contextlib.suppress(Exception):  # torch 2.11's fails for fewer key heads than query heads
        return sum(_registry_flops(calls[name]) for name in names)
    return 0


def _registry_flops(call: fx.Node) -> int:
    count = flop_registry.get(getattr(call.target, "overloadpacket", None))
    if count is None:
        return 0

    def value(node: fx.Node) -> Any:
        return node.meta.get("val")

    args = fx.node.map_arg(call.args, value)
    kwargs = fx.node.map_arg(call.kwargs, value)
    return int(count(*args, **kwargs, out_val=call.meta.get("val")))


def _iterations(node: Any) -> list[int] | None:
    """The numbers of iterations of the outer loops and of the reduced ones; ``None`` for calls."""
    try:
        _, (numel, rnumel) = node.group
        return [int(numel), int(rnumel)]
    except Exception:  # calls have no group, or an empty one
        return None


def _estimated_ms(node: Any) -> float | None:
    """Inductor's own estimate; ``None`` if it fails."""
    try:
        return float(node.get_estimated_runtime())
    except Exception:  # some data types have no FLOPs in torch's tables
        return None


def _peak_bytes(result: _Scheduled) -> int:
    from torch._inductor import memory

    graph, scheduler = result.graph, result.scheduler
    inputs = OrderedSet(graph.graph_inputs.keys())
    outputs = OrderedSet(graph.get_output_names())
    _, freeable = memory.prepare_planning_info(
        scheduler.nodes, scheduler.name_to_buf, scheduler.name_to_fused_node, inputs, outputs
    )
    return int(memory.estimate_peak_memory_allocfree(scheduler.nodes, freeable, outputs)[0])


def _not_fused(result: _Scheduled) -> list[dict[str, str]]:
    """Pairs of kernels that were not fused, with the last reason that was given."""
    kernel_of = {
        part.get_name(): node.get_name()
        for node in result.scheduler.nodes
        for part in node.get_nodes()
    }

    def kernel(name: str) -> str | None:
        """A fused node is named after its parts: op1_op2."""
        return kernel_of.get(name) or kernel_of.get(name.partition("_")[0])

    reasons: dict[tuple[str, str], str] = {}
    for (first, second), reason in result.refused.items():
        a, b = kernel(first), kernel(second)
        if a is None or b is None or a == b:
            continue
        pair = (b, a) if (b, a) in reasons else (a, b)
        reasons.pop(pair, None)
        reasons[pair] = reason
    return [{"a": a, "b": b, "reason": reason} for (a, b), reason in reasons.items()]
