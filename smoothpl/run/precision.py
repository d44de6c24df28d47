"""What this machine can really do."""

from multiprocessing import get_context

import torch
from lightning.pytorch.accelerators import AcceleratorRegistry

from smoothpl.errors import ConfigError

ON_ANY_MACHINE = ("32", "32-true", "64", "64-true")
PRECISIONS = (
    *("64-true", "32-true", "16-true", "bf16-true", "16-mixed", "bf16-mixed", "64", "32", "16", "bf16"),
    *("transformer-engine", "transformer-engine-float16"),
)
"""What Lightning knows."""
PATIENCE = 60  # seconds


def check_accelerator(name: str) -> None:
    """Refuses what Lightning does not know, and what is not there."""
    known = AcceleratorRegistry.available_accelerators()
    if name == "auto":
        return
    if name not in {"gpu", *known}:
        raise ConfigError(f"trainer.accelerator={name} must be one of auto, gpu, {', '.join(sorted(known))}.")
    devices = ("cuda", "mps") if name == "gpu" else (name,)
    if not any(AcceleratorRegistry[each]["accelerator"].is_available() for each in devices):
        missing = "GPU that torch can use" if name == "gpu" else name
        raise ConfigError(f"trainer.accelerator={name}: this machine has no {missing}; leave it out, or use cpu.")


def check_precision(precision: str | int, accelerator: str) -> None:
    """Some CPUs advertise bfloat16 and stop with an illegal instruction: it is tried, in a process of its own."""
    if str(precision) not in PRECISIONS:
        raise ConfigError(f"trainer.precision={precision} must be one of {', '.join(PRECISIONS)}.")
    on_gpu = accelerator == "gpu" or (accelerator != "cpu" and torch.accelerator.is_available())
    if str(precision) in ON_ANY_MACHINE or on_gpu:
        return
    if "bf16" not in str(precision):
        raise ConfigError(f"trainer.precision={precision} needs a GPU; on a CPU use 32-true or bf16-mixed.")
    trial = get_context("fork").Process(target=multiply_in_bfloat16)
    trial.start()
    trial.join(PATIENCE)
    if trial.exitcode != 0:
        trial.kill()
        raise ConfigError(
            f"trainer.precision={precision}: this CPU says that it can compute in bfloat16, and stops when it does "
            f"(exit code {trial.exitcode}); use trainer.precision=32-true."
        )


def multiply_in_bfloat16() -> None:
    torch.set_num_threads(1)  # the threads of the parent were not forked with it
    images, kernels = torch.ones(2, 32, 8, 8), torch.ones(32, 32, 3, 3)
    with torch.autocast("cpu", torch.bfloat16):
        torch.nn.functional.conv2d(images, kernels).sum().item()
        (torch.ones(64, 64) @ torch.ones(64, 64)).sum().item()


def use_tf32(allowed: bool) -> None:
    """On GPUs: products of 32-bit numbers with the mantissa of 16-bit ones."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed
