"""Runs every block of Python in the tutorial and in docs/recipes, page by page, on the files of the project, and checks their pictures."""

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "python" / "README.md"
PAGES = [TUTORIAL, *(page for page in sorted((ROOT / "docs/recipes").glob("*.md")) if "```python" in page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "systems").symlink_to(ROOT / "systems")
    text = page.read_text()
    names = {"SYSTEMS": ROOT / "systems"}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile("\n" * text[: text.index(block)].count("\n") + block, str(page), "exec"), names)
    for picture in tmp_path.glob("*.png"):
        assert picture.stat().st_size > 10_000
        assert page == TUTORIAL or f"](../../output/recipes/{picture.name})" in text
        if "UMBRACAST_KEEP_PICTURES" in os.environ:
            shutil.copy(picture, os.environ["UMBRACAST_KEEP_PICTURES"])
    assert page == TUTORIAL or "savefig" not in text or any(tmp_path.glob("*.png"))


def test_there_are_pages():
    assert len(PAGES) >= 4 and len(re.findall(r"^```python$", TUTORIAL.read_text(), re.M)) >= 7
