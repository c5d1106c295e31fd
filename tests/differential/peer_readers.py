"""pyarrow, DuckDB, Polars and arrow-rs as readers of the files that calve writes."""

import duckdb
import polars
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

#: What is held to be equal: DuckDB and Polars know no required columns, Polars no maps.
FORM = {"pyarrow": "exact", "arrow-rs": "exact", "duckdb": "loose", "polars": "lists"}


def read_pyarrow(path):
    return pq.read_table(path, use_threads=False, page_checksum_verification=True)


def read_duckdb(path):
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET enable_progress_bar = false")
        return connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).to_arrow_table()


def read_polars(path):
    return polars.read_parquet(path, use_pyarrow=False).to_arrow()


READ = {"pyarrow": read_pyarrow, "duckdb": read_duckdb, "polars": read_polars}


def write_ipc(table, path):
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True)) as sink:
        sink.write_table(table)


def read(reader, source, target):
    """Reads the Parquet file `source` into the IPC file `target`; None, or why that is not possible."""
    try:
        write_ipc(READ[reader](source), target)
    except Exception as error:  # noqa: BLE001 (whatever a reader says of the file)
        return f"{type(error).__name__}: {error}"
    return None
