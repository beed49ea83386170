"""Applies the primitive edits of a recipe to a live graph, and undoes them.

``apply`` applies one change, ``check`` validates the graph after the last change of an edit, and
``undo`` reverts all changes since a mark, so that an edit is applied completely or not at all.

A graph is valid if every node follows its inputs. Two nodes must stay in order if one writes to
memory that the other uses, or if both draw random numbers, unless the edit adds or replaces one of
them. That is checked only if ``trusted`` is false: a recipe for exactly this graph was checked when
it was made.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from .arguments import decode_argument
from .encode import HEAD
from .errors import CaptureError, RecipeError
from .fsdp_bucket import decode_bucket
from .kept_orders import check_kept_orders
from .recipe_document import change_kind, split_half
from .recipe_values import NodeValues
from .retarget import captured_target
from .selectors import select
from .symbols import Assumptions
from .targets import UnknownOperator, register_operators, resolve_target

Json = Any

#: Default checkpointed region of a node that gets a policy. torch's partitioner treats the inputs
#: of a recomputed node as inputs of the node's region unless they have a region too.
_REGION = 0

_POLICY_META = ("recompute", "ac_graph_id", "should_offload")

#: Keys that are copied from the ``like`` of a new node, and keys that a record may set.
_PLAIN_META = ("seq_nr", "partitioner_tag", "autograd_backward", "custom")
_LIKE_META = (*_PLAIN_META, "stack_trace", "nn_module_stack", "fwd_nn_module_stack")

#: Operation, target and arguments of a node.
_Call = tuple[str, Any, Any, Any]

#: Keys of a replacement that change the call.
_CALL = frozenset({"inputs", "target", "args", "kwargs", "val"})

#: Kinds of nodes in messages, as in the desktop and the command line.
_KINDS = {
    "placeholder": "a placeholder",
    "get_attr": "a constant",
    "output": "the output",
    "call_function": "a call",
}


def kind_text(node: fx.Node) -> str:
    """The kind of ``node``, for messages."""
    return _KINDS.get(node.op, f"a {node.op}")


class GraphEditor:
    """Edits one graph."""

    def __init__(self, gm: fx.GraphModule, half: str = "", trusted: bool = False) -> None:
        """``half``: if ``gm`` is half of a pair, ``forward`` or ``backward``: a prefix of names."""
        register_operators()
        self._graph = gm.graph
        self._half = half
        self._trusted = trusted
        self._nodes = {node.name: node for node in gm.graph.nodes}
        self._is_loaded = HEAD in gm.meta
        head = gm.meta.get(HEAD) or {}
        self._assumptions = Assumptions(head.get("symbols") or {})
        self._values = NodeValues(gm.graph, self.node, self._assumptions, self._is_loaded)
        self._undo: list[Callable[[], None]] = []
        #: Since the last mark: nodes whose neighbors may have changed, and former positions of
        #: moved nodes.
        self._touched: set[fx.Node] = set()
        self._stood: dict[fx.Node, tuple[Any, fx.Node, fx.Node]] = {}
        #: Since the last mark: nodes that had no position before, and calls whose effect may have
        #: changed.
        self._changed: set[fx.Node] = set()

    def node(self, name: str) -> fx.Node:
        """The node of that name, with or without this half's prefix."""
        half, rest = split_half(name)
        name = rest if half == self._half else name
        if name not in self._nodes:
            raise RecipeError(f"there is no node {name}")
        return self._nodes[name]

    def find(self, name: str) -> fx.Node | None:
        """The node of that name, without a prefix; ``None`` if there is no such node."""
        return self._nodes.get(name)

    def target(self, name: str) -> str:
        """The target of the node of that name, as in a capture."""
        node = self.node(name)
        return captured_target(node) if node.op == "call_function" else str(node.target)

    # Applying and undoing.

    def mark(self) -> int:
        """A point to which ``undo`` can return. The graph must be valid at this point."""
        self._touched.clear()
        self._stood.clear()
        self._changed.clear()
        return len(self._undo)

    def undo(self, mark: int) -> None:
        """Undo everything since ``mark``, in reverse order."""
        while len(self._undo) > mark:
            self._undo.pop()()

    def apply(self, change: Mapping[str, Json]) -> None:
        """Apply one change of a recipe. If this fails, the change may be applied in part.

        Raises:
            RecipeError: the change cannot be applied to this graph.
        """
        try:
            getattr(self, f"_{change_kind(change)}")(change)
        except CaptureError as error:
            raise RecipeError(str(error)) from None

    def check(self) -> None:
        """Raise ``RecipeError`` if the changes since the last mark made the graph invalid."""
        for node in self._touched:
            for each in node.all_input_nodes:
                if not each < node:
                    raise RecipeError(f"{node.name} reads {each.name} and would come before it")
            for each in node.users:
                if not node < each:
                    raise RecipeError(f"{each.name} reads {node.name} and would come before it")
        if self._stood and not self._trusted:
            check_kept_orders(self._stood, self._changed)

    # The changes.

    def _move(self, change: Mapping[str, Json]) -> None:
        block = [self.node(name) for name in change["move"]]
        before = self._place(change)
        seen: set[fx.Node] = set()
        for node in (*block, before):
            if node in seen and node is before:
                raise RecipeError(f"{node.name} cannot be moved before itself")
            if node in seen:
                raise RecipeError(f"{node.name} is listed twice among the nodes to move")
            seen.add(node)
        for node in block:
            if node.op in ("placeholder", "get_attr", "output"):
                raise RecipeError(
                    f"{node.name} is {kind_text(node)}: placeholders, constants and outputs stay "
                    "where they are"
                )
        for node in block:
            if node.next is not before:
                self._put(node, before)

    def _put(self, node: fx.Node, before: fx.Node) -> None:
        name, after = node.name, node.next.name
        self._stood.setdefault(node, (node._sort_key, node.prev, node.next))
        self._touched.add(node)
        before.prepend(node)
        self._undo.append(lambda: self._nodes[after].prepend(self._nodes[name]))

    def _policy(self, change: Mapping[str, Json]) -> None:
        name = change["policy"]
        policy = None if name is None else CheckpointPolicy.__members__.get(name)
        if policy is None and name is not None:
            raise RecipeError(f"torch {torch.__version__} has no memory policy {name!r}")
        for node in self._selected(change["select"]):
            if node.op != "call_function":
                raise RecipeError(f"{node.name} is {kind_text(node)}: only calls have a policy")
            self._tag(node, policy, change)

    def _selected(self, select_: str | list[str]) -> list[fx.Node]:
        """The nodes of this graph that a change selects, by a selector or by name."""
        if isinstance(select_, list):
            here = [each for each in select_ if self._is_mine(split_half(each)[0])]
            return [self.node(each) for each in here]
        half, selector = split_half(select_)
        named = self._nodes.get(selector)
        nodes = [named] if named is not None else select(self._graph.nodes, selector)
        if not nodes and (half or not self._half):
            raise RecipeError(
                f"`{selector}` selects nothing: no node has this name, and no call matches it"
            )
        return nodes

    def _is_mine(self, half: str) -> bool:
        """True if names with this prefix refer to this graph; no prefix means the forward."""
        return not self._half or (half or "forward") == self._half

    def _tag(
        self, node: fx.Node, policy: CheckpointPolicy | None, change: Mapping[str, Json]
    ) -> None:
        name = node.name
        before = {key: node.meta[key] for key in _POLICY_META if key in node.meta}

        def restore() -> None:
            meta = self._nodes[name].meta
            for key in _POLICY_META:
                meta.pop(key, None)
            meta.update(before)

        self._undo.append(restore)
        node.meta.pop("recompute", None)
        node.meta.pop("should_offload", None)
        region = change.get("ac_graph_id")
        if "ac_graph_id" in change:
            node.meta.pop("ac_graph_id", None)
        if region is not None:
            node.meta["ac_graph_id"] = region
        if policy is not None:
            node.meta["recompute"] = policy
            node.meta.setdefault("ac_graph_id", _REGION)
        if policy is CheckpointPolicy.MUST_CPU_OFFLOAD:
            node.meta["should_offload"] = True

    def _insert(self, change: Mapping[str, Json]) -> None:
        record, before = change["insert"], self._place(change)
        name = record.get("name")
        if not _is_identifier(name):
            raise RecipeError(f"`{name}` is not a valid name for a node")
        if name in self._nodes:
            raise RecipeError(f"{name} cannot be inserted: a node with that name already exists")
        op, target, args, kwargs = self._copied(record) if "copy" in record else self._new(record)
        self._create(before, op, target, args, kwargs, name)
        node = self._nodes[name]
        self._undo.append(lambda: self._erase(name))
        self._touched.add(node)
        self._changed.add(node)
        if "like" in record:
            model = self.node(record["like"]).meta
            node.meta.update({key: model[key] for key in _LIKE_META if key in model})
        node.meta.update(_meta(record))
        if record.get("val") is not None:
            node.meta["val"] = self._values.value(node, record["val"])

    def _new(self, record: Mapping[str, Json]) -> _Call:
        name, op = record["name"], record.get("op", "call_function")
        if "inputs" in record:
            raise RecipeError("`inputs` needs `copy`")
        if op == "get_attr":
            target = self._constant(record.get("target"), name)
        elif op == "call_function":
            target = self._target(record.get("target"), name)
        else:
            kind = _KINDS.get(op, f"a {op}")
            raise RecipeError(f"{name} is {kind}: only calls and constants can be inserted")
        args = self._args(record.get("args", []), name)
        return op, target, args, self._kwargs(record.get("kwargs", {}), name)

    def _copied(self, record: Mapping[str, Json]) -> _Call:
        if any(key in record for key in ("op", "target", "args", "kwargs")):
            raise RecipeError(
                "`copy` cannot be used together with `op`, `target`, `args` or `kwargs`"
            )
        if not isinstance(record["copy"], str) or record["copy"] not in self._nodes:
            raise RecipeError(f"`copy` names {record['copy']}, but there is no such node")
        node = self._nodes[record["copy"]]
        if node.op not in ("call_function", "get_attr"):
            raise RecipeError(
                f"{record['name']} is {kind_text(node)}: only calls and constants can be inserted"
            )
        args, kwargs = self._exchanged(node, record.get("inputs", {}))
        return node.op, node.target, args, kwargs

    def _constant(self, target: Json, name: str) -> str:
        """``target``, if another node of the graph reads this constant."""
        if any(node.op == "get_attr" and node.target == target for node in self._nodes.values()):
            return target
        raise RecipeError(f"{name} cannot be inserted: no other node reads the constant {target}")

    def _remove(self, change: Mapping[str, Json]) -> None:
        node = self.node(change["remove"])
        if node.op in ("placeholder", "output"):
            raise RecipeError(
                f"{node.name} is {kind_text(node)}: only calls and constants can be removed"
            )
        if node.users:
            first, *others = sorted(node.users)
            more = f"and {len(others)} more read" if others else "reads"
            raise RecipeError(f"{node.name} cannot be removed: {first.name} {more} it")
        after, meta, name = node.next.name, node.meta, node.name
        op, target, args, kwargs = node.op, node.target, node.args, node.kwargs

        def restore() -> None:
            place = self._nodes[after]
            self._create(place, op, target, self._present(args), self._present(kwargs), name)
            self._nodes[name].meta.update(meta)

        self._undo.append(restore)
        self._touched.discard(node)
        self._stood.pop(node, None)
        self._erase(name)

    def _replace(self, change: Mapping[str, Json]) -> None:
        node = self.node(change["replace"])
        if "custom" in change:
            self._annotate(node, change["custom"])
        if not _CALL.intersection(change):
            return
        if node.op not in ("call_function", "output"):
            raise RecipeError(f"{node.name} is {kind_text(node)}: it has no call to replace")
        if node.op == "output" and any(key in change for key in ("target", "kwargs", "val")):
            raise RecipeError(f"{node.name} is the output: only its arguments can be replaced")
        name, target, args, kwargs = node.name, node.target, node.args, node.kwargs
        has_value, value = "val" in node.meta, node.meta.get("val")

        def restore() -> None:
            now = self._nodes[name]
            now.target = target
            now.args, now.kwargs = self._present(args), self._present(kwargs)
            now.meta.pop("val", None)
            if has_value:
                now.meta["val"] = value

        self._undo.append(restore)
        self._touched.add(node)
        self._changed.add(node)
        if "inputs" in change:
            node.args, node.kwargs = self._exchanged(node, change["inputs"])
        if "target" in change:
            node.target = self._target(change["target"], node.name)
        if "args" in change:
            node.args = self._args(change["args"], node.name)
        if "kwargs" in change:
            node.kwargs = self._kwargs(change["kwargs"], node.name)
        if change.get("val") is not None:
            node.meta["val"] = self._values.value(node, change["val"])

    def _exchanged(self, node: fx.Node, inputs: Json) -> tuple[Any, Any]:
        """The arguments of ``node`` with several inputs replaced at once by others, which are given
        by name."""
        if not isinstance(inputs, Mapping) or not all(
            isinstance(name, str) for name in inputs.values()
        ):
            raise RecipeError("`inputs`: expected an object with a node name for each input")
        now: dict[fx.Node, fx.Node] = {}
        reads = set(node.all_input_nodes)
        for old, new in inputs.items():
            was = self._nodes.get(old)
            if was is None or was not in reads:
                raise RecipeError(f"{node.name} does not read {old}, so {new} cannot replace it")
            if new not in self._nodes:
                raise RecipeError(f"there is no node {new} to replace {old}")
            now[was] = self._nodes[new]
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda each: now.get(each, each))
        return args, kwargs

    def _annotate(self, node: fx.Node, custom: Json) -> None:
        if node.op == "output":
            raise RecipeError(f"{node.name} is the output: it has no annotations")
        if custom is not None and not isinstance(custom, Mapping):
            raise RecipeError(f"the annotations of {node.name} are damaged")
        name, before = node.name, node.meta.get("custom")

        def restore() -> None:
            _set_annotations(self._nodes[name], before)

        self._undo.append(restore)
        _set_annotations(node, custom)

    # Parts of changes.

    def _place(self, change: Mapping[str, Json]) -> fx.Node:
        before = self.node(change["before"])
        if before.op == "placeholder":
            raise RecipeError(f"{before.name} is a placeholder: no node can be placed before it")
        return before

    def _target(self, name: Json, node: str) -> Callable[..., Any]:
        if not isinstance(name, str):
            raise RecipeError(f"{node} has no target")
        target = resolve_target(name)
        if isinstance(target, UnknownOperator) and not self._is_loaded:
            raise RecipeError(
                f"{node} would call {name}, which torch {torch.__version__} does not have; import "
                "the module that registers it"
            )
        return target

    def _args(self, args: Json, name: str) -> tuple[Any, ...]:
        if not isinstance(args, list):
            raise RecipeError(f"the arguments of {name} are not a list")
        return tuple(self._argument(each) for each in args)

    def _kwargs(self, kwargs: Json, name: str) -> dict[str, Any]:
        # fx generates Python code from these, so only identifiers are safe.
        if not isinstance(kwargs, Mapping) or not all(map(_is_identifier, kwargs)):
            raise RecipeError(f"the keyword arguments of {name} are damaged")
        return {key: self._argument(each) for key, each in kwargs.items()}

    def _argument(self, value: Json) -> Any:
        try:
            return decode_argument(value, self.node, self._assumptions)
        except (AttributeError, LookupError, TypeError) as error:
            raise RecipeError(f"an argument is damaged: {error}") from None

    def _create(
        self, before: fx.Node, op: str, target: Any, args: Any, kwargs: Any, name: str
    ) -> None:
        with self._graph.inserting_before(before):
            node = self._graph.create_node(op, target, args, kwargs, name=name)
        node.name = name  # torch renames names that end in a number or shadow a builtin
        self._nodes[name] = node

    def _present(self, arguments: Any) -> Any:
        """``arguments``, with nodes that were removed and recreated replaced by the new ones."""
        return fx.map_arg(arguments, lambda each: self._nodes[each.name])

    def _erase(self, name: str) -> None:
        node = self._nodes.pop(name)
        self._touched.discard(node)
        self._graph.erase_node(node)


def _set_annotations(node: fx.Node, custom: Mapping[str, Json] | None) -> None:
    if custom is None:
        node.meta.pop("custom", None)
    else:
        node.meta["custom"] = dict(custom)


def _is_identifier(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _meta(record: Mapping[str, Json]) -> dict[str, Any]:
    """The metadata in a record of a recipe."""
    meta = {key: record[key] for key in (*_PLAIN_META, "ac_graph_id") if key in record}
    if isinstance(record.get("stack"), str):
        meta["stack_trace"] = record["stack"]
    if isinstance(record.get("module"), list):
        key = "fwd_nn_module_stack" if record.get("module_from_fwd") else "nn_module_stack"
        rows = record["module"]
        meta[key] = {f"{path}@{depth}": (path, kind) for depth, (path, kind) in enumerate(rows)}
    if "recompute" in record:
        policies = CheckpointPolicy.__members__
        meta["recompute"] = policies.get(record["recompute"], record["recompute"])
    return meta | decode_bucket(record)
