"""Converts a traced graph to a capture document.

``encode_graph`` builds the document, ``encode_node`` one record. A subgraph (of a higher-order
operator) has separate nodes and constants, but shares the tables of storages, modules and stacks of
the outermost document.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import fx

from . import symbols
from .arguments import encode_argument
from .descriptors import encode_descriptor, is_forward_output, is_gradient
from .document import FORMAT, VERSION
from .errors import CaptureError
from .fsdp_bucket import encode_bucket
from .groups import describe_group, group_names, group_objects
from .targets import operators_of, qualified_name, schema_aliases, schema_text, target_name
from .triton import describe_kernels
from .values import ValueEncoder

Json = Any

#: Key of the number of storages that were separated because the values of two allocating calls had
#: the same storage.
SPLIT = "split_storages"

KINDS = ("joint", "forward", "backward", "train_step", "subgraph")

#: Calls of a submodule or a method, which captures contain as calls of the unknown operators
#: ``call_module.NAME`` and ``call_method.NAME``.
OPAQUE_OPS = ("call_module", "call_method")

#: Keys of ``GraphModule.meta`` and ``Node.meta`` in which ``load`` stores the document's header and
#: the unknown keys of a record.
HEAD = "jointer_head"
EXTRA = "jointer_extra"

_DYNAMO_ROOT = re.compile(r"^L\['\w+'\]\.?")

#: Keys of ``Node.meta`` with JSON values.
_PLAIN_META = ("partitioner_tag", "autograd_backward", "ac_graph_id", "is_gradient_acc")

#: Autograd numbers the calls that it records from 0; all others have 2^64-1.
_SEQ_NR_LIMIT = 2**63

#: Keys that graph_trainer's passes for expert parallelism set in ``Node.meta``. They are written to
#: ``custom``, where eager chunking sets the same keys.
_CHUNK_MARKS = (
    "chunk_id",
    "chunked_region_fqn",
    "chunked_region_role",
    "chunked_region_is_backward",
    "chunked_region_producer",
)
_CHUNK_HINTS = "torchtitan_chunk_symbol_hints"


def encode_graph(
    gm: fx.GraphModule,
    *,
    kind: str | None = None,
    name: str | None = None,
    info: Mapping[str, Any] | None = None,
) -> dict[str, Json]:
    """The capture document of ``gm``.

    Args:
        gm: a graph of ``placeholder``, ``call_function``, ``get_attr`` and ``output`` nodes with
            fake tensors in ``meta["val"]``.
        kind: one of ``KINDS``; default: inferred.
        name: the capture's label; a loaded graph has its label already.
        info: free-form facts (JSON), added to those of a loaded graph.

    Raises:
        CaptureError: the graph contains something that a capture cannot hold; the message names the
            node.
    """
    head: dict[str, Json] = gm.meta.get(HEAD, {})
    kind = kind or head.get("kind") or infer_kind(gm.graph)
    if kind not in KINDS:
        raise CaptureError(f"kind {kind!r}: expected one of {', '.join(KINDS)}")
    encoder = _GraphEncoder(known_groups=head.get("groups", {}))
    nodes, constants = encoder.graph(gm)
    if split := encoder.values.split + head.get(SPLIT, 0):
        head = {**head, SPLIT: split}
    document: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "name": type(gm).__name__,
        "torch": torch.__version__,
        "rank": dist.get_rank() if _distributed() else 0,
        "world_size": dist.get_world_size() if _distributed() else 1,
        "info": {},
        "groups": {},
        "symbols": symbols.symbol_table(encoder.values.symbolic.values()),
        "triton_kernels": {},
        **head,
    }
    return {
        **document,
        "kind": kind,
        "name": name or document["name"],
        "info": {**document["info"], **_json(dict(info or {}))},
        "groups": {**document["groups"], **encoder.groups},
        # The indices in a loaded graph are those of the process that captured it.
        "triton_kernels": {**encoder.kernels, **document["triton_kernels"]},
        "schemas": dict(sorted({**document.get("schemas", {}), **encoder.schemas}.items())),
        "constants": constants,
        "storages": encoder.values.storages,
        "modules": encoder.modules.rows,
        "stacks": encoder.stacks.rows,
        "nodes": nodes,
    }


def encode_node(node: fx.Node, values: ValueEncoder) -> dict[str, Json]:
    """The part of a record that describes the computation: name, op, target, args, kwargs, value.

    Raises:
        CaptureError: an operator or an argument that a capture cannot hold.
    """
    op = "call_function" if node.op in OPAQUE_OPS else node.op
    record: dict[str, Json] = {"name": node.name, "op": op, "target": _target(node)}
    try:
        if node.args:
            record["args"] = [encode_argument(each) for each in node.args]
        if node.kwargs:
            record["kwargs"] = {key: encode_argument(x) for key, x in node.kwargs.items()}
        if "val" in node.meta and node.op != "output":
            record["val"] = values.of_node(node)
    except CaptureError as error:
        raise CaptureError(f"node {node.name}: {error}") from None
    return record


def infer_kind(graph: fx.Graph) -> str:
    """The kind of ``graph``, according to its descriptors if it has any, otherwise to its
    placeholders."""
    placeholders = [node.name for node in graph.nodes if node.op == "placeholder"]
    has_tangents = any(name.startswith("tangents") for name in placeholders)
    outputs = graph.output_node().meta.get("desc") or []
    if any(map(is_gradient, outputs)):
        if not any(map(is_forward_output, outputs)):
            return "backward"
        return "joint" if has_tangents else "train_step"
    if has_tangents:
        of_joint = ("primals", "tangents", "fwd_seed", "fwd_base", "bwd_seed", "bwd_base")
        return "joint" if all(name.startswith(of_joint) for name in placeholders) else "backward"
    if outputs or any(name.startswith("primals") for name in placeholders):
        return "forward"
    is_flat = any(
        node.meta.get("autograd_backward") or node.meta.get("partitioner_tag") == "is_backward"
        for node in graph.nodes
    )
    return "train_step" if is_flat else "forward"


class _Interned:
    """A table of unique rows, numbered in order of insertion."""

    def __init__(self) -> None:
        self.rows: list[Json] = []
        self._index: dict[Any, int] = {}

    def index(self, key: Any, row: Json) -> int:
        """The number of ``row``, which ``key`` identifies."""
        if key not in self._index:
            self._index[key] = len(self.rows)
            self.rows.append(row)
        return self._index[key]


class _GraphEncoder:
    """The records of the graphs in one document, and the tables to which they refer."""

    def __init__(self, known_groups: Mapping[str, Json]) -> None:
        self.values = ValueEncoder()
        self.modules = _Interned()
        self.stacks = _Interned()
        self.groups: dict[str, Json] = {}
        self.kernels: dict[str, Json] = {}
        self.schemas: dict[str, str] = {}
        self._known_groups = known_groups

    def graph(self, gm: fx.GraphModule) -> tuple[list[Json], dict[str, Json]]:
        """The records of ``gm``'s nodes, and its constants by ``get_attr`` target."""
        nodes = [self._record(node) for node in gm.graph.nodes]
        constants: dict[str, Json] = {}
        for node in gm.graph.nodes:
            if node.op == "get_attr" and node.target not in constants:
                constants[node.target] = self._constant(gm, node)
        return nodes, constants

    def _constant(self, gm: fx.GraphModule, node: fx.Node) -> Json:
        try:
            value = attrgetter(node.target)(gm)
        except AttributeError:
            raise CaptureError(f"node {node.name}: the module has no {node.target!r}") from None
        if isinstance(value, fx.GraphModule):
            nodes, constants = self.graph(value)
            return {"subgraph": {"kind": "subgraph", "constants": constants, "nodes": nodes}}
        if isinstance(value, torch.Tensor):
            return self.values.constant(value, node.meta.get("val"))
        return encode_argument(value)

    def _record(self, node: fx.Node) -> dict[str, Json]:
        record = encode_node(node, self.values)
        for name in (*group_names(node), *(each.group_name for each in group_objects(node))):
            if name not in self.groups:
                group = self._known_groups.get(name) or describe_group(name)
                self.groups.update({name: group} if group else {})
        for operator in operators_of(node):
            if (schema := schema_text(operator)) is not None:
                self.schemas[target_name(operator)] = schema
        self.kernels.update(describe_kernels(node))
        meta = node.meta
        if node.op == "call_function" and (aliases := schema_aliases(node.target)):
            record["schema_alias"] = aliases
        if stack := meta.get("stack_trace"):
            record["stack"] = self.stacks.index(stack, stack)
        for key, from_forward in (("nn_module_stack", False), ("fwd_nn_module_stack", True)):
            if modules := _module_stack(meta.get(key)):
                row = [list(each) for each in modules]
                record["module"] = self.modules.index(modules, row)
                if from_forward:
                    record["module_from_fwd"] = True
                break
        sequence = meta.get("seq_nr")
        if sequence is not None and 0 <= sequence < _SEQ_NR_LIMIT:
            record["seq_nr"] = sequence
        for key in _PLAIN_META:
            if meta.get(key) is not None:
                record[key] = meta[key]
        if (original := meta.get("original_aten")) is not None:
            record["original_aten"] = target_name(original) or str(original)
        if (policy := meta.get("recompute")) is not None:
            record["recompute"] = getattr(policy, "name", policy)
        if custom := {**(meta.get("custom") or {}), **_chunk_marks(meta)}:
            record["custom"] = _json(custom)
        if meta.get("desc") is not None:
            record["desc"] = encode_descriptor(meta["desc"])
        record |= encode_bucket(meta)
        return {**record, **meta.get(EXTRA, {})}


def _chunk_marks(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The chunk of a module, as annotated by graph_trainer's passes for expert parallelism."""
    marks = {key: meta[key] for key in _CHUNK_MARKS if key in meta}
    if hints := meta.get(_CHUNK_HINTS):
        marks[_CHUNK_HINTS] = {str(symbol): int(hint) for symbol, hint in hints.items()}
    return marks


def _target(node: fx.Node) -> str:
    if node.op in ("placeholder", "get_attr", "output"):
        return str(node.target)
    name = target_name(node.target) if node.op == "call_function" else None
    if name is not None:
        return name
    if not any("val" in each.meta for each in node.graph.nodes):
        raise CaptureError(
            f"node {node.name}: a {node.op} of {node.target!r} in a graph without values; trace "
            "the module into operators first"
        )
    if node.op in OPAQUE_OPS:
        return f"{node.op}.{node.target}"
    return qualified_name(node.target)


def _module_stack(stack: Any) -> tuple[tuple[str, str], ...]:
    """``(path, class)`` of the modules, outermost first. A class is written as ``module.Class``."""
    if not stack:
        return ()
    rows = ((_module_path(path), _class_name(kind)) for path, kind in stack.values())
    return tuple((path, kind) for path, kind in rows if path)


def _module_path(path: str) -> str:
    """The path of a module from the root, without Dynamo's name for the root (``L['self']``)."""
    return _DYNAMO_ROOT.sub("", path)


def _class_name(kind: Any) -> str:
    if not isinstance(kind, type):
        return str(kind)
    module = kind.__module__
    if module == "__main__":  # the script's name is more useful
        module = Path(getattr(sys.modules[module], "__file__", None) or module).stem
    return f"{module}.{kind.__qualname__}"


def _json(value: Any) -> Json:
    """``value``, with everything that JSON does not support converted to strings."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(each) for each in value]
    return str(value)


def _distributed() -> bool:
    return dist.is_available() and dist.is_initialized()
