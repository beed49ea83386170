"""Runs one pass on the graph of a capture, and captures the result.

For a pair, the pass runs on the forward graph and then on the backward graph, as in compilers.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from torch import fx

from . import host_passes, host_values
from .counted import counted
from .document import read_document, write_document
from .encode import HEAD, encode_graph
from .errors import CaptureError, first_line
from .events import Events
from .graph_pass import LISTENER, decide
from .host import HostError, one_line
from .host_measure import nothing_measured
from .host_ordering import unwrap_control_deps
from .host_symbols import SymbolicScalars
from .load import load_document
from .signature import graph_outputs
from .targets import qualified_name, target_name

Json = dict[str, Any]


def _check_calls(graph: fx.Graph) -> None:
    """Check that the graph can run, since captures may call any function, but a pass's result may
    not."""
    for node in graph.nodes:
        if node.op in ("call_method", "call_module"):
            raise CaptureError(
                f"node {node.name}: a {node.op} of {node.target!r}; call an operator instead"
            )
        if node.op == "call_function" and target_name(node.target) is None:
            function = qualified_name(node.target)
            raise CaptureError(f"node {node.name}: calls {function}, which is not an operator")


class _Listener:
    """Forwards the reports of a pass while it runs on part ``index`` of ``count``."""

    def __init__(self, events: Events, index: int, count: int) -> None:
        self._events = events
        self._index = index
        self._count = count

    def progress(self, done: float) -> None:
        done = min(max(float(done), 0.0), 1.0)
        self._events.say("progress", done=(self._index + done) / self._count)

    def decide(self, node: str, action: str, reason: str) -> None:
        name = f"backward:{node}" if node and self._index else node
        self._events.say("decision", node=name, action=str(action), reason=str(reason))


def run(request: Json, events: Events) -> None:
    """Answer a request of kind ``run``.

    Raises:
        HostError: the request is invalid, or the pass failed.
    """
    found = _find(request)
    given = host_passes.arguments(found.function, request.get("arguments") or {})
    try:
        document = read_document(request["graph"])
        loaded = load_document(document)
    except (CaptureError, OSError) as error:
        raise HostError("pass", f"the host cannot read the graph: {error}") from None
    parts = loaded if isinstance(loaded, tuple) else (loaded,)
    costs = request.get("costs") or {}
    results = []
    for index, gm in enumerate(parts):
        listener = _Listener(events, index, len(parts))
        prefix = "backward:" if index else ""
        names = [node.name for node in gm.graph.nodes if prefix + node.name in costs]
        milliseconds = {name: costs[prefix + name] / 1e6 for name in names}
        token = LISTENER.set(listener)
        try:
            with nothing_measured(milliseconds):
                results.append(_result(found, gm, given))
        finally:
            LISTENER.reset(token)
    write_document(_document(document, results), request["result"])


def _find(request: Json) -> host_passes.DeclaredPass:
    every = host_passes.find_passes(request["spec"])
    wanted = [each for each in every if each.name == request.get("function")] or every
    if len(wanted) != 1:
        raise HostError("usage", f"{request['spec']} has no pass {request.get('function')}")
    return wanted[0]


def _result(found: host_passes.DeclaredPass, gm: fx.GraphModule, given: Mapping[str, Any]) -> Json:
    """The capture of the pass's result on ``gm``."""
    inputs = [node.meta.get("val") for node in gm.graph.find_nodes(op="placeholder")]
    head = gm.meta.get(HEAD)
    before = host_values.Before(gm.graph)
    scalars = SymbolicScalars(gm)
    scalars.make_real()
    handed: dict[str, Any] = {}
    positional: list[Any] = [gm.graph if host_passes.takes_graph(found.function) else gm]
    if (parameter := host_passes.inputs_parameter(found.function)) is not None:
        if parameter.kind is parameter.KEYWORD_ONLY:
            handed[parameter.name] = inputs
        else:
            positional.append(inputs)
    try:
        returned = found.function(*positional, **handed, **given)
    except MemoryError:
        raise
    except BaseException as error:
        traceback.print_exc()
        if "allocate memory" in str(error) or "not enough memory" in str(error):
            raise MemoryError from None
        verb = "ended the process with" if isinstance(error, SystemExit) else "raised"
        raise HostError("pass", f"{verb} {one_line(error, found.file)}") from None
    result = gm if returned is None or returned is gm.graph else returned
    if isinstance(result, fx.Graph):
        result = fx.GraphModule(gm, result)
    if not isinstance(result, fx.GraphModule):
        kind = type(result).__name__
        raise HostError(
            "pass",
            f"returned a {kind}; expected a torch.fx.GraphModule, its graph, or None",
        )
    if head is not None:
        result.meta.setdefault(HEAD, head)
    try:
        scalars.restore(result)
        _unwrap_control_deps(result)
        result.graph.lint()
        host_values.complete(result, before)
        _leave_out_descriptors(result.graph)
        _check_calls(result.graph)
        return encode_graph(result)
    except MemoryError:
        raise
    except CaptureError as error:
        raise HostError("pass", f"the returned graph cannot be used: {error}") from None
    except Exception as error:
        traceback.print_exc()
        reason = first_line(error)
        raise HostError("pass", f"the returned graph is invalid: {reason}") from None


def _unwrap_control_deps(gm: fx.GraphModule) -> None:
    if count := unwrap_control_deps(gm):
        decide(
            "",
            "unwrapped",
            f"{counted(count, 'call was', 'calls were')} wrapped in control_deps, which only tells "
            "a compiler what to run first: the wrapping was removed, and the order is that of the "
            "pass.",
        )


def _leave_out_descriptors(graph: fx.Graph) -> None:
    """Drop the descriptors of outputs if the number of outputs changed, since descriptors are
    matched by index. The caller compares the result with the original graph and reports the
    error."""
    end = graph.output_node()
    descriptors = end.meta.get("desc")
    if isinstance(descriptors, (list, tuple)) and len(descriptors) != len(graph_outputs(graph)):
        del end.meta["desc"]


def _document(document: Json, results: list[Json]) -> Json:
    if document.get("kind") != "pair":
        return results[0]
    return {**document, "forward": results[0], "backward": results[1]}
