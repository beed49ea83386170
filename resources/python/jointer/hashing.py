"""The hash of a graph: SHA-256 over one canonical text.

The text has one line per node, in program order, each terminated by a newline::

    NAME TARGET(ARGS) -> VAL

``NAME`` is the node's name and ``TARGET`` its target as in a capture. ``ARGS`` are the
positional arguments, then the keyword arguments as ``key=argument`` sorted by key (by code
point), all joined by ``,``.

An argument is written as

======================  ==========================================================================
``None``, a bool        ``None``, ``True``, ``False``
an integer              its decimal digits
a float                 ``f`` and the 16 lower-case hex digits of its big-endian IEEE-754 double;
                        every NaN is ``f7ff8000000000000``
a string                between double quotes: ``\\`` as ``\\\\``, ``"`` as ``\\"``, characters
                        below U+0020 as ``\\u00xx`` (lower-case hex), others unchanged, in UTF-8
a node                  ``%NAME``
a list, a tuple         ``[a,b]``, ``(a,b)``
a dict                  ``{"k":a,"l":b}`` in insertion order
a slice                 ``slice(a,b,c)``
a complex number        ``complex(f..,f..)``
a dtype                 ``dtype:float32``
a device                ``device:cuda:0``
a layout                ``layout:strided``
a memory format         ``memory_format:contiguous_format``
a symbolic number       ``sym:EXPRESSION``, the expression's text unchanged
an operator             ``op:aten.mm.default``
anything else           ``opaque:TYPE``
======================  ==========================================================================

``VAL`` is ``DTYPE[d0,d1,...]`` for a tensor, each size a decimal number or ``sym:EXPRESSION``;
``[v,v]`` for a list or a tuple; ``{"k":v}`` for a dict; ``sym:EXPRESSION`` for a symbolic
number; ``const`` for a constant, including ``None`` inside a list or dict; ``opaque:TYPE`` for
an object such as a random generator; ``None`` if there is no value.

Subgraphs of higher-order operators are not part of the text, nor are strides, devices of values,
storages, metadata or the data of constants.

``rank_hash`` is the hash of a text that is the same on every rank of a program: in arguments,
integers are ``#``, process groups are numbered in order of appearance (``group:0``), and devices
have no index (``device:cuda``).
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import fx

from .encode import encode_node
from .errors import CaptureError
from .groups import group_positions, names_group
from .values import ValueEncoder

Json = Any

#: Writes a constant in an argument, given the constant's kind (``int``, ``device`` or ``group``)
#: and text.
_Write = Callable[[str, str], str]


def graph_hash(gm_or_graph: fx.GraphModule | fx.Graph) -> str:
    """The hash of a live graph, as 64 hex digits.

    Raises:
        CaptureError: the graph contains something that a capture cannot hold; the message names the
            node.
    """
    return digest(graph_lines(gm_or_graph))


def rank_hash(gm_or_graph: fx.GraphModule | fx.Graph) -> str:
    """The hash that a live graph has on every rank of its program, as 64 hex digits.

    Raises:
        CaptureError: as in ``graph_hash``.
    """
    return digest(rank_lines(graph_records(gm_or_graph)))


def document_hash(document: Mapping[str, Json]) -> str | list[str]:
    """The hash of a capture document, equal to ``graph_hash`` of the loaded graph.

    For a partitioned pair: the hash of the forward graph and the hash of the backward graph; for
    a pipeline's stages: the hash of each.
    """
    if document.get("kind") == "stages":
        inner = (stage["capture"]["nodes"] for stage in document["stages"])
        return [digest(canonical_lines(nodes)) for nodes in inner]
    if document.get("kind") == "pair":
        return [digest(canonical_lines(document[half]["nodes"])) for half in ("forward", "backward")]
    return digest(canonical_lines(document["nodes"]))


def canonical_lines(records: Any) -> Iterator[str]:
    """The canonical text of node records, line by line, without the newlines."""
    for record in records:
        yield _line(Record(record), _exact)


@dataclass(frozen=True)
class Record:
    """The record of a node, and the indices of the positional arguments that may name a process
    group."""

    content: Mapping[str, Json]
    groups: tuple[int, ...] = ()


@dataclass(frozen=True)
class Names:
    """Another rank's names for the process groups and devices of this rank, by their names on this
    rank."""

    groups: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)


def graph_records(gm_or_graph: fx.GraphModule | fx.Graph) -> list[Record]:
    """The records of a live graph, for ``record_lines`` and ``rank_lines``.

    Raises:
        CaptureError: the graph contains something that a capture cannot hold; the message names the
            node.
    """
    graph = getattr(gm_or_graph, "graph", gm_or_graph)
    values = ValueEncoder()
    return [Record(encode_node(node, values), group_positions(node.target)) for node in graph.nodes]


def record_lines(records: Iterable[Record], names: Names | None = None) -> list[str]:
    """The canonical text of records; in arguments, groups and devices have the names of another
    rank if these are given."""

    def renamed(kind: str, text: str) -> str:
        if kind == "device":
            return names.devices.get(text, text)
        return _text(names.groups.get(text, text)) if kind == "group" else text

    return [_line(record, _exact if names is None else renamed) for record in records]


def rank_lines(records: Iterable[Record]) -> list[str]:
    """The text that is the same on every rank of a program, line by line."""
    numbers: dict[str, int] = {}

    def of_any_rank(kind: str, text: str) -> str:
        if kind == "device":
            return text.partition(":")[0]
        return f"group:{numbers.setdefault(text, len(numbers))}" if kind == "group" else "#"

    return [_line(record, of_any_rank) for record in records]


def _exact(kind: str, text: str) -> str:
    return _text(text) if kind == "group" else text


def _line(record: Record, write: _Write) -> str:
    content = record.content
    arguments = [
        _top_argument(each, i in record.groups, write)
        for i, each in enumerate(content.get("args", ()))
    ]
    keywords = content.get("kwargs", {})
    arguments += [
        f"{key}={_top_argument(keywords[key], names_group(key), write)}" for key in sorted(keywords)
    ]
    value = value_text(content.get("val"))
    return f"{content['name']} {content['target']}({','.join(arguments)}) -> {value}"


def _top_argument(value: Json, is_group: bool, write: _Write) -> str:
    if is_group and isinstance(value, str):
        return write("group", value)
    return _argument(value, write)


def value_text(value: Json) -> str:
    """The canonical text of a node's value in a record."""
    return _value(value, nested=False)


def digest(lines: Iterable[str]) -> str:
    """The hash of a graph with this canonical text."""
    result = hashlib.sha256()
    for line in lines:
        result.update(line.encode(errors="surrogatepass"))
        result.update(b"\n")
    return result.hexdigest()


def graph_lines(gm_or_graph: fx.GraphModule | fx.Graph) -> list[str]:
    """The canonical text of a live graph, line by line, without the newlines.

    Raises:
        CaptureError: the graph contains something that a capture cannot hold; the message names the
            node.
    """
    return record_lines(graph_records(gm_or_graph))


def _argument(value: Json, write: _Write) -> str:
    match value:
        case None | bool():
            return str(value)
        case int():
            return write("int", str(value))
        case float():
            return _float(value)
        case str():
            return _text(value)
        case list():
            return f"[{_joined(value, write)}]"
        case {"opaque": type_name}:
            return f"opaque:{type_name}"
    ((key, inner),) = value.items()
    match key:
        case "n":
            return f"%{inner}"
        case "tuple":
            return f"({_joined(inner, write)})"
        case "dict":
            pairs = (f"{_text(k)}:{_argument(v, write)}" for k, v in inner.items())
            return "{" + ",".join(pairs) + "}"
        case "slice":
            return f"slice({_joined(inner, write)})"
        case "f":
            return _float(float(inner))
        case "complex":
            return f"complex({','.join(_float(_number(part)) for part in inner)})"
        case "symint" | "symfloat":
            return f"sym:{inner}"
        case "device":
            return f"device:{write('device', inner)}"
        case "dtype" | "layout" | "memory_format" | "op":
            return f"{key}:{inner}"
    raise CaptureError(f"argument of unknown kind {key!r}; use a newer Jointer")


def _joined(values: list[Json], write: _Write) -> str:
    return ",".join(_argument(each, write) for each in values)


def _value(value: Json, nested: bool) -> str:
    if value is None:
        return "const" if nested else "None"
    if "t" in value:
        tensor = value["t"]
        return f"{tensor['dtype']}[{','.join(_size(each) for each in tensor['shape'])}]"
    if "list" in value:
        return f"[{','.join(_value(each, nested=True) for each in value['list'])}]"
    if "dict" in value:
        inner = value["dict"].items()
        return "{" + ",".join(f"{_text(k)}:{_value(v, nested=True)}" for k, v in inner) + "}"
    if "symint" in value or "symfloat" in value:
        return f"sym:{value['symint'] if 'symint' in value else value['symfloat']}"
    if "opaque" in value:
        return f"opaque:{value['opaque']}"
    return "const"


def _size(size: Json) -> str:
    return f"sym:{size['sym']}" if isinstance(size, Mapping) else str(size)


def _number(part: Json) -> float:
    return float(part["f"]) if isinstance(part, Mapping) else float(part)


def _float(value: float) -> str:
    if math.isnan(value):
        return "f7ff8000000000000"
    return f"f{struct.pack('>d', value).hex()}"


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in escaped) + '"'
