"""Runs every block of Python in docs/recipes, page by page, on the files of the project. Pictures that a page draws are checked."""

import os
import re
import shutil
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
PAGES = [page for page in sorted(RECIPES.glob("*.md")) if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_recipe_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "systems").symlink_to(RECIPES.parents[1] / "systems")
    text = page.read_text()
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, str(page), "exec"), names)
    if "savefig" not in text:
        return
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 10_000
    assert f"](../../output/recipes/{picture.name})" in text
    if "UMBRACAST_KEEP_RECIPES" in os.environ:
        shutil.copy(picture, os.environ["UMBRACAST_KEEP_RECIPES"])


def test_there_are_recipes():
    assert len(PAGES) >= 3
