"""Other systems' readers of Iceberg tables, each giving the rows of a metadata file's snapshot as JSON-like objects."""

import os
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


def spark_session(warehouse):
    """A local Spark with Iceberg, for CALVE_SPARK_TESTS=1; pyspark and the jar named by CALVE_SPARK_JARS are the caller's."""
    from pyspark.sql import SparkSession

    return (SparkSession.builder.master("local[1]").config("spark.jars", os.environ["CALVE_SPARK_JARS"])
            .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .config("spark.sql.catalog.w", "org.apache.iceberg.spark.SparkCatalog")
            .config("spark.sql.catalog.w.type", "hadoop").config("spark.sql.catalog.w.warehouse", str(warehouse))
            .config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false").getOrCreate())
