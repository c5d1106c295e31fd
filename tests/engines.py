"""Other systems' readers of Iceberg tables, each giving the rows of a metadata file's snapshot as JSON-like objects."""

import subprocess
import warnings
from pathlib import Path

from rows import from_arrow

warnings.filterwarnings("ignore", module="pyiceberg")


def pyiceberg_rows(metadata_file, snapshot_id=None):
    from pyiceberg.table import StaticTable

    return from_arrow(StaticTable.from_metadata(str(metadata_file)).scan(snapshot_id=snapshot_id).to_arrow())


def duckdb_connection():
    """DuckDB with its Avro and Iceberg extensions, loaded from their PyPI packages."""
    import duckdb
    import duckdb_extension_avro
    import duckdb_extension_iceberg

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for package in (duckdb_extension_avro, duckdb_extension_iceberg):
        for extension in Path(package.__file__).parent.rglob("*.duckdb_extension"):
            connection.execute(f"LOAD '{extension}'")
    return connection


def duckdb_rows(metadata_file, snapshot_id=None):
    snapshot = f", snapshot_from_id = {snapshot_id}" if snapshot_id else ""
    with duckdb_connection() as connection:
        return from_arrow(connection.execute(f"SELECT * FROM iceberg_scan('{metadata_file}'{snapshot})").to_arrow_table())


class Spark:
    """Spark with Iceberg in a process of its own, over the Hadoop-layout warehouse `warehouse` (see tools/setup_spark)."""

    def __init__(self, warehouse):
        build = Path(__file__).resolve().parents[1] / "build/spark"
        jar = next(build.glob("iceberg-spark-runtime-*.jar"))
        self.process = subprocess.Popen([build / "venv/bin/python", Path(__file__).parent / "spark_reader.py", jar, warehouse],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def rows(self, table, out):
        import pyarrow as pa

        self.process.stdin.write(f"{table} {out}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "ok", answer or "Spark has ended"
        with pa.ipc.open_file(out) as reader:
            return from_arrow(reader.read_all())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
