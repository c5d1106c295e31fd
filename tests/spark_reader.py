"""Reads Iceberg tables of one warehouse with Spark; runs under the interpreter that has pyspark (tools/setup_spark).

    spark_reader.py JAR WAREHOUSE     then, on stdin, lines "TABLE OUT": the rows of t.TABLE go to OUT as JSON lines
"""

import sys

from pyspark.sql import SparkSession


def main(jar, warehouse):
    spark = (SparkSession.builder.master("local[1]").config("spark.jars", jar)
             .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
             .config("spark.sql.catalog.w", "org.apache.iceberg.spark.SparkCatalog")
             .config("spark.sql.catalog.w.type", "hadoop").config("spark.sql.catalog.w.warehouse", warehouse)
             .config("spark.sql.catalog.w.cache-enabled", "false")
             .config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    for line in sys.stdin:
        table, out = line.split()
        try:
            rows = spark.table(f"w.t.{table}").toArrow()
            import pyarrow as pa

            with pa.OSFile(out, "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
                writer.write_table(rows)
            print("ok", flush=True)
        except Exception as error:  # the test shows it
            print("error", str(error).splitlines()[0], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
