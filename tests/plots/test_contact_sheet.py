from pathlib import Path

import pytest
from matplotlib.image import imread

from smoothpl.plots.contact_sheet import COLUMNS, draw
from smoothpl.run.build import build_data
from tests.support.composing import composed


@pytest.mark.parametrize(
    ("words", "rows", "columns"),
    [("", 3, COLUMNS), ("method=pseudo_label", 2, COLUMNS), ("batch_size=1 unlabeled_ratio=2", 3, 2)],
)
def test_there_is_a_row_for_every_view_and_a_column_for_every_image(
    words: str, rows: int, columns: int, tmp_path: Path
) -> None:
    data = build_data(composed(*words.split()))
    data.setup("fit")
    draw(data.train_dataloader().dataset[0], data.views, tmp_path / "new" / "sheet.png")
    height, width, _ = imread(tmp_path / "new" / "sheet.png").shape
    assert (height, width) == (pytest.approx(100 * 3.4 / 3 * rows, abs=1), 100 * columns)
