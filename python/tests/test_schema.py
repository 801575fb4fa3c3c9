"""Fields of results, compared with the JSON Schemas of ``docs/schema``, which the command line's outputs follow."""

import dataclasses
import json
from pathlib import Path

import pytest
import umbracast
from umbracast._frames import VECTORS

FOLDER = Path(__file__).parents[2] / "docs" / "schema"
OTHERS = {"report", "shape", "offsets"}
"""Fields that are no columns."""
NAMED = {"status": umbracast.LegStatus, "kind": umbracast.ShadowKind}


def names(kind):
    """Return the public fields of a dataclass."""
    return [one.name for one in dataclasses.fields(kind) if not one.name.startswith("_")]


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        (umbracast.Hits, "closest"),
        (umbracast.Interval, "interval"),
        (umbracast.HitLists, "interval"),
        (umbracast.Approach, "approach"),
        (umbracast.Containment, "contains"),
        (umbracast.Flights, "bullets"),
        (umbracast.Shadows, "shadow with flux"),
    ],
)
def test_fields_are_the_columns_of_files(kind, table):
    schema = json.loads((FOLDER / "columns.json").read_text())["$defs"][table]
    columns = [column for name in names(kind) if name not in OTHERS for column in VECTORS.get(name, [name])]
    assert sorted(columns) == sorted(schema["required"])
    for name in NAMED.keys() & set(columns):
        words = schema["properties"][name]["enum"]
        assert [one.name.lower() for one in NAMED[name]] == words and [*NAMED[name]] == [*range(len(words))]


def test_attributes_are_columns_of_with():
    schema = json.loads((FOLDER / "columns.json").read_text())["$defs"]["closest with all"]
    columns = [column for name in names(umbracast.Attributes) for column in VECTORS.get(name, [name])]
    assert set(columns) <= set(schema["required"]) and "incidence_rad" in columns


def test_reports_have_the_keys_of_json():
    schema = json.loads((FOLDER / "output-cast.json").read_text())
    assert set(names(umbracast.Report)) <= set(schema["properties"])
    report = umbracast.Scene([[5, 0, 0, 1]], device="cpu").closest([0, 0, 0, 1, 0, 0]).report
    assert (report.precision, report.rays_hit) == ("exact", 1)


def test_the_default_precision_is_exact_for_spheres_only():
    ray = [-5, 2, 0, 1, 0, 0]
    scene = umbracast.Scene([[0, 0, 0, 2]], device="cpu")
    assert scene.closest(ray).report.resolved_exactly == 1
    assert [scene.count(ray, precision=word) == 1 for word in ("auto", "exact")] == [True, True]
    assert scene.closest(ray, precision="standard").report.precision == "standard"
    eggs = umbracast.Scene([[0, 0, 0]], semi_axes=[[1, 2, 3]], device="cpu")
    assert eggs.closest(ray).report.precision == "standard"
    with pytest.raises(umbracast.PrecisionError):
        eggs.closest(ray, precision="exact")
