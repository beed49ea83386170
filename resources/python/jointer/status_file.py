"""Where a rank is, readable also when it was killed (core/bench/status_file.h).

Whoever starts the rank makes a file of four 64-bit integers and names it in
``JOINTER_STATUS_FILE``: a magic number, the stage, the position of the node, and a count that
grows with every change.
"""

from __future__ import annotations

import mmap
import os

_VARIABLE = "JOINTER_STATUS_FILE"
_WORD, _WORDS, _MAGIC = 8, 4, 0x4A4E5452
_STAGES = ("load", "groups", "inputs", "compile", "warm up", "measure", "profile", "verify")


class StatusFile:
    """Writes where this process is; without a file it does nothing."""

    def __init__(self, path: str | None) -> None:
        self._words: memoryview | None = None
        self._count = 0
        if path is None:
            return
        try:
            with open(path, "r+b") as file:
                words = memoryview(mmap.mmap(file.fileno(), _WORDS * _WORD)).cast("q")
        except (OSError, ValueError):
            return  # a sign of life less: no reason not to run
        if words[0] == _MAGIC:
            self._words, self._count = words, words[3]

    @classmethod
    def from_environment(cls) -> StatusFile:
        """The file that the environment names, or none."""
        return cls(os.environ.get(_VARIABLE))

    def set_stage(self, stage: str) -> None:
        """A stage begins, at no node yet."""
        if self._words is not None:
            self._words[1] = _STAGES.index(stage) if stage in _STAGES else -1
            self.set_position(-1)

    def set_position(self, position: int) -> None:
        """The node at ``position`` runs."""
        if self._words is not None:
            self._count += 1
            self._words[2] = position
            self._words[3] = self._count
