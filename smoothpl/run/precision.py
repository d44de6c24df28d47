"""What this machine can really do."""

from multiprocessing import get_context

import torch

from smoothpl.errors import ConfigError

ON_ANY_MACHINE = ("32", "32-true", "64", "64-true")
PATIENCE = 60  # seconds


def check_precision(precision: str | int, accelerator: str) -> None:
    """Some CPUs advertise bfloat16 and stop with an illegal instruction: it is tried, in a process of its own."""
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
