"""A BatchNorm whose class is assigned, which torch does not promise to allow: checked with torch 2.15."""

from pathlib import Path

import torch
from torch import distributed, nn

from smoothpl.nets.synced import SyncedBatchNorm2d, synced
from tests.support.processes import SERVER, exit_codes, free_port


def network() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3, momentum=0.3), nn.ReLU(inplace=True), nn.Conv2d(3, 1, 3))


def images() -> torch.Tensor:
    return 5 + torch.randn(8, 2, 7, 7, generator=torch.Generator().manual_seed(2))


def learn(net: nn.Module, part: torch.Tensor) -> dict[str, torch.Tensor]:
    """Loss, gradients and statistics of two steps."""
    for _ in range(2):
        net.zero_grad()
        loss = net(part).square().mean()
        loss.backward()
    gradients = {f"grad {name}": parameter.grad for name, parameter in net.named_parameters()}
    return {"loss": loss.detach(), **gradients, **net.state_dict()}


def on_one_rank(folder: str, rank: int, port: str) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.save(learn(synced(network()), images().chunk(2)[rank]), Path(folder) / f"{rank}.pt")
    distributed.destroy_process_group()


def test_two_ranks_normalise_by_the_statistics_of_the_whole_batch(tmp_path: Path) -> None:
    port = free_port()
    ranks = [SERVER.Process(target=on_one_rank, args=(str(tmp_path), rank, port)) for rank in range(2)]
    assert exit_codes(ranks) == [0, 0]
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    for name, value in learn(network(), images()).items():
        if name == "loss" or name.startswith("grad "):  # what DDP does with them
            torch.testing.assert_close((first[name] + second[name]) / 2, value, rtol=1e-4, atol=1e-5)
        else:
            torch.testing.assert_close(first[name], value)
            assert torch.equal(first[name], second[name])


def test_evaluation_is_that_of_an_ordinary_batch_norm() -> None:
    plain, other = network().eval(), synced(network()).eval()
    assert torch.equal(plain(images()), other(images()))


def test_a_batch_norm_stays_the_same_object_with_its_weights_statistics_and_hooks() -> None:
    """If this fails, a new torch keeps something in the class of a BatchNorm2d: make new modules instead."""
    before = network()
    norm = before[1]
    called: list[nn.Module] = []
    norm.register_forward_hook(lambda module, *_: called.append(module))
    kept = {name: id(value) for name, value in [*before.named_parameters(), *before.named_buffers()]}
    keys, settings = list(before.state_dict()), repr(norm)
    after = synced(before)
    assert after is before
    assert after[1] is norm
    assert type(norm) is SyncedBatchNorm2d
    assert {name: id(value) for name, value in [*after.named_parameters(), *after.named_buffers()]} == kept
    assert list(after.state_dict()) == keys
    assert repr(norm) == f"Synced{settings}"
    after.eval()(images())
    assert called == [norm]


def test_only_a_plain_batch_norm_of_images_is_synced() -> None:
    class Own(nn.BatchNorm2d):
        pass

    others: list[nn.Module] = [Own(2), nn.BatchNorm1d(2), nn.SyncBatchNorm(2), nn.GroupNorm(1, 2)]
    kinds = [type(each) for each in others]
    synced(nn.ModuleList(others))
    assert [type(each) for each in others] == kinds
