from io import BytesIO

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure

from smoothpl.plots.style import PLAIN


def save(name: str) -> None:
    figure = Figure()
    figure.suptitle(name)
    figure.savefig(BytesIO())


def test_a_dollar_in_a_name_is_a_dollar() -> None:
    """Matplotlib would take what stands between two of them for a formula, and not understand it."""
    with pytest.raises(ValueError, match=r"ParseException|Expected|Unknown"):
        save(r"$\nothing$")
    with rc_context(PLAIN):
        save(r"$\nothing$")
