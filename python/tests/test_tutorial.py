"""Runs every block of Python in README.md, one after the other."""

import os
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
SYSTEMS = Path(__file__).parents[2] / "systems"


def test_every_block_of_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = README.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= 7
    names = {"SYSTEMS": SYSTEMS}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, str(README), "exec"), names)
    picture = tmp_path / "occlusion.png"
    assert picture.stat().st_size > 10_000
    if "UMBRACAST_KEEP" in os.environ:
        picture.rename(os.environ["UMBRACAST_KEEP"])
