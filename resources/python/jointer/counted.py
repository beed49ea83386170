"""Counts with their nouns, such as "1 call" or "3 calls"."""

from __future__ import annotations


def counted(count: int, one: str, several: str | None = None) -> str:
    """``count`` and its noun. ``several`` is the plural; by default, ``one`` with an "s"."""
    return f"{count} {one if count == 1 else several or one + 's'}"
