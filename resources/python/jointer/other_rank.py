"""Adapts the edits of a recipe to the rank on which it is replayed.

The ranks of a program have the same nodes, but some constants differ: the beginning of a shard,
names of process groups, indices of devices. A recipe records a node for each group and device; the
same node here shows the name on this rank. Other constants cannot be translated. Therefore an edit
is refused if it replaces all arguments of a node that has other constants here; if it removes such
a node, inserts no copy of it, and a remaining node depends on it; or if it inserts a call with
integers that was, or may have been, made from such a node. A copy of the node has the constants of
this rank. C++ does the same (core/edit/other_rank.h).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_leaves

from .arguments import Opaque
from .errors import CaptureError, RecipeError
from .fingerprint import different_arguments
from .graph_editor import GraphEditor
from .groups import group_names, group_objects, group_positions, names_group
from .hashing import Names, Record, record_lines
from .recipe_document import RecipeGraph, change_kind, split_half
from .targets import resolve_target
from .values import ValueEncoder

Json = Any

#: Represents a node among the arguments of another node.
_INPUT = "an input"


@dataclass(frozen=True)
class _Own:
    """A node that has, or may have, other constants here."""

    arguments: str
    #: The node with these constants in the graph before the first edit.
    source: fx.Node


class OtherRank:
    """The recipe's rank as seen from this one."""

    def __init__(
        self,
        gm: fx.GraphModule,
        recorded: RecipeGraph,
        expects: Mapping[str, str],
        records: Sequence[Record],
        strict: bool,
    ) -> None:
        """``gm`` and ``records``: the graph before the first edit. ``strict``: True if the recipe
        is for another rank's graph, so that it is an error if something cannot be adapted.
        ``expects`` is used only in this case."""
        nodes = {node.name: node for node in gm.graph.nodes}
        self._groups = _names_here(nodes, recorded.groups, _group_of)
        self._devices = _names_here(nodes, recorded.devices, _device_of)
        self._strict = strict
        self._are_equal = all(
            here.get(name) == name
            for here, names in ((self._groups, recorded.groups), (self._devices, recorded.devices))
            for name in names
        )
        self._own = self._find_own(nodes, recorded, expects, records) if strict else {}
        self._removes_own = False
        #: The nodes that the edit removes without a copy of their constants.
        self._lost: set[str] = set()

    @property
    def are_equal(self) -> bool:
        """True if every name in the recipe is the same here."""
        return self._are_equal

    def begin(self, changes: Sequence[Mapping[str, Json]], editor: GraphEditor) -> None:
        """Begin an edit with these changes."""
        names = {
            split_half(each["remove"])[1] for each in changes if change_kind(each) == "remove"
        }
        own = names & self._own.keys()
        self._removes_own = bool(own)
        self._lost = self._find_lost(changes, names, own, editor) if own else set()

    def adapt(self, change: Mapping[str, Json], editor: GraphEditor) -> Mapping[str, Json]:
        """``change`` with the names of this rank.

        Raises:
            RecipeError: the change contains constants of another rank.
        """
        if self._are_equal and not self._strict:
            return change
        kind = change_kind(change)
        if kind == "insert":
            return {**change, "insert": self._adapt_insert(change["insert"], editor)}
        if kind == "replace":
            return self._adapt_replace(change, editor)
        if kind == "remove" and (name := split_half(change["remove"])[1]) in self._lost:
            raise RecipeError(
                f"{name} has rank-specific constants, {self._own[name].arguments}: the edit "
                "removes it without saying which node gets them"
            )
        return change

    def _find_own(
        self,
        nodes: Mapping[str, fx.Node],
        recorded: RecipeGraph,
        expects: Mapping[str, str],
        records: Sequence[Record],
    ) -> dict[str, _Own]:
        names = Names(
            groups={here: name for name, here in self._groups.items()},
            devices={here: name for name, here in self._devices.items()},
        )
        lines = record_lines(records, names)
        different = set(different_arguments(lines, recorded.fingerprint))
        own: dict[str, _Own] = {}
        for index, (line, here) in enumerate(zip(lines, record_lines(records), strict=True)):
            name, _, call = line.partition(" ")
            expected = expects.get(name, "")
            if "(" in expected:
                is_own = call != expected
            else:
                is_own = not recorded.fingerprint or index in different
            if is_own:
                arguments = here[here.index("(") : here.rindex(") -> ") + 1]
                own[name] = _Own(arguments, nodes[name])
        return own

    def _find_lost(
        self,
        changes: Sequence[Mapping[str, Json]],
        names: set[str],
        own: set[str],
        editor: GraphEditor,
    ) -> set[str]:
        """The nodes of ``own`` whose constants would be lost: the edit does not copy them, and a
        remaining node depends on them and does not read an equal node instead. ``names``: the nodes
        that the edit removes."""
        copies: dict[str, fx.Node] = {}
        kept: set[fx.Node] = set()
        exchanged: dict[tuple[str, str], str] = {}  # by reader and input
        for change in changes:
            if change_kind(change) == "insert":
                name, copied = change["insert"].get("name"), change["insert"].get("copy")
                if not isinstance(name, str) or not isinstance(copied, str):
                    continue
                known = self._own.get(copied)
                source = known.source if known is not None else copies.get(copied)
                if source is not None:
                    copies[name] = source
                    if name not in names:
                        kept.add(source)
            elif change_kind(change) == "replace":
                reader = split_half(change["replace"])[1]
                for was, now in change.get("inputs", {}).items():
                    exchanged[reader, was] = now
        removed = {node for name in names if (node := editor.find(name)) is not None}
        known_equal: set[tuple[fx.Node, fx.Node]] = set()

        def are_equal(a: fx.Node, b: fx.Node | None) -> bool:
            met: set[tuple[fx.Node, fx.Node]] = set()
            open_ = [(a, b)]
            while open_:
                was, now = open_.pop()
                if was is now or (was, now) in known_equal or (was, now) in met:
                    continue
                if now is None or was not in removed or _constants(was) != _constants(now):
                    return False
                met.add((was, now))
                open_ += zip(_reads(was), _reads(now), strict=False)
            known_equal.update(met)
            return True

        def is_needed(start: fx.Node) -> bool:
            seen, open_ = {start}, [start]
            while open_:
                node = open_.pop()
                for reader in node.users:
                    if reader in removed:
                        if reader not in seen:
                            seen.add(reader)
                            open_.append(reader)
                        continue
                    now = exchanged.get((reader.name, node.name))
                    if now is None or not are_equal(node, editor.find(now)):
                        return True
            return False

        return {
            name
            for name in own
            if self._own[name].source not in kept
            and (node := editor.find(name)) is not None
            and is_needed(node)
        }

    def _adapt_insert(
        self, record: Mapping[str, Json], editor: GraphEditor
    ) -> Mapping[str, Json]:
        name = record.get("name")
        if "copy" in record:
            copied = record["copy"]
            if isinstance(name, str) and isinstance(copied, str) and copied in self._own:
                self._own[name] = own = self._own[copied]
                record = _with_layout(record, editor.find(copied) or own.source)
        elif self._strict:
            self._check_integers(record)
        target = record.get("target")
        target = resolve_target(target) if isinstance(target, str) else None
        return self._renamed(record, target, f"{name}")

    def _adapt_replace(
        self, change: Mapping[str, Json], editor: GraphEditor
    ) -> Mapping[str, Json]:
        name = change["replace"]
        own = self._own.get(split_half(name)[1])
        if own is not None and ("args" in change or "kwargs" in change):
            raise RecipeError(
                f"{name} has rank-specific constants, {own.arguments}: the recipe would overwrite "
                "them with those of another rank"
            )
        target = change.get("target")
        if isinstance(target, str):
            return self._renamed(change, resolve_target(target), name)
        if own is not None:
            change = _with_layout(change, editor.node(name))
        return self._renamed(change, editor.node(name).target, name)

    def _check_integers(self, record: Mapping[str, Json]) -> None:
        if not _has_integer([record.get("args"), record.get("kwargs")]):
            return
        name, like = record.get("name"), record.get("like")
        like = split_half(like)[1] if isinstance(like, str) else None
        if like in self._own:
            raise RecipeError(
                f"{name} would get the constants of another rank: {like}, its origin, "
                f"has {self._own[like].arguments} on this rank"
            )
        if like:
            return
        if self._removes_own:
            raise RecipeError(
                f"{name} may get the constants of another rank: the edit removes a node whose "
                "constants differ on this rank"
            )

    # Names of groups and devices.

    def _renamed(self, record: Mapping[str, Json], target: Any, name: str) -> Mapping[str, Json]:
        """The record of a call, with the names of this rank in its arguments and value."""
        now = dict(record)
        try:
            if isinstance(record.get("args"), list):
                positions = group_positions(target)
                now["args"] = [
                    self._argument(each, i in positions) for i, each in enumerate(record["args"])
                ]
            if isinstance(record.get("kwargs"), Mapping):
                now["kwargs"] = {
                    key: self._argument(each, names_group(key))
                    for key, each in record["kwargs"].items()
                }
            if "val" in record:
                now["val"] = self._rename(record["val"])
        except RecipeError as error:
            raise RecipeError(f"{name}: {error}") from None
        return now

    def _argument(self, value: Json, is_group: bool) -> Json:
        return self._group(value) if is_group and isinstance(value, str) else self._rename(value)

    def _rename(self, value: Json) -> Json:
        """``value`` with the names of groups and devices, which are marked as such at any depth,
        replaced by those of this rank."""
        if isinstance(value, list):
            return [self._rename(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        now = {}
        for key, each in value.items():
            if key == "device" and isinstance(each, str):
                now[key] = self._device(each)
            elif key == "repr" and value.get("opaque") == "ProcessGroup" and isinstance(each, str):
                now[key] = self._group(each)
            elif key == "dict" and isinstance(each, Mapping):  # its keys are data
                now[key] = {name: self._rename(inner) for name, inner in each.items()}
            else:  # a constant is data
                now[key] = each if key == "c" else self._rename(each)
        return now

    def _group(self, recorded: str) -> str:
        """The name on this rank. If the recorded name is that of a group with a suffix, as passes
        name twins, the result has the same suffix."""
        end = len(recorded)
        while end > 0:
            if (here := self._groups.get(recorded[:end])) is not None:
                return here + recorded[end:]
            end = recorded.rfind("_", 0, end)
        if not self._strict:
            return recorded
        raise RecipeError(
            f"no recorded node communicates in the process group {recorded}, so its name on this "
            "rank is unknown"
        )

    def _device(self, recorded: str) -> str:
        here = self._devices.get(recorded)
        if here is not None or ":" not in recorded or not self._strict:
            return here or recorded
        raise RecipeError(
            f"no recorded node is on the device {recorded}, so the device of this rank is unknown"
        )


def _names_here(
    nodes: Mapping[str, fx.Node],
    recorded: Mapping[str, str],
    name_of: Callable[[fx.Node], str | None],
) -> dict[str, str]:
    """The names on this rank, by recorded name, of the groups or devices that the recorded nodes
    use."""
    found: dict[str, str] = {}
    for name, at in recorded.items():
        here = name_of(nodes[at]) if at in nodes else None
        if here is not None:
            found[name] = here
    return found


def _group_of(node: fx.Node) -> str | None:
    """The process group in which ``node`` communicates."""
    for name in group_names(node):
        return name
    for each in (node, *node.all_input_nodes):  # the group may be the result of another node
        for group in group_objects(each):
            return group.group_name
        found: list[Any] = []
        map_aggregate((each.args, each.kwargs, each.meta.get("val")), found.append)
        for opaque in found:
            if isinstance(opaque, Opaque) and opaque.type_name == "ProcessGroup":
                return opaque.text
    return None


def _device_of(node: fx.Node) -> str | None:
    """The device of the node's first tensor if the device has an index (``cpu`` has none)."""
    for leaf in tree_leaves(node.meta.get("val")):
        if isinstance(leaf, torch.Tensor):
            name = str(leaf.device)
            return name if ":" in name else None
    return None


def _constants(node: fx.Node) -> tuple[Any, ...]:
    """The call of ``node`` without the nodes that it reads."""
    arguments = fx.map_arg((node.args, dict(node.kwargs)), lambda each: _INPUT)
    return node.op, node.target, repr(arguments)


def _reads(node: fx.Node) -> list[fx.Node]:
    """The nodes in the arguments of ``node``, in order."""
    found: list[fx.Node] = []
    fx.map_arg((node.args, dict(node.kwargs)), found.append)
    return found


def _with_layout(record: Mapping[str, Json], view: fx.Node) -> Mapping[str, Json]:
    """``record`` with the stride and offset of ``view``, which may depend on its constants."""
    value, known = record.get("val"), view.meta.get("val")
    if not _is_view(view) or not isinstance(value, Mapping) or not isinstance(known, torch.Tensor):
        return record
    tensor = value.get("t")
    try:
        here = ValueEncoder().value(known)["t"]
    except (CaptureError, KeyError, TypeError):
        return record
    if not isinstance(tensor, Mapping) or tensor.get("shape") != here.get("shape"):
        return record
    layout = {key: here[key] for key in ("stride", "offset") if _is_plain(here.get(key))}
    return {**record, "val": {**value, "t": {**tensor, **layout}}}


def _is_view(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    returns = schema.returns if schema is not None else ()
    return any(each.alias_info is not None and not each.alias_info.is_write for each in returns)


def _is_plain(value: Json) -> bool:
    """True if ``value`` has no symbols."""
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return isinstance(value, int)


def _has_integer(value: Json) -> bool:
    """True if an integer is among the arguments, at any depth."""
    if isinstance(value, Mapping):
        return any(_has_integer(each) for each in value.values())
    if isinstance(value, list):
        return any(_has_integer(each) for each in value)
    return isinstance(value, int) and not isinstance(value, bool)
