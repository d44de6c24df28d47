"""What this machine can really do."""

import torch
from lightning.pytorch.accelerators import AcceleratorRegistry

from smoothpl.config.checks.trainer import AUTO, EXACT, HALF
from smoothpl.errors import ConfigError, require
from smoothpl.run.trial import TrialError, tried

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
    require(
        precision != AUTO,
        "trainer.precision=auto is found before a run is composed; type it, or trainer=fast, on the command line of "
        f"smoothpl.train, not in a YAML. Or name one: {EXACT}, {HALF}.",
    )
    if str(precision) not in PRECISIONS:
        raise ConfigError(f"trainer.precision={precision} must be one of {AUTO}, {', '.join(PRECISIONS)}.")
    if str(precision) in ON_ANY_MACHINE or is_on_gpu(accelerator):
        return
    if "bf16" not in str(precision):
        raise ConfigError(f"trainer.precision={precision} needs a GPU; on a CPU use {EXACT} or {HALF}.")
    try:
        tried(multiply_in_bfloat16, PATIENCE)
    except TrialError as error:
        raise ConfigError(
            f"trainer.precision={precision}: this CPU says that it can compute in bfloat16, and when that was tried, "
            f"{error}; use trainer.precision={EXACT}."
        ) from None


def is_on_gpu(accelerator: str) -> bool:
    return accelerator == "gpu" or (accelerator != "cpu" and torch.accelerator.is_available())


def gpu_computes_in_bfloat16() -> bool:
    """With instructions of its own: torch emulates it on older ones."""
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def multiply_in_bfloat16() -> None:
    images, kernels = torch.ones(2, 32, 8, 8), torch.ones(32, 32, 3, 3)
    with torch.autocast("cpu", torch.bfloat16):
        torch.nn.functional.conv2d(images, kernels).sum().item()
        (torch.ones(64, 64) @ torch.ones(64, 64)).sum().item()


def use_tf32(allowed: bool) -> None:
    """On GPUs: products of 32-bit numbers with the mantissa of 16-bit ones."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed
