"""Images, the first arrow of the data flow: scikit-learn's handwritten digits, embedded in the installation."""

import torch
from sklearn.datasets import load_digits

from smoothpl.data.randomness import Stream, generator
from smoothpl.data.source import ImageSet, Source, images_of

NUM_TEST = 500


@images_of(8)
def digits() -> Source:
    """1,797 grey digits of 8 x 8 pixels, by many hands.

    500 of them test and never train: drawn once and for all, whatever the fold or the seed, so that training and test
    images come from the same distribution, as on CIFAR.
    """
    bunch = load_digits()
    # The scanner counted dark pixels in blocks of 4 x 4: 0 to 16.
    images = (torch.from_numpy(bunch.images).unsqueeze(1) * (255 / 16)).round().to(torch.uint8)
    labels = torch.from_numpy(bunch.target).long()
    order = torch.from_numpy(generator(0, Stream.TEST).permutation(len(labels)))
    test, train = order[:NUM_TEST].sort().values, order[NUM_TEST:].sort().values
    return Source(
        train=ImageSet(images[train], labels[train]),
        test=ImageSet(images[test], labels[test]),
        class_names=tuple(str(name) for name in bunch.target_names),
    )
