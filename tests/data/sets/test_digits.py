import torch
from sklearn.datasets import load_digits

from smoothpl.data import digits
from tests.support.composing import composed
from tests.support.images import in_memory


def test_every_digit_is_either_trained_or_tested_on() -> None:
    source = digits()
    original = load_digits()
    restored = torch.cat([in_memory(source.train).images, in_memory(source.test).images]).double().squeeze(1) * 16 / 255
    images = sorted(map(tuple, restored.round().flatten(1).tolist()))
    assert images == sorted(map(tuple, torch.from_numpy(original.data).tolist()))
    assert (len(source.train), len(source.test)) == (1297, 500)


def test_the_test_set_is_always_the_same() -> None:
    assert torch.equal(in_memory(digits().test).images, in_memory(digits().test).images)
    assert digits().test.labels[:8].tolist() == [1, 3, 0, 4, 5, 9, 0, 5]


def test_the_yaml_states_the_facts_of_the_data() -> None:
    data, source = composed("data=digits").data, digits()
    images, labels = in_memory(source.train)
    pixels = images / 255
    assert data.num_classes == len(source.class_names) == len({*labels.tolist()})
    assert data.channels == images.shape[1]
    assert round(pixels.mean().item(), 3) == data.mean[0]
    assert round(pixels.std().item(), 3) == data.std[0]
