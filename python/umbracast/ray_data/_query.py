"""Queries of a worker on the rays of a table, and their results as Arrow columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from .._input import RAY
from .._errors import RecordError
from .._options import NO_SPHERE, RAY_COLUMNS, Policies
from .._results import HitLists
from .._queries import QUERIES
from .._scene import Scene

COLUMNS: dict[str, tuple[str, ...]] = {
    **{query: (query,) if kind is None else kind._fields for query, (kind, _) in QUERIES.items()},
    "all": ("t_enter", "t_exit", "id"),
    "nearest": ("t_enter", "t_exit", "id"),
}
"""The queries, and the columns of their results."""

MERGE_ORDER = {"closest": ("t", "id"), "approach": ("clearance", "t", "id")}
"""Sort keys for merging: among the results of two parts of a scene, the smaller one is the result of the whole scene."""

MERGEABLE = (*MERGE_ORDER, "occluded", "count")
"""Queries that work on a scene in parts. "interval" and lists sort by a t that is not among their result columns. A product of two rounded
transmittances is not that of the whole scene."""

OPTION_COLUMNS = {name: column.option for name, column in RAY_COLUMNS.items()}
"""Optional columns of rays, and the names of the corresponding query options."""

Result = dict[str, NDArray[Any]]
"""Result columns with one value per ray."""


class QuerySpec(NamedTuple):
    """The query that every worker runs."""

    query: str
    k: int | None
    policies: Policies

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the result columns."""
        return COLUMNS[self.query]


def parse_query(query: str, k: int | None, parts: int, policies: Policies) -> QuerySpec:
    """Validate and return a query. Raises ValueError for an unknown query, or if ``k`` or ``parts`` does not go with it."""
    if query not in COLUMNS:
        raise ValueError(f"query is {query!r}: allowed are {', '.join(map(repr, COLUMNS))}")
    if (k is not None) != (query == "nearest"):
        raise ValueError("k is required for query 'nearest', and allowed for no other")
    if isinstance(parts, bool) or not isinstance(parts, int) or parts < 1:
        raise ValueError(f"parts is {parts!r}: it must be an integer, at least 1")
    if parts > 1 and policies.near == "block":
        raise ValueError("near='block' needs all spheres in one part")
    if parts > 1 and query not in MERGEABLE:
        raise ValueError(
            f"query {query!r} needs all spheres in one part; with several parts use one of {', '.join(MERGEABLE)}"
        )
    return QuerySpec(query, k, policies)


def run_query(
    scene: Scene, ids: NDArray[np.uint32] | None, spec: QuerySpec, table: pa.Table
) -> tuple[Result | HitLists, int]:
    """Run a query on a scene, or on a part of one whose spheres have the ascending ``ids`` in the whole scene.

    Returns the result and the number of skipped rays.
    """
    there = set(table.column_names)
    # A null becomes NaN. The core rejects such a ray and reports its row, or skips it.
    rays = {name: table[name].to_numpy() for name in RAY if name in there}
    options: dict[str, Any] = {
        option: _option_column(table, name) for name, option in OPTION_COLUMNS.items() if name in there
    }
    if ids is not None:
        for option in {"skip_ids", "from_ids"} & options.keys():
            options[option] = _to_part_ids(ids, options[option])
    if spec.k is not None:
        options["k"] = spec.k
    options |= spec.policies._asdict()
    if spec.query not in QUERIES:
        lists: HitLists = getattr(scene, spec.query)(rays, **options)
        return lists, lists.report.skipped if lists.report else 0
    columns, report, _ = scene._cast(spec.query, rays, None, None, None, None, options)
    answer: Result = dict(zip(spec.columns, columns, strict=True))
    if ids is not None and "id" in answer:
        answer["id"] = _to_scene_ids(ids, answer["id"])
    return answer, report.skipped


def merge_results(query: str, first: Result, second: Result) -> Result:
    """Merge the results of two parts of a scene."""
    if query == "occluded":
        return {"occluded": first["occluded"] | second["occluded"]}
    if query == "count":
        return {"count": first["count"] + second["count"]}
    better = np.zeros(first["id"].shape, np.bool_)
    for name in reversed(MERGE_ORDER[query]):
        better = (second[name] < first[name]) | ((second[name] == first[name]) & better)
    return {name: np.where(better, second[name], first[name]) for name in first}


def to_arrow(spec: QuerySpec, answer: Result | HitLists) -> dict[str, pa.Array]:
    """Convert a result to Arrow columns, where a miss is null."""
    if isinstance(answer, HitLists):
        offsets = pa.array(answer.offsets.astype(np.int64))
        lists = zip(spec.columns, (answer.t_enter, answer.t_exit, answer.id), strict=True)
        return {name: pa.LargeListArray.from_arrays(offsets, pa.array(values)) for name, values in lists}
    misses = answer["id"] == NO_SPHERE if "id" in answer else None
    return {name: pa.array(values, mask=misses) for name, values in answer.items()}


def count_hits(spec: QuerySpec, columns: dict[str, pa.Array]) -> int:
    """Count the rays that hit a sphere; for "approach" those that touch or enter one."""
    first: Any = columns["clearance" if spec.query == "approach" else spec.columns[0]]
    if spec.query == "approach":
        hit = pc.less_equal(first, 0)
    elif spec.query in ("all", "nearest"):
        hit = pc.greater(pc.list_value_length(first), 0)
    elif spec.query == "count":
        hit = pc.greater(first, 0)
    elif spec.query == "transmittance":
        hit = pc.less(first, 1)
    else:
        hit = first if spec.query == "occluded" else first.is_valid()
    return int(pc.sum(hit).as_py() or 0)


def from_arrow(spec: QuerySpec, table: pa.Table) -> Result:
    """Convert Arrow columns back to a result; the inverse of `to_arrow` for results with one value per ray."""
    blank = {"id": NO_SPHERE, "t": np.inf, "clearance": np.inf}
    found = {}
    for name in spec.columns:
        column = table[name]
        found[name] = (column.fill_null(blank[name]) if column.null_count else column).to_numpy()
    return found


def _option_column(table: pa.Table, name: str) -> NDArray[Any]:
    column = table[name]
    if column.null_count:
        if not RAY_COLUMNS[name].has_blanks:
            row = int(np.argmax(column.is_null().to_numpy()))
            message = f"ray {row}: {name} is null: every row needs a value"
            raise RecordError(message, "ray", row, name, "null")
        column = column.cast(pa.int64()).fill_null(NO_SPHERE)
    found: NDArray[Any] = column.to_numpy()
    return found


def _to_scene_ids(ids: NDArray[np.uint32], found: NDArray[np.uint32]) -> NDArray[np.uint32]:
    places = np.minimum(found, np.uint32(len(ids) - 1))
    return np.where(found == NO_SPHERE, np.uint32(NO_SPHERE), ids[places])


def _to_part_ids(ids: NDArray[np.uint32], asked: NDArray[Any]) -> NDArray[np.uint32]:
    places = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    return np.where(ids[places] == asked, places, NO_SPHERE).astype(np.uint32)
