"""Compiles a graph to an AOTInductor package, without ``torch.export``.

Steps: inputs and outputs become tensors (``signature``); the graph is retraced with Inductor's
decompositions (upstream's ``inductor_decomposition``: ``make_fx`` with ``select_decomp_table()`` on
fake tensors, which preserves collectives); ``compile_fx_inner`` (upstream's
``full_inductor_compilation``) lowers it in ahead-of-time mode; the files are packed. The strides of
outputs are preserved, and random calls draw the same numbers as in eager mode.

Sizes are fixed to those of the capture; unbacked symbols remain symbolic.
"""

from __future__ import annotations

import operator
import tempfile
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv, free_unbacked_symbols

from . import symbols
from .artifacts import cache_folder
from .encode import HEAD
from .errors import first_line
from .retarget import captured_target, moved
from .signature import INTEGER, Signature, UnfitNode, adapt
from .triton import missing_kernel
from .values import captured_sizes
from .vec_isa import without_trials

#: Shape and stride of a tensor on this device.
Layout = tuple[tuple[int, ...], tuple[int, ...]]
Progress = Callable[[str], None]

#: Metadata key for the name of the node from which a retraced node originates.
_ORIGIN = "jointer_origin"

#: Random calls that the backward repeats. There is no equivalent in compiled code without Python.
_REPEATED_DRAWS = frozenset(
    {"run_and_save_rng_state", "run_with_rng_state", "graphsafe_run_with_rng_state"}
)


class CompileError(Exception):
    """Inductor cannot compile a graph; ``node`` is the cause, if known."""

    def __init__(self, text: str, node: str = "") -> None:
        super().__init__(text)
        self.node = node


@dataclass
class Compiled:
    """The result of a compilation."""

    signature: Signature
    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    #: Pairs of (index of an output, index of an input) of the package that share memory.
    aliases: list[tuple[int, int]]
    #: Indices of inputs that the package writes to.
    mutated: list[int]
    #: Layouts of tensor outputs by node name.
    layouts: dict[str, Layout]
    #: By node of the graph after Inductor's passes: the captured nodes that it computes.
    origins: dict[str, list[str]]


def check_compilable(gm: fx.GraphModule) -> None:
    """Raise ``CompileError`` for a node that no package can run."""
    for node in gm.graph.nodes:
        if node.op == "call_function" and captured_target(node) in _REPEATED_DRAWS:
            raise CompileError(
                f"{captured_target(node)}, a random call that the backward repeats, cannot be "
                "compiled; use the interpret backend",
                node.name,
            )


def compile_graph(
    gm: fx.GraphModule,
    device: torch.device,
    package: Path,
    *,
    layouts: Mapping[str, Layout] | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = lambda stage: None,
) -> Compiled:
    """Compile ``gm``, which ``retarget`` has prepared, and write ``package``.

    Args:
        gm: the graph, which is modified.
        device: the target device.
        package: a path that ends in ``.pt2``.
        layouts: layouts of inputs, by name, that differ from the capture's.
        options: options of ``torch._inductor.config``.
        progress: called with each stage as it begins.

    Raises:
        CompileError: the graph cannot be compiled.
    """
    unbacked = symbols.Unbacked((gm.meta.get(HEAD) or {}).get("symbols") or {})
    try:
        signature = adapt(gm, unbacked)
    except UnfitNode as error:
        raise CompileError(str(error), error.node) from None
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    inputs = _Inputs(mode, device, layouts or {}, unbacked)
    values = [inputs.of(node) for node in gm.graph.find_nodes(op="placeholder")]
    progress("decompose")
    traced = _decompose(mode, values, _Tracer(gm, inputs.sizes, unbacked))
    outputs = [node.meta["val"] for node in traced.graph.output_node().args[0]]
    aliases, mutated = _shared(values, outputs), _mutated(traced)
    captured = _captured_names(traced)
    progress("compile")
    with tempfile.TemporaryDirectory(prefix="jointer-inductor.") as work:
        files = _lower(traced, mode, values, Path(work) / "model", options or {})
        progress("package")
        from torch._inductor.package import package_aoti

        package_aoti(str(package), files)
    return Compiled(
        signature,
        [_describe(*each, value) for each, value in zip(signature.inputs, values, strict=True)],
        [_describe(*each, value) for each, value in zip(signature.results, outputs, strict=True)],
        aliases,
        mutated,
        {
            name: (tuple(value.shape), tuple(value.stride()))
            for (name, kind), value in zip(signature.results, outputs, strict=True)
            if kind != INTEGER and not free_unbacked_symbols((*value.shape, *value.stride()))
        },
        _origins(traced, captured),
    )


class _Inputs:
    """Fake tensors for the placeholders of a graph, with their properties at run time."""

    def __init__(
        self,
        mode: FakeTensorMode,
        device: torch.device,
        layouts: Mapping[str, Layout],
        unbacked: symbols.Unbacked,
    ) -> None:
        self._mode = mode
        self._device = device
        self._layouts = layouts
        self._unbacked = unbacked
        self._symbols: dict[str, Any] = {}
        #: For placeholders of integers, the number that sizes of tensors assume.
        self.sizes: dict[str, Any] = {}

    def of(self, node: fx.Node) -> Tensor:
        value = node.meta["val"]
        if not isinstance(value, Tensor):
            self.sizes[node.name] = symbols.evaluate(symbols.expression(value), self._symbol)
            with self._mode:
                return torch.empty((), dtype=torch.int64, device="cpu")
        if value.is_conj() or value.is_neg() or value.layout is not torch.strided:
            raise CompileError(
                "a conjugated, negated or sparse input cannot be compiled; "
                "use the interpret backend",
                node.name,
            )
        shape, stride = self._layouts.get(node.name) or self._captured(value)
        with self._mode:
            device = moved(value.device, self._device)
            return torch.empty_strided(shape, stride, dtype=value.dtype, device=device)

    def _captured(self, value: Tensor) -> tuple[Sequence[Any], Sequence[Any]]:
        known = captured_sizes(value)
        if known is None:
            return tuple(value.shape), tuple(value.stride())
        return (
            tuple(map(self._size, known.shape, value.shape)),
            tuple(map(self._size, known.stride, value.stride())),
        )

    def _size(self, size: Any, number: int) -> Any:
        if isinstance(size, Mapping) and self._unbacked(size["sym"]):
            return symbols.evaluate(size["sym"], self._symbol)
        return number

    def _symbol(self, name: str) -> Any:
        if name not in self._symbols:
            env = self._mode.shape_env
            with env.ignore_fresh_unbacked_symbols():  # bound by an input, not by an operator
                made = env.create_unbacked_symint()
            torch._check(made >= 0)
            self._symbols[name] = made
        return self._symbols[name]


class _Tracer(fx.Interpreter):
    """Runs a graph while it is retraced. Errors name the node."""

    def __init__(
        self, gm: fx.GraphModule, sizes: Mapping[str, Any], unbacked: symbols.Unbacked
    ) -> None:
        super().__init__(gm)
        self._sizes = sizes
        self._unbacked = unbacked

    def run_node(self, n: fx.Node) -> Any:
        if name := missing_kernel(n, {}):
            text = f"the Triton kernel {name} is not in this process"
            raise CompileError(f"{text}; use the regional method and exclude the node", n.name)
        n.meta["custom"] = {**(n.meta.get("custom") or {}), _ORIGIN: n.name}
        _forbid_assumed_sizes(n, self._unbacked)
        try:
            result = super().run_node(n)
            source = n.args[0] if n.target is torch.ops.aten._local_scalar_dense.default else None
            if isinstance(source, fx.Node) and source.name in self._sizes:
                torch._check(result == self._sizes[source.name])
            return result
        except CompileError:
            raise
        except Exception as error:
            raise CompileError(first_line(error), n.name) from error


def _forbid_assumed_sizes(node: fx.Node, unbacked: symbols.Unbacked) -> None:
    """Check that sizes known only at run time come from nodes, since their numbers are
    assumptions."""
    def check(each: Any) -> Any:
        if symbols.is_symbolic(each) and unbacked(symbols.expression(each)):
            raise CompileError(
                f"the size {symbols.expression(each)} is known only at run time, "
                "and no node computes it; use the interpret backend",
                node.name,
            )
        return each

    fx.node.map_aggregate((node.args, node.kwargs), check)


def _decompose(
    mode: FakeTensorMode, values: list[Tensor], tracer: _Tracer
) -> fx.GraphModule:
    from torch._inductor.decomposition import select_decomp_table

    with mode, torch.no_grad(), fx.traceback.preserve_node_meta():
        traced = make_fx(tracer.run, decomposition_table=select_decomp_table())(*values)
    # Tracing selects every result, but some lowerings do not produce unused results.
    for node in reversed(traced.graph.nodes):
        if node.target is operator.getitem and not node.users:
            traced.graph.erase_node(node)
    end = traced.graph.output_node()
    returned = end.args[0]
    end.args = (tuple(returned) if isinstance(returned, (tuple, list)) else (returned,),)
    # The packages of a pair must agree on the strides of saved tensors.
    end.meta["user_visible_output_idxs"] = list(range(len(end.args[0])))
    return traced


@contextmanager
def _ahead_of_time(
    mode: FakeTensorMode, values: list[Tensor], output: Path, options: Mapping[str, Any]
) -> Iterator[None]:
    from torch._dynamo.utils import get_metrics_context
    from torch._guards import TracingContext, tracing
    from torch._inductor import compile_fx, config
    from torch._inductor.virtualized import V

    patches = {
        "cpp_wrapper": True,
        "fallback_random": True,
        "aot_inductor.package": True,
        "aot_inductor.output_path": str(output),
        **_provenance(config),
        **options,
    }
    with ExitStack() as stack:
        for each in (
            without_trials(cache_folder()),
            config.patch(patches),
            config.patch(compile_fx.get_cpp_wrapper_config()),
            V.set_aot_compilation(True),
            V.set_real_inputs(values),
            V.set_fake_mode(mode),
            tracing(TracingContext(mode)),
            torch.no_grad(),
            get_metrics_context(),
            _fresh_provenance(),
        ):
            stack.enter_context(each)
        yield


def _provenance(config: Any) -> dict[str, Any]:
    """Options with which Inductor records in the package which nodes each kernel computes."""
    known = hasattr(config.trace, "provenance_tracking_level")
    return {"trace.provenance_tracking_level": 1} if known else {}


def _fresh_provenance() -> Any:
    """A context that keeps kernels of earlier compilations in this process out of the package."""
    from torch._inductor import debug

    return getattr(debug, "reset_provenance_globals", nullcontext)()


def _captured_names(traced: fx.GraphModule) -> dict[str, str]:
    """By node, the name of the captured node from which it originates."""
    return {
        node.name: custom[_ORIGIN]
        for node in traced.graph.nodes
        if isinstance(custom := node.meta.get("custom"), dict) and _ORIGIN in custom
    }


def _origins(traced: fx.GraphModule, captured: Mapping[str, str]) -> dict[str, list[str]]:
    """For each call that is left after Inductor's passes, the names of captured nodes."""
    left = _captured_names(traced)
    graph = id(traced.graph)
    origins = {}
    for node in traced.graph.nodes:
        if node.op != "call_function":
            continue
        sources = node.meta.get("from_node") or ()
        names = [left[node.name]] if node.name in left else _replaced(sources, graph, captured)
        if names:
            origins[node.name] = list(dict.fromkeys(names))
    return origins


def _replaced(sources: Iterable[Any], graph: int, captured: Mapping[str, str]) -> list[str]:
    """The captured nodes of the ``graph``'s nodes that a pass has replaced."""
    names: list[str] = []
    for source in sources:
        name = captured.get(source.name) if source.graph_id == graph else None
        names += [name] if name else _replaced(source.from_node or (), graph, captured)
    return names


def _lower(
    traced: fx.GraphModule,
    mode: FakeTensorMode,
    values: list[Tensor],
    output: Path,
    options: Mapping[str, Any],
) -> list[Any]:
    from torch._inductor.compile_fx import compile_fx_inner

    try:
        with _ahead_of_time(mode, values, output, options):
            result = compile_fx_inner(traced, values, cpp_wrapper=True, is_inference=True)
    except Exception as error:
        node = _culprit(error.__traceback__)
        raise CompileError(first_line(error), node) from error
    return result.filename


def _culprit(trace: types.TracebackType | None) -> str:
    """The node of the captured graph that was being processed, found on the stack."""
    found = ""
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values()):
            if isinstance(value, fx.Node) and isinstance(value.meta.get("custom"), dict):
                found = value.meta["custom"].get(_ORIGIN, found)
        trace = trace.tb_next
    return found


def _shared(values: Sequence[Tensor], outputs: Sequence[Tensor]) -> list[tuple[int, int]]:
    places = {_storage(value): index for index, value in enumerate(values)}
    return [
        (index, places[_storage(value)])
        for index, value in enumerate(outputs)
        if _storage(value) in places
    ]


def _storage(value: Tensor) -> int:
    return value.untyped_storage()._cdata


def _mutated(traced: fx.GraphModule) -> list[int]:
    """The placeholders whose memory a node writes to."""
    inputs = traced.graph.find_nodes(op="placeholder")
    places = {_storage(node.meta["val"]): index for index, node in enumerate(inputs)}
    written: set[int] = set()
    for node in traced.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None or not schema.is_mutable:
            continue
        for argument, value in zip(schema.arguments, node.args, strict=False):
            if argument.alias_info and argument.alias_info.is_write:
                for each in value if isinstance(value, (list, tuple)) else [value]:
                    tensor = each.meta.get("val") if isinstance(each, fx.Node) else None
                    if isinstance(tensor, FakeTensor) and _storage(tensor) in places:
                        written.add(places[_storage(tensor)])
    return sorted(written)


def _describe(name: str, kind: str, value: Tensor) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": value.device.type,
        "shape": [_number(size) for size in value.shape],
        "stride": [_number(size) for size in value.stride()],
    }


def _number(size: Any) -> int | None:
    """The size; ``None`` if it is known only at run time."""
    return None if free_unbacked_symbols(size) else int(size)
