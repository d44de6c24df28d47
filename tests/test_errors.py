from smoothpl.errors import ConfigError


def test_a_users_error_is_a_value_error() -> None:
    assert issubclass(ConfigError, ValueError)
