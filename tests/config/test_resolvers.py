import pytest
from omegaconf import OmegaConf

from smoothpl.config.resolvers import labels_from, name_of_recipe, register
from smoothpl.errors import ConfigError
from tests.support.composing import composed


def test_labels_grow_by_steps() -> None:
    assert labels_from(40, 10, 40) == []
    assert labels_from(40, 10, 60) == [40, 50]
    for wrong in (30, 45, None):
        with pytest.raises(ConfigError, match=f"num_labels={wrong} is not one of 40, "):
            labels_from(40, 10, wrong)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${not:true}", False),
        ("${product:6,7}", 42),
        ("${dash_period:1048576}", 10240),
        ("${dash_period:5}", 1),
        ("${period:262144,256}", 1024),
        ("${period:5,256}", 1),
    ],
)
def test_yaml_may_call_what_was_registered(text: str, value: object) -> None:
    register()
    register()  # safe to call twice
    assert OmegaConf.create({"key": text}).key == value


def test_views_that_these_data_cannot_have_are_refused_before_the_directory_gets_its_name() -> None:
    with pytest.raises(ConfigError, match=r"these views need data\.size"):
        name_of_recipe(composed("views=imagenet"))
