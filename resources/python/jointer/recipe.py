"""Replays recipes, which contain edits made in Jointer, on live graphs in training code.

``apply_recipe`` replays a recipe in place on a ``torch.fx.GraphModule``; ``recipe_pass`` does so as
a graph pass. ``docs/recipes.md`` shows how to use both.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import fx

from .counted import counted
from .encode import HEAD, infer_kind
from .errors import CaptureError, RecipeError
from .fingerprint import first_difference
from .graph_editor import GraphEditor, kind_text
from .groups import make_twins
from .hashing import Record, digest, graph_records, rank_lines, record_lines
from .other_rank import OtherRank
from .recipe_document import Edit, Recipe, change_kind, read_recipe, split_half
from .targets import UnknownOperator, resolve_target

Json = Any
Source = str | os.PathLike[str] | Mapping[str, Json] | Recipe
Pass = Callable[..., fx.GraphModule]

log = logging.getLogger("jointer")


@dataclass(frozen=True)
class Skipped:
    """A change, or an edit, that was skipped because it did not fit the graph."""

    edit: int
    title: str
    #: The number of the change; ``None`` for the whole edit.
    change: int | None
    reason: str

    def __str__(self) -> str:
        where = "" if self.change is None else f", change {self.change}"
        return f"edit {self.edit}{where} ({self.title}): {self.reason}"


@dataclass
class RecipeReport:
    """The result of replaying a recipe on one graph."""

    #: ``graph``, or the half of a pair.
    graph: str
    #: The first difference from the graph for which the recipe was made; ``None`` if they are
    #: equal.
    difference: str | None = None
    #: True if the graph is that of another rank of the program: it differs only in constants.
    other_rank: bool = False
    #: Titles of the edits that were applied, at least in part.
    applied: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    #: Number of edits that concern only the other half of the pair.
    elsewhere: int = 0
    #: The hash of the resulting graph, and True if it is the resulting hash in the recipe (``None``
    #: if the recipe does not record it).
    hash: str = ""
    as_recorded: bool | None = None

    def __str__(self) -> str:
        applied = counted(len(self.applied), "edit")
        lines = [f"{applied} applied, {len(self.skipped)} skipped ({self.graph})"]
        if self.other_rank:
            lines.append(self._of_rank())
        elif self.difference:
            lines.append(f"the graph differs from the recorded one: {self.difference}")
        lines += [f"skipped: {each}" for each in self.skipped]
        if self.as_recorded is False:
            lines.append("the resulting graph is not the recorded one")
        return "\n".join(lines)

    def _of_rank(self) -> str:
        text = "the graph differs from the recorded one only in rank-specific constants"
        return f"{text}, first at {self.difference.partition(':')[0]}" if self.difference else text


def apply_recipe(gm: fx.GraphModule, recipe: Source, lenient: bool = False) -> RecipeReport:
    """Replay ``recipe`` on ``gm``, in place. For a pair, ``gm`` is one half, found by its hash.

    On another rank of the same program, the names of process groups and devices are replaced by
    those of that rank.

    Args:
        gm: the captured graph, live or from ``jointer.load``.
        recipe: a path, or the content of a file.
        lenient: if the graph differs, skip and report changes that do not fit.

    Returns:
        a report. The graph is valid (``graph.lint()``), and its module is recompiled.

    Raises:
        RecipeError: the recipe is invalid, or was made for a different graph. The message names the
            first difference, and the graph is unchanged.
        OSError: the file cannot be read.
    """
    read = read_recipe(recipe)
    report, trusted, rank = _recognize(gm, read, lenient)
    editor = GraphEditor(gm, "" if report.graph == "graph" else report.graph, trusted)
    start = editor.mark()
    replay = _Replay(editor, read, report, trusted, rank)
    try:
        for number, edit in enumerate(read.edits):
            replay.edit(number, edit, lenient)
        gm.graph.lint()
    except BaseException as error:
        editor.undo(start)
        is_of_torch = isinstance(error, (RuntimeError, ValueError))  # as raised by lint()
        if not is_of_torch or isinstance(error, RecipeError):
            raise
        raise RecipeError(f"{read.where}: {str(error).partition(chr(10))[0]}") from None
    gm.recompile()
    _conclude(gm, read, report, rank)
    return report


def recipe_pass(recipe: Source, lenient: bool = False) -> Pass:
    """A graph pass ``(gm, example_inputs) -> gm`` that replays ``recipe``.

    It works in any list of such passes, on joint graphs and on the halves of a pair; a half that
    the recipe does not edit is returned unchanged. The file is read immediately, so that errors
    appear before training starts. Process groups to which the recipe moves collectives are created.
    The attribute ``reports`` of the pass collects the reports.

    Raises:
        RecipeError, OSError: as in ``apply_recipe``. A ``RecipeError`` is also raised when the pass
            runs on a graph that the recipe does not fit.
    """
    read = read_recipe(recipe)
    reports: list[RecipeReport] = []

    def replay(gm: fx.GraphModule, example_inputs: Sequence[Any] = ()) -> fx.GraphModule:
        report = apply_recipe(gm, read, lenient)
        reports.append(report)
        if made := make_twins(gm):
            log.info("%s: created process groups: %s", read.where, ", ".join(made))
        log.log(logging.WARNING if report.skipped else logging.INFO, "%s: %s", read.where, report)
        return gm

    replay.reports = reports
    return replay


def _recognize(
    gm: fx.GraphModule, recipe: Recipe, lenient: bool
) -> tuple[RecipeReport, bool, OtherRank | None]:
    """The graph of the recipe to which ``gm`` corresponds; True if their hashes are equal; and, if
    ``gm`` is the graph of any rank of the program, the adapter of the edits to this rank."""
    try:
        records = graph_records(gm)
    except CaptureError as error:
        if recipe.graphs and not lenient:
            raise RecipeError(
                f"{recipe.where}: the recipe was made for another graph: {error}"
            ) from None
        return RecipeReport(_likely(gm, recipe), difference=str(error)), False, None
    lines = record_lines(records)
    here = digest(lines)
    for key, graph in recipe.graphs.items():
        if graph.hash == here:
            rank = OtherRank(gm, graph, {}, records, strict=False)
            return RecipeReport(key), True, rank
    if (key := _of_other_rank(recipe, records)) is not None:
        graph = recipe.graphs[key]
        difference = first_difference(lines, graph.fingerprint) if graph.fingerprint else None
        report = RecipeReport(key, difference=difference, other_rank=True)
        rank = OtherRank(gm, graph, _expects(recipe, key), records, strict=True)
        return report, False, rank
    key = _likely(gm, recipe)
    if key not in recipe.graphs:
        return RecipeReport(key), False, None
    recorded = recipe.graphs[key]
    difference = first_difference(lines, recorded.fingerprint) if recorded.fingerprint else None
    difference = difference or f"the hash is {here[:12]}, the recorded one {recorded.hash[:12]}"
    if expected := _expected_at(difference, key, recipe):
        difference += f"; the recorded call is {expected}"
    if not lenient:
        half = "" if key == "graph" else f" ({key})"
        raise RecipeError(
            f"{recipe.where}: the recipe was made for another graph{half}: {difference}; capture "
            "the graph again and open the recipe on it, or replay with lenient=True"
        )
    return RecipeReport(key, difference=difference), False, None


def _of_other_rank(recipe: Recipe, records: Sequence[Record]) -> str | None:
    """The key of the recipe's graph that has the same rank hash, if any."""
    if not any(graph.rank_hash for graph in recipe.graphs.values()):
        return None
    here = digest(rank_lines(records))
    return next((key for key, graph in recipe.graphs.items() if graph.rank_hash == here), None)


def _expects(recipe: Recipe, key: str) -> dict[str, str]:
    """The calls that the recipe expects for the nodes of one graph, by name."""
    found: dict[str, str] = {}
    for name, line in recipe.expects.items():
        half, rest = split_half(name)
        if key == "graph" or (half or "forward") == key:
            found[name if key == "graph" else rest] = line
    return found


def _likely(gm: fx.GraphModule, recipe: Recipe) -> str:
    """The prefix of names of nodes in ``gm``, according to its kind."""
    if "graph" in recipe.graphs:
        return "graph"
    kind = (gm.meta.get(HEAD) or {}).get("kind") or infer_kind(gm.graph)
    if kind in ("forward", "backward"):
        # A recipe written by hand without prefixes applies to any graph.
        return kind if recipe.graphs or _names_halves(recipe) else "graph"
    if recipe.graphs:
        halves = " and ".join(recipe.graphs)
        raise RecipeError(
            f"{recipe.where}: the recipe edits the {halves} of a partitioned pair, but this graph "
            f"is a {kind} graph; replay the recipe on the halves"
        )
    return "graph"


def _names_halves(recipe: Recipe) -> bool:
    return any(_half_of(change) for edit in recipe.edits for change in edit.changes)


def _expected_at(difference: str, key: str, recipe: Recipe) -> str:
    """The call that the recipe expects for the node that ``difference`` names; empty if there is
    none."""
    place, found, _ = difference.partition(": ")
    if not found or not place.startswith("node "):
        return ""
    name = place.rpartition(", ")[2]
    return recipe.expects.get(name if key == "graph" else f"{key}:{name}", "")


def _half_of(change: Mapping[str, Json]) -> str:
    """The half in the names of a change, if any."""
    kind = change_kind(change)
    if kind == "policy":
        select = change["select"]
        return split_half(select[0] if isinstance(select, list) else select)[0]
    if kind in ("insert", "move"):
        return split_half(change["before"])[0]
    return split_half(change[kind])[0]


def _named(change: Mapping[str, Json]) -> list[str]:
    """The nodes that a change names, except for inputs and arguments."""
    kind = change_kind(change)
    if kind == "policy":
        select = change["select"]
        return select if isinstance(select, list) else [select]
    if kind == "move":
        return [*change["move"], change["before"]]
    if kind == "insert":
        before, copied = change["before"], change["insert"].get("copy")
        half, _ = split_half(before)
        prefix = f"{half}:" if half else ""
        return [before, prefix + copied] if isinstance(copied, str) else [before]
    return [change[kind]]


class _Replay:
    """The edits of a recipe on one graph."""

    def __init__(
        self,
        editor: GraphEditor,
        recipe: Recipe,
        report: RecipeReport,
        trusted: bool,
        rank: OtherRank | None,
    ) -> None:
        self._editor = editor
        self._recipe = recipe
        self._report = report
        self._rank = rank
        self._unexpected = {} if trusted else self._find_unexpected()

    def edit(self, number: int, edit: Edit, lenient: bool) -> None:
        """Apply, refuse or skip one edit."""
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
        # Moves and policies are independent; other changes of an edit belong together.
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
        """``change`` without the nodes in its list that do not fit, which are reported together.

        ``None`` if no node is left.
        """
        if change_kind(change) != "policy" or not isinstance(change["select"], list):
            return change
        reasons = {name: self._reason_against(name) for name in change["select"]}
        fitting = [name for name in change["select"] if not reasons[name]]
        if unfit := [reason for reason in reasons.values() if reason]:
            of_all = f"{len(unfit)} of {len(reasons)} nodes: " if len(unfit) > 1 else ""
            self._report.skipped.append(Skipped(number, title, index, of_all + unfit[0]))
        return {**change, "select": fitting} if fitting else None

    def _reason_against(self, name: str) -> str:
        """The reason why the node cannot have a policy; empty if it can, or is in the other
        half."""
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
        return "" if is_call else f"{node.name} is {kind_text(node)}: only calls have a policy"

    def _is_here(self, change: Mapping[str, Json]) -> bool:
        """True if ``change`` concerns this graph. Names without a prefix are those of the
        forward."""
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
        """True if ``selector`` is an operator or a pattern, which applies to both halves, and not a
        node's name."""
        if selector in self._recipe.expects:
            return False
        return not selector.isidentifier() or not isinstance(
            resolve_target(selector), UnknownOperator
        )

    def _try(self, changes: list[tuple[int, Mapping[str, Json]]]) -> tuple[int, str] | None:
        """Apply either all of ``changes`` or none. If a change fails, return its number and the
        error."""
        mark = self._editor.mark()
        index = 0
        try:
            if self._rank is not None:
                self._rank.begin([change for _, change in changes], self._editor)
            for index, change in changes:
                self._check_expected(change)
                adapted = change if self._rank is None else self._rank.adapt(change, self._editor)
                self._editor.apply(adapted)
            self._editor.check()
        except RecipeError as error:
            self._editor.undo(mark)
            return index, str(error)
        return None

    def _find_unexpected(self) -> dict[str, str]:
        """Nodes that call a different operator than the recipe expects, with a description."""
        found: dict[str, str] = {}
        for name, line in self._recipe.expects.items():
            wanted = line.partition("(")[0]
            try:
                here = self._editor.target(name)
            except RecipeError:
                continue  # in the other half, or missing, which the change reports itself
            if wanted != here:
                found[name] = f"{name} calls {here} here, but {wanted} in the recorded graph"
        return found

    def _check_expected(self, change: Mapping[str, Json]) -> None:
        for name in _named(change):
            if name in self._unexpected:
                raise RecipeError(self._unexpected[name])


def _conclude(
    gm: fx.GraphModule, recipe: Recipe, report: RecipeReport, rank: OtherRank | None
) -> None:
    """Record the hash of the resulting graph."""
    try:
        records = graph_records(gm)
    except CaptureError:
        return
    report.hash = digest(record_lines(records))
    recorded = recipe.graphs.get(report.graph)
    if recorded is None:
        return
    if not report.other_rank:
        if not recorded.after:
            return
        is_equal = report.hash == recorded.after
        # Ranks with equal graphs may have different names, which edits then introduce.
        if is_equal or rank is None or rank.are_equal:
            report.as_recorded = is_equal
            return
    if recorded.rank_after:
        # The rank hash does not change if an edit that only changes constants was skipped.
        is_equal = digest(rank_lines(records)) == recorded.rank_after
        report.as_recorded = is_equal and not report.skipped
