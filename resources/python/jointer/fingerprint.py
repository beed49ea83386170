"""Finds the first difference from a graph of which only the fingerprint is known.

Hashes show that two graphs differ; fingerprints also show where. A fingerprint has four characters
per node, in order, for its name, target, arguments and value. Each line of the canonical text,
``NAME TARGET(ARGS) -> VAL``, is split at its first space, at the first ``(`` after that, and at its
last ``) -> ``. Each part becomes the character of the base64url alphabet selected by the lowest six
bits of its CRC-32. ``docs/hash.md`` defines fingerprints; C++ computes the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from .counted import counted

_PIECES = 4
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

#: The index of the arguments among the four parts.
_ARGUMENTS = 2

#: Number of nodes that must agree before a difference counts as an insertion.
_COMPARED = 4


def fingerprint(lines: Iterable[str]) -> str:
    """The fingerprint of a graph with this canonical text."""
    return "".join(_digest(piece) for line in lines for piece in _pieces(line))


def first_difference(lines: Sequence[str], recorded: str) -> str | None:
    """The first difference from the graph with the fingerprint ``recorded``, in one sentence.

    ``None`` if they do not differ.
    """
    here = fingerprint(lines)
    if here == recorded:
        return None
    shorter = min(len(here), len(recorded))
    first = next((i for i in range(shorter) if here[i] != recorded[i]), shorter)
    index = first // _PIECES
    if index >= len(lines):
        nodes = len(recorded) // _PIECES
        ends = f"this graph ends after {counted(len(lines), 'node')}"
        return f"{ends}; the recorded graph has {nodes}"
    return _describe(lines[index], here, recorded, index)


def different_arguments(lines: Sequence[str], recorded: str) -> list[int]:
    """Indices of the nodes whose arguments differ from those in the fingerprint ``recorded`` of a
    graph with the same nodes. Nodes beyond the end of ``recorded`` count as different. One in 64
    differences is missed on average."""
    here, there = fingerprint(lines)[_ARGUMENTS::_PIECES], recorded[_ARGUMENTS::_PIECES]
    return [index for index, each in enumerate(here) if there[index : index + 1] != each]


def _describe(line: str, here: str, there: str, index: int) -> str:
    name, target, arguments, value = _pieces(line)
    place = f"node {index}, {name}"

    def differs(piece: int) -> bool:
        at = index * _PIECES + piece
        return at >= len(there) or here[at] != there[at]

    if index * _PIECES >= len(there):
        return f"{place}: the recorded graph ends before this node"
    if _agree(here, index, there, index + 1):
        return f"{place}: a node before this one is missing"
    if differs(0) and _agree(here, index + 1, there, index):
        return f"{place}: the recorded graph does not contain this node"
    if differs(0):
        return f"{place}: the recorded graph has a different node here"
    if differs(1):
        return f"{place}: the target differs; here it is {target}"
    if differs(2):
        return f"{place}: the arguments differ; here they are {arguments}"
    return f"{place}: the value differs; here it is {value}"


def _agree(here: str, a: int, there: str, b: int) -> bool:
    """True if the nodes from ``a`` and from ``b`` on agree, as far as both exist."""
    x = here[a * _PIECES :][: _COMPARED * _PIECES]
    y = there[b * _PIECES :][: _COMPARED * _PIECES]
    both = min(len(x), len(y))
    return both > 0 and x[:both] == y[:both]


def _pieces(line: str) -> tuple[str, str, str, str]:
    name = line.index(" ")
    target = line.index("(", name)
    arguments = line.rindex(") -> ")
    return line[:name], line[name + 1 : target], line[target : arguments + 1], line[arguments + 5 :]


def _digest(piece: str) -> str:
    return _ALPHABET[zlib.crc32(piece.encode(errors="surrogatepass")) & 63]
