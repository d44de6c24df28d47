"""The processes of a run on several devices: one of them writes and prints."""


def is_first_process() -> bool:
    from lightning.pytorch.utilities import rank_zero_only

    return bool(rank_zero_only.rank == 0)  # type: ignore[attr-defined]
