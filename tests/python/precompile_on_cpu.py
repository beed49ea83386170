"""torchtitan's ``precompile_main``, which compiles on one rank for all ranks, on the CPU.

    python precompile_on_cpu.py FOLDER --module graph_trainer.llama3 --config NAME ...

Uses the tokenizer of ``trainer_on_cpu.py``. Only the device is replaced, which upstream hard-codes
as ``cuda:0``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from trainer_on_cpu import use_cpu, write_assets


def main() -> None:
    folder, *arguments = sys.argv[1:]
    write_assets(Path(folder))
    import torch

    torch.cuda.set_device = lambda device: None
    use_cpu()
    from torchtitan.experiments.graph_trainer import precompile_main

    setup = precompile_main._common_setup

    def setup_on_cpu(config: Any) -> Any:
        found = setup(config)
        return tuple(
            torch.device("cpu") if isinstance(each, torch.device) else each for each in found
        )

    precompile_main._common_setup = setup_on_cpu
    sys.argv[1:] = [
        *arguments,
        "--hf_assets_path",
        f"{folder}/tokenizer",
        "--compile.precompile_artifact_dir",
        f"{folder}/artifacts",
        "--dump_folder",
        f"{folder}/outputs",
    ]
    precompile_main.main()


if __name__ == "__main__":
    main()
