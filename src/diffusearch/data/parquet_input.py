"""Parquet files of any origin, read batch by batch in bounded memory.

A few kB of Parquet may stand for gigabytes: one long text that every row refers to, or a column that compresses well.
Text columns are therefore read as dictionaries, and a column chunk or a text above the limits is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from diffusearch.errors import UserError

ROWS = 8192  # rows of a batch
TEXT_BYTES = 1 << 16  # of one cell; the scores of 218 legal moves have about 3 kB
CHUNK_BYTES = 1 << 30  # of one column of one row group, unpacked


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a Parquet file; a file that is none is a UserError."""
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error


def read_parquet(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Batches of at most ROWS rows with the columns, text decoded; what is too large or damaged is a UserError."""
    try:
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            _check_size(path, metadata.row_group(group))
        schema = metadata.schema.to_arrow_schema()
        texts = [name for name in columns if pa.types.is_string(schema.field(name).type)]
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts) as file:
            for batch in file.iter_batches(ROWS, columns=list(columns)):
                yield _decoded(path, batch)
    except (pa.ArrowException, OSError) as error:  # a damaged page, or text where numbers belong
        raise _unreadable(path, error) from error


def _check_size(path: Path, group: pq.RowGroupMetaData) -> None:
    for number in range(group.num_columns):
        column = group.column(number)
        if column.total_uncompressed_size > CHUNK_BYTES:
            raise UserError(
                f"{path} has {column.total_uncompressed_size} bytes of {column.path_in_schema} in one row group; "
                f"write it again with row groups of at most {CHUNK_BYTES} bytes a column"
            )


def _decoded(path: Path, batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            longest = pc.max(pc.binary_length(column.dictionary)).as_py() or 0
            if longest > TEXT_BYTES:
                raise UserError(
                    f"{path} has a text of {longest} bytes in the column {name}; give texts of at most {TEXT_BYTES}"
                )
            column = column.cast(column.type.value_type)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _unreadable(path: Path, error: Exception) -> UserError:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return UserError(f"{path} cannot be read as Parquet ({reason}); make or copy it again")
