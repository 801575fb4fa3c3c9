"""Files of rays, cut into pieces by their row groups: a row of the dataset is a piece, and a worker reads, casts and writes it.

A piece always becomes the same file with the same bytes, under a name that only a finished file has: to do it again, when a worker or
a node died, changes nothing.
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
from ._query import BESIDE, hits
from ._dataset import suit
from ._actors import Job, Worker

NUMBER = "ray"
"""The column that says which ray a row answers: its number among all rays, from 0."""


class Piece(NamedTuple):
    """Some row groups of a file."""

    number: int
    path: str
    group: int
    """The first of them."""
    groups: int
    row: int
    """Their first row in the file."""
    first: int
    """Its number among all rays."""
    rays: int

    @property
    def name(self) -> str:
        """Of the file it becomes. In order of their names files are in order of the rays."""
        return f"rays-{self.first:015d}.parquet"


def inputs(path: Path) -> list[Path]:
    """A file, or the Parquet files of a folder in order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.glob("*.parquet") if not file.name.startswith((".", "_")))
    if not found:
        raise ValueError(f"{path}: no file in it ends in .parquet")
    return found


def opened(path: Path | str) -> pq.ParquetFile:
    """A Parquet file; what is none is said to be none."""
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: this is no Parquet file: {error}") from None


def cut(paths: list[Path], rays: int, keep: list[str], question: Any) -> list[Piece]:
    """Whole row groups, until there are so many rays; files are not mixed. Refuses columns that no worker could use."""
    pieces: list[Piece] = []
    first = 0
    for path in paths:
        with opened(path) as file:
            try:
                _check(file.schema_arrow, keep, question)
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
                pieces.append(Piece(len(pieces), str(path.resolve()), group, end - group, row, first, count))
            group, row, first = end, row + count, first + count
    # Without a ray there is a file all the same, which says what columns there would be.
    return pieces or [Piece(0, str(paths[0].resolve()), 0, 0, 0, 0, 0)]


def _check(schema: pa.Schema, keep: list[str], question: Any) -> None:
    suit(schema.names, keep, question)
    if NUMBER in keep:
        raise ValueError(f"column {NUMBER!r} cannot be kept: the answers have one of that name")
    for name in (*RAY, *BESIDE):
        if name in schema.names:
            kind = schema.field(name).type
            if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
                raise ValueError(f"column {name!r} is of type {kind}: numbers are needed")


class PieceCaster(Worker):
    """Answers pieces. What goes wrong is told in the row: an exception would lose its kind on its way through Ray Data."""

    def __init__(self, job: Job, keep: list[str], out: str, batch: int) -> None:
        super().__init__(job)
        self.keep, self.out, self.batch = keep, out, batch

    def __call__(self, rows: pa.Table) -> pa.Table:
        row = {name: rows[name][0].as_py() for name in (*Piece._fields, "error")}
        piece, error = Piece(*(row[name] for name in Piece._fields)), row["error"]
        found: dict[str, Any] = {"hits": [0], "skipped": [0]}
        if not error:
            try:
                found = self._write(piece, rows) if self.job.last else self._answer(piece, rows)
            except Exception as failure:
                error = pickle.dumps(failure)
        own = {name: pa.array([value]) for name, value in piece._asdict().items()}
        return pa.table({**own, "error": pa.array([error], pa.binary()), **found})

    def _answer(self, piece: Piece, rows: pa.Table) -> dict[str, Any]:
        """The answers of this part and those before, for the next: a list a piece."""
        found = [pa.table(answers) for _, answers, _ in self._batches(piece, rows)]
        whole = pa.concat_tables(found)
        offsets = pa.array([0, len(whole)], pa.int64())
        return {
            name: pa.LargeListArray.from_arrays(offsets, whole[name].combine_chunks()) for name in whole.column_names
        }

    def _write(self, piece: Piece, rows: pa.Table) -> dict[str, Any]:
        """The file, under another name until it is complete."""
        final = Path(self.out, piece.name)
        partial = final.with_name(f".{piece.name}.{uuid.uuid4().hex}")
        met = skipped = 0
        first, writer = piece.first, None
        try:
            for table, answers, bad in self._batches(piece, rows):
                numbers = pa.array(np.arange(first, first + len(table), dtype=np.uint64))
                written = pa.table({NUMBER: numbers, **{name: table[name] for name in self.keep}, **answers})
                if writer is None:
                    writer = _writer(partial, written.schema)
                writer.write_table(written)
                first += len(table)
                met += hits(self.job.question, answers)
                skipped += bad
            if writer is not None:
                writer.close()
            os.replace(partial, final)
        finally:
            if writer is not None:
                writer.close()
            partial.unlink(missing_ok=True)
        return {"hits": [met], "skipped": [skipped]}

    def _batches(self, piece: Piece, rows: pa.Table) -> Iterator[tuple[pa.Table, dict[str, pa.Array], int]]:
        """Rays of a piece with their answers, so many at a time: a row group may be larger than what there is memory for."""
        earlier = None
        if self.job.earlier:
            earlier = pa.table({name: rows[name].combine_chunks().values for name in self.job.question.columns})
        done = 0
        with opened(piece.path) as file:
            there = file.schema_arrow.names
            names = [name for name in there if name in (*RAY, *BESIDE, *self.keep)]
            groups = list(range(piece.group, piece.group + piece.groups))
            batches = file.iter_batches(self.batch, row_groups=groups, columns=names, use_threads=False)
            # One of no rays, where there are none: what is written has columns all the same.
            empty = file.schema_arrow.empty_table().select(names)
            for table in (pa.Table.from_batches([batch]) for batch in batches) if piece.rays else [empty]:
                try:
                    before = None if earlier is None else earlier.slice(done, len(table))
                    answers, bad = self.answers(table, before)
                except RecordError as error:
                    raise _placed(error, piece.path, piece.row + done) from None
                yield table, answers, bad
                done += len(table)
        if done != piece.rays:
            raise ValueError(f"{piece.path}: it had {piece.rays} rays from row {piece.row} on, and now has {done}")


def _placed(error: RecordError, path: str, start: int) -> RecordError:
    """The error with the ray's place in its file: an editor counts rows from 1, an array from 0."""
    index = start + error.index
    _, _, said = str(error).partition(": ")
    message = f"{path}: row {index + 1} (index {index}): {said}"
    return RecordError(message, error.what, index, error.field, error.value)


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    # Floats hardly repeat, so a dictionary of them is time lost; ids do, and the numbers of rays differ by one.
    repeats = [name for name in ("id", "count") if name in schema.names]
    return pq.ParquetWriter(
        path, schema, compression="snappy", use_dictionary=repeats, column_encoding={NUMBER: "DELTA_BINARY_PACKED"}
    )
