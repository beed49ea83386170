"""Captures the graphs of torchtitan's graph_trainer, without changes to training code.

graph_trainer's ``aot_fx_trace`` mode bypasses AOTAutograd: ``minimal_fx_tracer`` traces a flat
training step, ``apply_graph_passes`` runs a list of passes on it, and GraphPP splits the flat
training step of a pipeline stage into several graphs. Functions of all three are wrapped, without
changing their results. Functions that a version of torchtitan lacks are ignored.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from torch import fx

from .capture import STAGE_ROLES
from .import_hook import Patch, replace_function
from .state_names import StateNames, reachable_names, state_names

PACKAGE = "torchtitan.experiments.graph_trainer"


class Recorder(Protocol):
    """Writes the captures."""

    is_active: bool
    each_pass: bool

    def next_number(self) -> int: ...

    def save_step(
        self, gm: fx.GraphModule, number: int, names: StateNames | None, after: str | None
    ) -> None: ...

    def save_stages(
        self, stages: list[tuple[str, str, fx.GraphModule]], names: StateNames | None
    ) -> None: ...


@dataclass
class _Step:
    """A flat training step: its number, the names of its inputs and outputs, and the number of
    passes that ran on it."""

    number: int
    names: StateNames | None
    passes: int = 0


def patches(recorder: Recorder) -> dict[str, Patch]:
    """Patches for graph_trainer's modules, for ``import_hook.patched_modules``."""
    watcher = _Watcher(recorder)

    def patch(function: str, wrap: Callable[[Any], Any]) -> Patch:
        return lambda module: replace_function(module, function, wrap)

    return {
        f"{PACKAGE}.make_fx_tracer": patch("minimal_fx_tracer", watcher.tracer),
        f"{PACKAGE}.passes": patch("apply_graph_passes", watcher.apply),
        f"{PACKAGE}.graph_pp.graph_builder": patch("_annotate_graph_pp_modules", watcher.stages),
    }


class _Watcher:
    """Wrappers of graph_trainer's functions."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._steps: weakref.WeakKeyDictionary[fx.GraphModule, _Step] = (
            weakref.WeakKeyDictionary()
        )
        self._last_names: StateNames | None = None

    def tracer(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``minimal_fx_tracer`` to capture its results."""

        @functools.wraps(original)
        def minimal_fx_tracer(*args: Any, **options: Any) -> Callable[..., Any]:
            trace = original(*args, **options)
            module = options.get("module", args[1] if len(args) > 1 else None)

            @functools.wraps(trace)
            def trace_and_save(*inputs: Any, **keywords: Any) -> Any:
                traced = trace(*inputs, **keywords)
                if self._recorder.is_active:
                    self._save_traced(traced, module)
                return traced

            return trace_and_save

        return minimal_fx_tracer

    def apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``apply_graph_passes`` to capture the graph after each pass if requested."""

        @functools.wraps(original)
        def apply_graph_passes(
            gm: fx.GraphModule, example_inputs: Any, passes: Any, *args: Any, **options: Any
        ) -> fx.GraphModule:
            if not self._recorder.is_active:
                return original(gm, example_inputs, passes, *args, **options)
            step = self._steps.get(gm)
            if step is None and _is_of_a_stage(gm):  # being compiled, already captured
                return original(gm, example_inputs, passes, *args, **options)
            if step is None:  # traced elsewhere: read from a file, or before capturing began
                step = _Step(self._recorder.next_number(), reachable_names(gm))
                self._recorder.save_step(gm, step.number, step.names, None)
            if self._recorder.each_pass:
                passes = [self._saving(each, step) for each in passes]
            result = original(gm, example_inputs, passes, *args, **options)
            self._steps[result] = step
            return result

        return apply_graph_passes

    def stages(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the last function that GraphPP calls before it compiles the graphs of a stage, to
        capture these graphs."""

        @functools.wraps(original)
        def annotate(modules: Any, *args: Any, **options: Any) -> Any:
            result = original(modules, *args, **options)
            if self._recorder.is_active:
                stage = options.get("stage_index", args[0] if args else 0)
                # These are parts of the training step that was traced last, and their inputs have
                # the same names.
                names = self._last_names
                inputs = None if names is None else StateNames(names.inputs)
                self._recorder.save_stages(list(_stage_graphs(modules, stage)), inputs)
            return result

        return annotate

    def _save_traced(self, traced: Any, module: Any) -> None:
        names = None
        gm = traced.gm
        if hasattr(traced, "state_fqns"):
            names = state_names(traced, module)
        self._last_names = names
        step = self._steps[gm] = _Step(self._recorder.next_number(), names)
        self._recorder.save_step(gm, step.number, names, None)

    def _saving(self, graph_pass: Callable[..., Any], step: _Step) -> Callable[..., Any]:
        """``graph_pass`` under the same name, wrapped so that its result is captured."""
        name = getattr(getattr(graph_pass, "func", graph_pass), "__name__", "pass")

        def run(gm: fx.GraphModule, *args: Any, **options: Any) -> Any:
            result = graph_pass(gm, *args, **options)
            step.passes += 1
            if isinstance(result, fx.GraphModule):
                after = f"after_{step.passes:02d}_{name}"
                self._recorder.save_step(result, step.number, step.names, after)
            return result

        run.__name__ = run.__qualname__ = name
        return run


#: GraphPP's names of a stage's graphs, and their roles in a capture.
_GRAPHS = {
    "fw": "forward",
    "full_bw": "backward",
    "bw_di": "backward_input",
    "bw_dw": "backward_weight",
    "unshard": "unshard",
    "reduce_grad": "reduce_grad",
}
assert set(_GRAPHS.values()) == set(STAGE_ROLES)


def _is_of_a_stage(gm: fx.GraphModule) -> bool:
    """True if ``gm`` is one of the graphs into which GraphPP split a stage."""
    first = next(iter(gm.graph.nodes), None)
    return first is not None and first.meta.get("graph_pp_callable") in _GRAPHS


def _stage_graphs(modules: Any, stage: int) -> Iterator[tuple[str, str, fx.GraphModule]]:
    for attribute, role in _GRAPHS.items():
        gm = getattr(modules, attribute, None)
        if isinstance(gm, fx.GraphModule):
            yield f"stage{stage}.{role}", role, gm
