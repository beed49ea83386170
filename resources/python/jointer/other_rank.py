"""Adapts the edits of a recipe to the rank that it is replayed on.

The ranks of a program have the same nodes, but some constants differ: where a shard begins,
names of process groups, indices of devices. A recipe records a node for each group and device; the
same node tells its name here. Other constants cannot be translated, so an edit that would bring
those of the recipe's rank is refused: it replaces all arguments of a node that has other constants
here, or inserts a call with integers that was made from such a node. A copy of the node has the
constants of this rank. C++ does the same (core/edit/other_rank.h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_leaves

from .arguments import Opaque
from .errors import RecipeError
from .fingerprint import different_arguments
from .graph_editor import GraphEditor
from .groups import group_names, group_objects, group_positions, names_group
from .hashing import Names, Record, record_lines
from .recipe_document import RecipeGraph, change_kind, split_half
from .targets import resolve_target

Json = Any


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
        """``gm`` and its ``records``: the graph before the first edit. ``strict``: it is that of
        another rank, so that whatever cannot be adapted is an error."""
        nodes = {node.name: node for node in gm.graph.nodes}
        self._groups = _names_here(nodes, recorded.groups, _group_of)
        self._devices = _names_here(nodes, recorded.devices, _device_of)
        self._strict = strict
        self._are_equal = all(
            here.get(name) == name
            for here, names in ((self._groups, recorded.groups), (self._devices, recorded.devices))
            for name in names
        )
        #: The arguments of nodes that have other constants here, or may have.
        self._own = self._find_own(recorded, expects, records) if strict else {}
        self._removes_own = False

    def begin(self, changes: Iterable[Mapping[str, Json]]) -> None:
        """Begin an edit with these changes."""
        removed = (each["remove"] for each in changes if change_kind(each) == "remove")
        self._removes_own = any(split_half(name)[1] in self._own for name in removed)

    def adapt(self, change: Mapping[str, Json], editor: GraphEditor) -> Mapping[str, Json]:
        """``change`` with the names of this rank.

        Raises:
            RecipeError: it would bring constants of another rank.
        """
        if self._are_equal and not self._strict:
            return change
        kind = change_kind(change)
        if kind == "insert":
            return {**change, "insert": self._adapt_insert(change["insert"])}
        if kind == "replace":
            return self._adapt_replace(change, editor)
        return change

    def _find_own(
        self, recorded: RecipeGraph, expects: Mapping[str, str], records: Sequence[Record]
    ) -> dict[str, str]:
        names = Names(
            groups={here: name for name, here in self._groups.items()},
            devices={here: name for name, here in self._devices.items()},
        )
        lines = record_lines(records, names)
        different = set(different_arguments(lines, recorded.fingerprint))
        own: dict[str, str] = {}
        for index, (line, here) in enumerate(zip(lines, record_lines(records), strict=True)):
            name, _, call = line.partition(" ")
            expected = expects.get(name, "")
            if "(" in expected:
                is_own = call != expected
            else:
                is_own = not recorded.fingerprint or index in different
            if is_own:
                own[name] = here[here.index("(") : here.rindex(") -> ") + 1]
        return own

    def _adapt_insert(self, record: Mapping[str, Json]) -> Mapping[str, Json]:
        name = record.get("name")
        if "copy" in record:
            if isinstance(record["copy"], str) and record["copy"] in self._own:
                self._own[name] = self._own[record["copy"]]
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
                f"{name} has constants of this rank, {own}: the recipe would overwrite them with "
                "those of another"
            )
        target = change.get("target")
        if isinstance(target, str):
            return self._renamed(change, resolve_target(target), name)
        return self._renamed(change, editor.node(name).target, name)

    def _check_integers(self, record: Mapping[str, Json]) -> None:
        if not _has_integer([record.get("args"), record.get("kwargs")]):
            return
        name, like = record.get("name"), record.get("like")
        if isinstance(like, str) and like in self._own:
            raise RecipeError(
                f"{name} would get the constants of another rank: {like}, which it was made from, "
                f"has {self._own[like]} on this one"
            )
        if not like and self._removes_own:
            raise RecipeError(
                f"{name} may get the constants of another rank: the edit removes a node whose "
                "constants differ on this one"
            )

    # Names of groups and devices.

    def _renamed(self, record: Mapping[str, Json], target: Any, name: str) -> Mapping[str, Json]:
        """A record of a call with the names of this rank in its arguments and value."""
        if self._are_equal and not self._strict:
            return record
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
        """``value`` with the names that are marked as those of groups and devices, at any depth."""
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
        """The name here; one that was made from a group's by a suffix, as passes name its twin,
        gets the suffix here too."""
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
    """The names here, by recorded name, of what the recorded nodes use."""
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
    """The device of the node's first tensor if it has an index: there is only one ``cpu``."""
    for leaf in tree_leaves(node.meta.get("val")):
        if isinstance(leaf, torch.Tensor):
            name = str(leaf.device)
            return name if ":" in name else None
    return None


def _has_integer(value: Json) -> bool:
    """True if an integer is among the arguments, at any depth."""
    if isinstance(value, Mapping):
        return any(_has_integer(each) for each in value.values())
    if isinstance(value, list):
        return any(_has_integer(each) for each in value)
    return isinstance(value, int) and not isinstance(value, bool)
