"""Records the position of a rank, even if it is killed (core/bench/status_file.h).

The parent process creates a file of four 64-bit integers and names it in ``JOINTER_STATUS_FILE``: a
magic number, the stage, the position of the node, and a counter that changes with every update.
"""

from __future__ import annotations

import mmap
import os

_VARIABLE = "JOINTER_STATUS_FILE"
_WORD, _WORDS, _MAGIC = 8, 4, 0x4A4E5452
#: ``kRunStages``: the index of a stage is in the file.
_STAGES = (
    "load", "groups", "compile", "inputs", "verify", "warm up", "measure", "profile", "finish",
)  # fmt: skip


class StatusFile:
    """Writes the position of this process. If there is no file, does nothing."""

    def __init__(self, path: str | None) -> None:
        self._words: memoryview | None = None
        self._count = 0
        if path is None:
            return
        try:
            with open(path, "r+b") as file:
                words = memoryview(mmap.mmap(file.fileno(), _WORDS * _WORD)).cast("q")
        except (OSError, ValueError):
            return  # continue, since only progress reports are lost
        if words[0] == _MAGIC:
            self._words, self._count = words, words[3]

    @classmethod
    def from_environment(cls) -> StatusFile:
        """The file named in the environment, if any."""
        return cls(os.environ.get(_VARIABLE))

    def set_stage(self, stage: str) -> None:
        """Record that a stage begins, without a node."""
        if self._words is not None:
            self._words[1] = _STAGES.index(stage) if stage in _STAGES else -1
            self.set_position(-1)

    def set_position(self, position: int) -> None:
        """Record that the node at ``position`` runs."""
        if self._words is not None:
            self._count += 1
            self._words[2] = position
            self._words[3] = self._count
