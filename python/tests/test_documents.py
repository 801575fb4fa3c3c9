"""Runs every block of Python in the tutorial and in docs/recipes, page by page, on the files of the project, and checks their pictures.

Also runs the notebook, as Jupyter does.
"""

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


def test_the_notebook_runs(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path / "docs" / "notebooks"
    folder.mkdir(parents=True)
    (tmp_path / "systems").symlink_to(ROOT / "systems")
    notebook = nbformat.read(ROOT / "docs/notebooks/tour.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is stored without outputs"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    shown = [set(out["data"]) for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out]
    assert sum("image/png" in one for one in shown) >= 4 and sum("text/html" in one for one in shown) >= 5
    # A bar of tqdm, which appears after a second, goes to stderr, too.
    said = [out["text"] for cell in notebook.cells for out in cell.get("outputs", []) if out.get("name") == "stderr"]
    assert not any("Warning" in text for text in said), said


def test_there_are_pages():
    assert len(PAGES) >= 4 and len(re.findall(r"^```python$", TUTORIAL.read_text(), re.M)) >= 7
