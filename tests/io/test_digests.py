from pathlib import Path

from smoothpl.io.digests import digest_of


def test_a_digest_is_of_the_content_alone(tmp_path: Path) -> None:
    for name, text in (("a", "same"), ("b", "same"), ("c", "other")):
        (tmp_path / name).write_text(text)
    one, same, other = (digest_of(tmp_path / name) for name in "abc")
    assert one == same != other
