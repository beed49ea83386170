"""torchtitan's own ``train.main()`` on the CPU, with a small tokenizer and data set.

    python trainer_on_cpu.py FOLDER --module graph_trainer.llama3 --config NAME ...

writes both into FOLDER if they are missing. The installed torch is built for CUDA: here queries for
the device return the CPU, memory is not measured, and copies to the host and back need no streams.
The model, the trainer, the trace and its passes are torchtitan's. ``JOINTER_TEST_RECIPE`` names
a recipe to apply after the pass that sets memory policies, as a pipeline of passes called
``jointer``; ``JOINTER_TEST_PIPELINE`` a Python file to import first, as written by
``jointer apply --save-graph-trainer``.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import sys
from pathlib import Path
from typing import Any

WORDS = [f"word{i}" for i in range(300)]


def write_assets(folder: Path) -> None:
    """A tokenizer with a few words, and texts made of them."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    assets, data = folder / "tokenizer", folder / "data"
    if data.exists():
        return
    assets.mkdir(parents=True)
    special = ["<s>", "</s>", "<unk>"]
    vocabulary = {word: index for index, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(assets / "tokenizer.json"))
    facts = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": True}
    (assets / "tokenizer_config.json").write_text(json.dumps(facts))
    choose = random.Random(0)
    data.mkdir()
    with (data / "train.json").open("w") as file:
        for _ in range(100):
            text = " ".join(choose.choices(WORDS, k=200))
            file.write(json.dumps({"text": text}) + "\n")


def use_cpu() -> None:
    """Lets torchtitan train on the CPU."""
    import torch
    from torchtitan.components import metrics
    from torchtitan.distributed import utils as distributed
    from torchtitan.tools import utils

    class NoMonitor:
        device_name = "cpu"

        def get_peak_stats(self) -> Any:
            return metrics.DeviceMemStats(*[0] * len(metrics.DeviceMemStats._fields))

        def reset_peak_stats(self) -> None:
            return None

    utils.get_local_device = lambda: torch.device("cpu")
    metrics.build_device_memory_monitor = NoMonitor
    distributed.set_pg_timeouts = lambda *args, **options: None
    import torchtitan.trainer  # noqa: F401  (takes the device's names from the modules above)

    for name, module in list(sys.modules.items()):
        if name.startswith("torchtitan"):
            if getattr(module, "device_type", None) == "cuda":
                module.device_type = "cpu"
            if getattr(module, "device_module", None) is torch.cuda:
                module.device_module = torch.cpu


def copy_without_streams() -> None:
    """Runs copies to the host and back immediately. Memory is still freed where torch frees it."""
    import torch
    from torch._functorch._activation_offloading import offload_ops

    class NoStream:
        def __getattr__(self, name: str) -> Any:
            return lambda *args: None

    offload_ops._get_or_create_transfer_stream = lambda device: NoStream()
    offload_ops._maybe_pool_alloc = lambda count, dtype: torch.empty(count, dtype=dtype)
    torch.accelerator.current_stream = lambda device=None: NoStream()
    torch.accelerator.set_stream = lambda stream: None


def print_losses() -> None:
    """Prints each step's loss bit for bit."""
    from torchtitan.experiments.graph_trainer.trainer import GraphTrainer

    step = GraphTrainer.forward_backward_step

    def step_and_print(self: Any, **inputs: Any) -> Any:
        loss = step(self, **inputs)
        print("loss", float(loss).hex(), flush=True)
        return loss

    GraphTrainer.forward_backward_step = step_and_print


def add_pipeline(recipe: str) -> None:
    """Registers graph_trainer's own passes with ``recipe`` among them."""
    from torchtitan.experiments.graph_trainer.passes import (
        _get_pass_name,
        construct_default_graph_passes,
    )
    from torchtitan.experiments.graph_trainer.registry import register_pass_pipeline

    import jointer

    @register_pass_pipeline("jointer")
    def pipeline(traced: Any, config: Any, *, parallel_dims: Any = None) -> list[Any]:
        passes = construct_default_graph_passes(traced, config, parallel_dims=parallel_dims)
        names = [_get_pass_name(each) for each in passes]
        position = names.index("tag_with_memory_policy_pass") + 1
        return [*passes[:position], jointer.recipe_pass(recipe), *passes[position:]]


def main() -> None:
    folder, *arguments = sys.argv[1:]
    for key in ("RANK", "LOCAL_RANK"):
        os.environ.setdefault(key, "0")
    write_assets(Path(folder))
    use_cpu()
    copy_without_streams()
    print_losses()
    sys.argv[1:] = [
        *arguments,
        "--hf_assets_path",
        f"{folder}/tokenizer",
        "--dataloader.dataset_path",
        f"{folder}/data",
        "--dump_folder",
        f"{folder}/outputs",
    ]
    if recipe := os.environ.get("JOINTER_TEST_RECIPE"):
        add_pipeline(recipe)
        sys.argv += ["--compile.pass_pipeline", "jointer"]
    if pipeline := os.environ.get("JOINTER_TEST_PIPELINE"):
        runpy.run_path(pipeline)
    from torchtitan.train import main as train

    train()


if __name__ == "__main__":
    main()
