import pytest

from smoothpl.cli.usage import Option, bare_words, options_of, takes_knobs, takes_places

USAGE = """smoothpl look DIR... [paper] [knob=value ...] a|b

Looks at things, such as method=smooth:
  smoothpl look outputs out=page.html

  DIR            where runs are
  kind=last      last (the paper's), best or
                 median20: which error counts
  trust=false    true: trust it
  out=page.html  .html or .md
  steps=STEPS

Nothing else."""


def test_every_line_of_the_table_is_an_option_and_no_other_line_is() -> None:
    assert options_of(USAGE) == {
        "kind": Option("last", "last (the paper's), best or median20: which error counts"),
        "trust": Option("false", "true: trust it"),
        "out": Option("page.html", ".html or .md"),
        "steps": Option("STEPS", ""),
    }


@pytest.mark.parametrize(
    ("name", "choices"),
    [("kind", ["last", "best", "median20"]), ("trust", ["true", "false"]), ("out", []), ("steps", [])],
)
def test_few_values_are_choices(name: str, choices: list[str]) -> None:
    assert options_of(USAGE)[name].choices == choices


def test_the_first_line_says_what_else_may_be_typed() -> None:
    assert (takes_knobs(USAGE), takes_places(USAGE), bare_words(USAGE)) == (True, True, ["paper", "a", "b"])
    assert (takes_knobs("smoothpl look run=DIR"), takes_places("smoothpl look run=DIR")) == (False, False)
    assert bare_words("smoothpl look") == []
