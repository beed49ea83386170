"""Recipes on live graphs: what was edited in the window, done again where training happens.

``apply_recipe`` replays one in place on a ``torch.fx.GraphModule``; ``recipe_pass`` is the same as
a graph pass for any list of passes. ``docs/recipes.md`` shows both in use.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import fx

from .encode import HEAD, infer_kind
from .errors import CaptureError, RecipeError
from .fingerprint import first_difference
from .graph_editor import GraphEditor
from .groups import make_twins
from .hashing import digest, graph_lines
from .recipe_document import Edit, Recipe, change_kind, read_recipe, split_half
from .targets import UnknownOperator, resolve_target

Json = Any
Source = str | os.PathLike[str] | Mapping[str, Json] | Recipe
Pass = Callable[..., fx.GraphModule]

log = logging.getLogger("jointer")


@dataclass(frozen=True)
class Skipped:
    """A change, or a whole edit, that did not fit the graph."""

    edit: int
    title: str
    #: The number of the change; ``None`` for all of the edit.
    change: int | None
    reason: str

    def __str__(self) -> str:
        where = "" if self.change is None else f", change {self.change}"
        return f"edit {self.edit}{where} ({self.title}): {self.reason}"


@dataclass
class RecipeReport:
    """What became of a recipe on one graph."""

    #: ``graph``, or which half of a pair it is.
    graph: str
    #: What first differs from the graph that the recipe was made on; ``None`` if nothing does.
    difference: str | None = None
    #: Titles of the edits that were done, at least in part.
    applied: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    #: Edits that are about the other half of the pair alone.
    elsewhere: int = 0
    #: The hash of the graph now, and whether it is the one that the recipe ends with (``None``
    #: where it does not say).
    hash: str = ""
    as_recorded: bool | None = None

    def __str__(self) -> str:
        lines = [f"{len(self.applied)} edits applied, {len(self.skipped)} skipped ({self.graph})"]
        if self.difference:
            lines.append(f"the graph differs from the recorded one: {self.difference}")
        lines += [f"skipped: {each}" for each in self.skipped]
        if self.as_recorded is False:
            lines.append("the graph that came out is not the recorded one")
        return "\n".join(lines)


def apply_recipe(gm: fx.GraphModule, recipe: Source, lenient: bool = False) -> RecipeReport:
    """Replay ``recipe`` on ``gm``, in place. Of a pair give one half: its hash says which.

    Args:
        gm: a graph as it was captured, live or from ``jointer.load``.
        recipe: a file, or what was read from one.
        lenient: go on where the graph differs: skip what does not fit, and report it.

    Returns:
        what was done. The graph is sound (``graph.lint()``) and compiled anew.

    Raises:
        RecipeError: the recipe cannot be read, or the graph is not the one that it was made on;
            the message names the first difference. The graph is then as it was.
        OSError: the file cannot be read.
    """
    read = read_recipe(recipe)
    report, trusted = _recognise(gm, read, lenient)
    editor = GraphEditor(gm, "" if report.graph == "graph" else report.graph, trusted)
    start = editor.mark()
    replay = _Replay(editor, read, report, trusted)
    try:
        for number, edit in enumerate(read.edits):
            replay.edit(number, edit, lenient)
        gm.graph.lint()
    except RecipeError:
        editor.undo(start)
        raise
    except (RuntimeError, ValueError) as error:  # of torch's own check
        editor.undo(start)
        raise RecipeError(f"{read.where}: {str(error).partition(chr(10))[0]}") from None
    gm.recompile()
    _conclude(gm, read, report)
    return report


def recipe_pass(recipe: Source, lenient: bool = False) -> Pass:
    """A graph pass ``(gm, example_inputs) -> gm`` that replays ``recipe``.

    It fits any list of such passes, with joint graphs and with the halves of a pair; a half that
    the recipe does not edit goes through as it is. The file is read at once, so that a mistake
    shows before training starts. Process groups that the recipe moves collectives to are made.
    ``pass_.reports`` collects what was done.

    Raises:
        RecipeError, OSError: as ``apply_recipe``; the pass itself as well.
    """
    read = read_recipe(recipe)
    reports: list[RecipeReport] = []

    def replay(gm: fx.GraphModule, example_inputs: Sequence[Any] = ()) -> fx.GraphModule:
        report = apply_recipe(gm, read, lenient)
        reports.append(report)
        if made := make_twins(gm):
            log.info("%s: process groups made: %s", read.where, ", ".join(made))
        log.log(logging.WARNING if report.skipped else logging.INFO, "%s: %s", read.where, report)
        return gm

    replay.reports = reports
    return replay


def _recognise(gm: fx.GraphModule, recipe: Recipe, lenient: bool) -> tuple[RecipeReport, bool]:
    """Which graph of the recipe ``gm`` is, and whether it is exactly that."""
    try:
        lines = graph_lines(gm)
    except CaptureError as error:
        if recipe.graphs and not lenient:
            raise RecipeError(f"{recipe.where}: not the graph it was made on: {error}") from None
        return RecipeReport(_likely(gm, recipe), difference=str(error)), False
    here = digest(lines)
    for key, graph in recipe.graphs.items():
        if graph.hash == here:
            return RecipeReport(key), True
    key = _likely(gm, recipe)
    if key not in recipe.graphs:
        return RecipeReport(key), False
    recorded = recipe.graphs[key]
    difference = first_difference(lines, recorded.fingerprint) if recorded.fingerprint else None
    difference = difference or f"its hash is {here[:12]}, the recorded one {recorded.hash[:12]}"
    if expected := _expected_at(difference, key, recipe):
        difference += f"; recorded was {expected}"
    if not lenient:
        what = "graph" if key == "graph" else f"{key} graph"
        raise RecipeError(
            f"{recipe.where}: this is not the {what} it was made on: {difference}. Capture the "
            "graph again and open the recipe on it, or replay with lenient=True"
        )
    return RecipeReport(key, difference=difference), False


def _likely(gm: fx.GraphModule, recipe: Recipe) -> str:
    """What names of nodes call ``gm``, going by its kind."""
    if "graph" in recipe.graphs:
        return "graph"
    kind = (gm.meta.get(HEAD) or {}).get("kind") or infer_kind(gm.graph)
    if kind in ("forward", "backward"):
        # By hand, without prefixes: whatever graph it is given.
        return kind if recipe.graphs or _names_halves(recipe) else "graph"
    if recipe.graphs:
        halves = " and ".join(recipe.graphs)
        raise RecipeError(
            f"{recipe.where}: it edits the {halves} of a partitioned pair, and this is a {kind} "
            "graph: put the pass where it sees the halves"
        )
    return "graph"


def _names_halves(recipe: Recipe) -> bool:
    return any(_half_of(change) for edit in recipe.edits for change in edit.changes)


def _expected_at(difference: str, key: str, recipe: Recipe) -> str:
    """What the recipe says of the node that ``difference`` names, if anything."""
    place, found, _ = difference.partition(": ")
    if not found or not place.startswith("node "):
        return ""
    name = place.rpartition(", ")[2]
    return recipe.expects.get(name if key == "graph" else f"{key}:{name}", "")


def _half_of(change: Mapping[str, Json]) -> str:
    """The half that a change is about, where it says so."""
    kind = change_kind(change)
    if kind == "policy":
        select = change["select"]
        return split_half(select[0] if isinstance(select, list) else select)[0]
    if kind in ("insert", "move"):
        return split_half(change["before"])[0]
    return split_half(change[kind])[0]


class _Replay:
    """The edits of a recipe on one graph."""

    def __init__(
        self, editor: GraphEditor, recipe: Recipe, report: RecipeReport, trusted: bool
    ) -> None:
        self._editor = editor
        self._recipe = recipe
        self._report = report
        self._unexpected = {} if trusted else self._find_unexpected()

    def edit(self, number: int, edit: Edit, lenient: bool) -> None:
        """Do one edit, or refuse or skip it."""
        own = [(i, each) for i, each in enumerate(edit.changes) if self._is_here(each)]
        if not own and edit.changes:
            self._report.elsewhere += 1
            return
        failed = self._try(own)
        if failed is None:
            self._report.applied.append(edit.title)
            return
        if not lenient:
            raise RecipeError(
                f"{self._recipe.where}: edit {number} ({edit.title}), change {failed[0]}: "
                f"{failed[1]}"
            )
        # Moves and policies stand for themselves; other changes belong together.
        if any(change_kind(each) not in ("move", "policy") for _, each in own):
            self._report.skipped.append(Skipped(number, edit.title, None, failed[1]))
            return
        own = [(i, self._keep_what_fits(number, edit.title, i, each)) for i, each in own]
        results = [(i, self._try([(i, each)])) for i, each in own if each]
        for index, failure in results:
            if failure:
                self._report.skipped.append(Skipped(number, edit.title, index, failure[1]))
        if not all(failure for _, failure in results):
            self._report.applied.append(edit.title)

    def _keep_what_fits(
        self, number: int, title: str, index: int, change: Mapping[str, Json]
    ) -> Mapping[str, Json] | None:
        """``change`` without the nodes of a list that do not fit, which is reported once.

        ``None`` if none is left.
        """
        if change_kind(change) != "policy" or not isinstance(change["select"], list):
            return change
        reasons = {name: self._reason_against(name) for name in change["select"]}
        fitting = [name for name in change["select"] if not reasons[name]]
        if misfits := [reason for reason in reasons.values() if reason]:
            of_all = f"{len(misfits)} of {len(reasons)} nodes: " if len(misfits) > 1 else ""
            self._report.skipped.append(Skipped(number, title, index, of_all + misfits[0]))
        return {**change, "select": fitting} if fitting else None

    def _reason_against(self, name: str) -> str:
        """Why the node of that name cannot have a policy; empty if it can, or is another half's."""
        half = split_half(name)[0] or "forward"
        if self._report.graph != "graph" and half != self._report.graph:
            return ""
        if name in self._unexpected:
            return self._unexpected[name]
        try:
            node = self._editor.node(name)
        except RecipeError as error:
            return str(error)
        is_call = node.op == "call_function"
        return "" if is_call else f"{node.name} is a {node.op}, which has no memory policy"

    def _is_here(self, change: Mapping[str, Json]) -> bool:
        """Is ``change`` about this graph? A pair's names without a half are the forward's."""
        if self._report.graph == "graph":
            return True
        if isinstance(change.get("select"), list):
            halves = {split_half(name)[0] or "forward" for name in change["select"]}
            return self._report.graph in halves
        half = _half_of(change)
        if not half and change_kind(change) == "policy" and self._means_calls(change["select"]):
            return True
        return (half or "forward") == self._report.graph

    def _means_calls(self, selector: str) -> bool:
        """Is ``selector`` an operator or a pattern, meant for both halves, and no node's name?"""
        if selector in self._recipe.expects:
            return False
        return not selector.isidentifier() or not isinstance(
            resolve_target(selector), UnknownOperator
        )

    def _try(self, changes: list[tuple[int, Mapping[str, Json]]]) -> tuple[int, str] | None:
        """Do all of ``changes``, or none; then the number of the one that failed, and why."""
        mark = self._editor.mark()
        index = 0
        try:
            for index, change in changes:
                self._check_expected(change)
                self._editor.apply(change)
            self._editor.check()
        except RecipeError as error:
            self._editor.undo(mark)
            return index, str(error)
        return None

    def _find_unexpected(self) -> dict[str, str]:
        """Nodes that call something else than the recipe expects, and how so."""
        found: dict[str, str] = {}
        for name, line in self._recipe.expects.items():
            wanted = line.partition("(")[0]
            try:
                here = self._editor.target(name)
            except RecipeError:
                continue  # another half's, or missing, which the change itself will say
            if wanted != here:
                found[name] = f"{name} calls {here}, {wanted} was expected"
        return found

    def _check_expected(self, change: Mapping[str, Json]) -> None:
        kind = change_kind(change)
        names = change["move"] if kind == "move" else change.get("select", [change[kind]])
        names = [names] if isinstance(names, str) else names
        for name in names:
            if isinstance(name, str) and name in self._unexpected:
                raise RecipeError(self._unexpected[name])


def _conclude(gm: fx.GraphModule, recipe: Recipe, report: RecipeReport) -> None:
    """Note the hash of the graph that came out."""
    try:
        report.hash = digest(graph_lines(gm))
    except CaptureError:
        return
    recorded = recipe.graphs.get(report.graph)
    if recorded is not None and recorded.after:
        report.as_recorded = report.hash == recorded.after
