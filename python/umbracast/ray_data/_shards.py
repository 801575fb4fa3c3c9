"""Chunks of ray files, split by row groups: each row of the dataset is one chunk, which a worker reads, casts and writes.

A chunk always becomes the same file with the same bytes, under a name that only a finished file has. Repeating it after a worker or node
died changes nothing.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from .._input import RAY
from .._errors import RecordError
from ._query import OPTION_COLUMNS, count_hits
from ._dataset import check_ray_columns
from ._actors import Job, Worker

RAY_COLUMN = "ray"
"""Result column with the index of the ray among all rays, from 0."""


class Chunk(NamedTuple):
    """A chunk: consecutive row groups of a file."""

    number: int
    """Index of the chunk."""
    path: str
    group: int
    """First row group."""
    groups: int
    """Number of row groups."""
    row: int
    """First row in the file."""
    first: int
    """Index of the first ray among all rays."""
    rays: int
    """Number of rays."""

    @property
    def name(self) -> str:
        """Name of the output file. Sorting the files by name sorts them by ray."""
        return f"rays-{self.first:015d}.parquet"


def inputs(path: Path) -> list[Path]:
    """Return the file itself, or the Parquet files of a folder sorted by name. Raises ValueError if a folder contains none."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.glob("*.parquet") if not file.name.startswith((".", "_")))
    if not found:
        raise ValueError(f"{path}: the folder contains no .parquet file")
    return found


def open_parquet(path: Path | str) -> pq.ParquetFile:
    """Open a Parquet file. Raises ValueError if it is not one."""
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: not a Parquet file: {error}") from None


def split_files(paths: list[Path], rays: int, keep: list[str], spec: Any) -> list[Chunk]:
    """Split files into chunks of whole row groups with at most ``rays`` rays, or one row group if that is larger.

    A chunk does not span files. Raises ValueError for columns that the workers could not use.
    """
    chunks: list[Chunk] = []
    first = 0
    for path in paths:
        with open_parquet(path) as file:
            try:
                _check(file.schema_arrow, keep, spec)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
            counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        group = row = 0
        while group < len(counts):
            end, count = group + 1, counts[group]
            while end < len(counts) and count + counts[end] <= rays:
                count += counts[end]
                end += 1
            if count:
                chunks.append(Chunk(len(chunks), str(path.resolve()), group, end - group, row, first, count))
            group, row, first = end, row + count, first + count
    # Without rays there is one empty file, which has the result columns.
    return chunks or [Chunk(0, str(paths[0].resolve()), 0, 0, 0, 0, 0)]


def _check(schema: pa.Schema, keep: list[str], spec: Any) -> None:
    check_ray_columns(schema.names, keep, spec)
    if RAY_COLUMN in keep:
        raise ValueError(f"column {RAY_COLUMN!r} cannot be kept: the output has a column of that name")
    for name in (*RAY, *OPTION_COLUMNS):
        if name in schema.names:
            kind = schema.field(name).type
            if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
                raise ValueError(f"column {name!r} has type {kind}, but must be numeric")


class ChunkCaster(Worker):
    """Casts chunks. Exceptions are returned in the row, because Ray Data would not preserve their type."""

    def __init__(self, job: Job, keep: list[str], out: str, batch: int) -> None:
        super().__init__(job)
        self.keep, self.out, self.batch = keep, out, batch

    def __call__(self, rows: pa.Table) -> pa.Table:
        row = {name: rows[name][0].as_py() for name in (*Chunk._fields, "error")}
        chunk, error = Chunk(*(row[name] for name in Chunk._fields)), row["error"]
        found: dict[str, Any] = {"hits": [0], "skipped": [0]}
        if not error:
            try:
                found = self._write(chunk, rows) if self.job.last else self._answer(chunk, rows)
            except Exception as failure:
                error = pickle.dumps(failure)
        own = {name: pa.array([value]) for name, value in chunk._asdict().items()}
        return pa.table({**own, "error": pa.array([error], pa.binary()), **found})

    def _answer(self, chunk: Chunk, rows: pa.Table) -> dict[str, Any]:
        """Return the merged results of this part and earlier ones for the next part, as one list per chunk."""
        found = [pa.table(answers) for _, answers, _ in self._batches(chunk, rows)]
        whole = pa.concat_tables(found)
        offsets = pa.array([0, len(whole)], pa.int64())
        return {
            name: pa.LargeListArray.from_arrays(offsets, whole[name].combine_chunks()) for name in whole.column_names
        }

    def _write(self, chunk: Chunk, rows: pa.Table) -> dict[str, Any]:
        """Write the output file, under a temporary name until it is complete. Returns the numbers of hits and skipped rays."""
        final = Path(self.out, chunk.name)
        partial = final.with_name(f".{chunk.name}.{uuid.uuid4().hex}")
        hit_count = skipped = 0
        first, writer = chunk.first, None
        try:
            for table, answers, bad in self._batches(chunk, rows):
                numbers = pa.array(np.arange(first, first + len(table), dtype=np.uint64))
                output = pa.table({RAY_COLUMN: numbers, **{name: table[name] for name in self.keep}, **answers})
                if writer is None:
                    writer = _writer(partial, output.schema)
                writer.write_table(output)
                first += len(table)
                hit_count += count_hits(self.job.spec, answers)
                skipped += bad
            if writer is not None:
                writer.close()
            os.replace(partial, final)
        finally:
            if writer is not None:
                writer.close()
            partial.unlink(missing_ok=True)
        return {"hits": [hit_count], "skipped": [skipped]}

    def _batches(self, chunk: Chunk, rows: pa.Table) -> Iterator[tuple[pa.Table, dict[str, pa.Array], int]]:
        """Cast the rays of a chunk in batches, because a row group may be larger than memory.

        Yields the rays, the results and the number of skipped rays of each batch.
        """
        earlier = None
        if self.job.earlier:
            earlier = pa.table({name: rows[name].combine_chunks().values for name in self.job.spec.columns})
        done = 0
        with open_parquet(chunk.path) as file:
            there = file.schema_arrow.names
            names = [name for name in there if name in (*RAY, *OPTION_COLUMNS, *self.keep)]
            groups = list(range(chunk.group, chunk.group + chunk.groups))
            batches = file.iter_batches(self.batch, row_groups=groups, columns=names, use_threads=False)
            # For a chunk without rays, yield one empty batch, so that the output file has its columns.
            empty = file.schema_arrow.empty_table().select(names)
            for table in (pa.Table.from_batches([batch]) for batch in batches) if chunk.rays else [empty]:
                try:
                    before = None if earlier is None else earlier.slice(done, len(table))
                    answers, bad = self.answers(table, before)
                except RecordError as error:
                    raise _with_location(error, chunk.path, chunk.row + done) from None
                yield table, answers, bad
                done += len(table)
        if done != chunk.rays:
            raise ValueError(
                f"{chunk.path}: the file has changed: it had {chunk.rays} rays from row {chunk.row} on, and now has {done}"
            )


def _with_location(error: RecordError, path: str, start: int) -> RecordError:
    """Return the error with the file and row of the ray: the row counted from 1, as in an editor, and the index from 0."""
    index = start + error.index
    _, _, said = str(error).partition(": ")
    message = f"{path}: row {index + 1} (index {index}): {said}"
    return RecordError(message, error.what, index, error.field, error.value)


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    # A dictionary of floats would not pay off, because they rarely repeat. Ids and counts do; consecutive ray indices differ by one.
    repeats = [name for name in ("id", "count") if name in schema.names]
    return pq.ParquetWriter(
        path, schema, compression="snappy", use_dictionary=repeats, column_encoding={RAY_COLUMN: "DELTA_BINARY_PACKED"}
    )
