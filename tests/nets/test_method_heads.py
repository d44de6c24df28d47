import torch

from smoothpl.nets.method_heads import Classifier, Projection

FEATURES = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))


def test_projections_have_unit_length() -> None:
    projected = Projection(8, num_classes=3, width=4)(FEATURES)
    assert projected.shape == (5, 4)
    torch.testing.assert_close(projected.norm(dim=1), torch.ones(5))


def test_a_classifier_has_the_classes_of_the_data_or_its_own() -> None:
    assert Classifier(8, 3)(FEATURES).shape == (5, 3)
    assert Classifier(8, 3, classes=4)(FEATURES).shape == (5, 4)
