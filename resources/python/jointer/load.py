"""Converts a capture document to a graph for torch's passes, partitioners and interpreters.

Values are fake tensors that share storages as in the capture. Sizes are plain numbers (see
``Assumptions``) that also contain their expressions. The metadata is the same as after tracing.
Graphs captured on the CPU also run.
"""

from __future__ import annotations

import contextlib
import keyword
import os
from collections.abc import Iterator, Mapping
from typing import Any

from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import CheckpointPolicy

from .arguments import decode_argument
from .descriptors import decode_descriptor
from .document import check_document, read_document
from .encode import EXTRA, HEAD
from .errors import CaptureError, first_line
from .fsdp_bucket import decode_bucket
from .groups import restore_groups
from .symbols import Assumptions, Number
from .targets import UnknownOperator, register_operators, resolve_target
from .values import ValueDecoder, as_returned

Json = Any

#: A loaded capture: a graph, the halves of a pair, or a pipeline's stages by name.
Loaded = fx.GraphModule | tuple[fx.GraphModule, fx.GraphModule] | dict[str, fx.GraphModule]

#: Keys of a node's record for metadata; other keys are preserved unchanged.
_PLAIN_META = ("seq_nr", "partitioner_tag", "autograd_backward", "ac_graph_id", "is_gradient_acc")
_COMPUTATION = ("name", "op", "target", "args", "kwargs", "val", "schema_alias")
_META = ("stack", "module", "module_from_fwd", "original_aten", "recompute", "custom", "desc")
_KNOWN = frozenset((*_PLAIN_META, *_COMPUTATION, *_META))

#: Exceptions that an invalid document can cause, here and in torch.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)

#: Keys of a document that the rebuilt graph represents differently.
_REBUILT = frozenset({"nodes", "storages", "modules", "stacks", "constants"})


def load(
    path: str | os.PathLike[str],
    assume: Mapping[str, Number] | None = None,
) -> Loaded:
    """Rebuild the graph of the capture at ``path``.

    Args:
        path: a ``.json`` or ``.json.zst`` capture.
        assume: symbol -> number, for symbols without a number in the capture.

    Returns:
        the graph; for a partitioned pair, the forward and the backward graph; for a pipeline's
        stages, a dict of graphs by name. If the capture has process groups and none is initialized,
        they are recreated with the ``fake`` backend and live until
        ``torch.distributed.destroy_process_group()``.

    Raises:
        CaptureError: the file is not a capture, is damaged, or has an unknown version.
        OSError: the file cannot be read.
    """
    return load_document(read_document(path), assume, path)


def load_document(
    document: Mapping[str, Json],
    assume: Mapping[str, Number] | None = None,
    where: str | os.PathLike[str] = "capture",
) -> Loaded:
    """``load`` for a document in memory; ``where`` names it in errors."""
    check_document(document, where)
    register_operators()
    if document.get("kind") == "stages":
        return dict(_load_stages(document, assume, where))
    if document.get("kind") != "pair":
        return _load_graph(document, assume, where)
    for half in ("forward", "backward"):
        check_document(document.get(half), f"{where}: {half}")
    return (
        _load_graph(document["forward"], assume, f"{where}: forward"),
        _load_graph(document["backward"], assume, f"{where}: backward"),
    )


def _load_stages(
    document: Mapping[str, Json],
    assume: Mapping[str, Number] | None,
    where: str | os.PathLike[str],
) -> Iterator[tuple[str, fx.GraphModule]]:
    with _damage(where):
        for stage in document["stages"]:
            name, inner = stage["name"], stage["capture"]
            check_document(inner, f"{where}: {name}")
            yield name, _load_graph(inner, assume, f"{where}: {name}")


def _load_graph(
    document: Mapping[str, Json],
    assume: Mapping[str, Number] | None,
    where: str | os.PathLike[str],
) -> fx.GraphModule:
    with _damage(where):
        return _Loader(document, assume).module()


@contextlib.contextmanager
def _damage(where: object) -> Iterator[None]:
    """Turn errors that an invalid document causes into one line that begins with ``where``."""
    try:
        yield
    except CaptureError as error:
        raise CaptureError(f"{where}: {error}") from None
    except KeyError as error:
        raise CaptureError(f"{where}: no {error}: the capture is damaged") from None
    except _DAMAGE as error:
        reason = first_line(error)
        raise CaptureError(f"{where}: {reason}: the capture is damaged") from None


class _Loader:
    """Rebuilds one document."""

    def __init__(
        self, document: Mapping[str, Json], assume: Mapping[str, Number] | None
    ) -> None:
        self._document = document
        self._stacks = document.get("stacks") or []
        self._modules = document.get("modules") or []
        self._assumptions = Assumptions(document.get("symbols") or {}, assume)
        self._values = ValueDecoder(
            document.get("storages") or [],
            self._assumptions,
            FakeTensorMode(allow_non_fake_inputs=True),
        )

    def module(self) -> fx.GraphModule:
        """The document's graph."""
        document = self._document
        restore_groups(
            document.get("groups") or {},
            document.get("rank") or 0,
            document.get("world_size") or 1,
        )
        gm = self._graph(document.get("nodes"), document.get("constants") or {})
        gm.meta[HEAD] = {key: value for key, value in document.items() if key not in _REBUILT}
        return gm

    def _graph(self, records: Json, constants: Mapping[str, Json]) -> fx.GraphModule:
        if not isinstance(records, list):
            raise CaptureError('no list of "nodes": the capture is damaged')
        root, graph = nn.Module(), fx.Graph()
        nodes: dict[str, fx.Node] = {}
        for record in records:
            with _damage(f"node {record.get('name')}"):
                node = self._node(graph, record, nodes)
                if node.op == "get_attr" and not hasattr(root, node.target):
                    self._set_constant(root, node.target, constants)
        graph.lint()
        return fx.GraphModule(root, graph)

    def _node(
        self, graph: fx.Graph, record: Mapping[str, Json], nodes: dict[str, fx.Node]
    ) -> fx.Node:
        name, op, target = record["name"], record["op"], record["target"]
        keywords = record.get("kwargs", {})
        # fx generates Python code from these, so only identifiers are safe.
        if name in nodes or not all(map(_is_identifier, (name, *keywords))):
            raise CaptureError("a name is not unique or not an identifier: the capture is damaged")
        if op != "call_function" and not all(map(_is_identifier, target.split("."))):
            raise CaptureError(f"target {target!r} is not an identifier: the capture is damaged")

        def argument(value: Json) -> Any:
            return decode_argument(value, nodes.__getitem__, self._assumptions)

        node = graph.create_node(
            op,
            resolve_target(target) if op == "call_function" else target,
            tuple(argument(each) for each in record.get("args", ())),
            {key: argument(each) for key, each in keywords.items()},
            name=name,
        )
        node.name = name  # torch renames names that end in a number or shadow a builtin
        nodes[name] = node
        if "val" in record:
            node.meta["val"] = as_returned(node.target, self._values.value(record["val"]))
        node.meta.update(self._meta(record))
        return node

    def _meta(self, record: Mapping[str, Json]) -> dict[str, Any]:
        meta = {key: record[key] for key in (*_PLAIN_META, "custom") if key in record}
        if "stack" in record:
            meta["stack_trace"] = self._stacks[record["stack"]]
        if "module" in record:
            key = "fwd_nn_module_stack" if record.get("module_from_fwd") else "nn_module_stack"
            rows = self._modules[record["module"]]
            meta[key] = {f"{path}@{depth}": (path, kind) for depth, (path, kind) in enumerate(rows)}
        if "original_aten" in record:
            found = resolve_target(record["original_aten"])
            known = not isinstance(found, UnknownOperator)
            meta["original_aten"] = found if known else record["original_aten"]
        if "recompute" in record:
            policies = CheckpointPolicy.__members__
            meta["recompute"] = policies.get(record["recompute"], record["recompute"])
        if "desc" in record:
            meta["desc"] = decode_descriptor(record["desc"])
        meta |= decode_bucket(record)
        if extra := {key: value for key, value in record.items() if key not in {*_KNOWN, *meta}}:
            meta[EXTRA] = extra
        return meta

    def _set_constant(self, root: nn.Module, target: str, constants: Mapping[str, Json]) -> None:
        if target not in constants:
            raise CaptureError(f"no constant {target!r}: the capture is damaged")
        record = constants[target]
        *path, name = target.split(".")
        owner = root
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner._modules[part]
        if not isinstance(record, dict) or not record.keys() & {"subgraph", "dtype"}:
            setattr(owner, name, record)
        elif "subgraph" in record:
            inner = record["subgraph"]
            owner.add_module(name, self._graph(inner.get("nodes"), inner.get("constants") or {}))
        elif "shape" in record:
            owner.register_buffer(name, self._values.constant(record))
        else:
            setattr(owner, name, decode_argument(record, _no_node, self._assumptions))


def _is_identifier(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _no_node(name: str) -> Any:
    raise CaptureError(f"a constant cannot refer to the node {name!r}")
