"""Has Comet's native reader read a shuffle whose files are exchanged meanwhile; runs under the interpreter that has pyspark (tools/setup_spark).

    comet_reader.py JAR INPUT.parquet KEY PARTITIONS LOCAL

Shuffles INPUT by KEY in one map task, with its files under the folder LOCAL, and prints "ready". Then, for each line OUT on stdin, it reads the
shuffle again (Spark keeps the map task's output, so only the reading side runs) and writes the rows to OUT as an Arrow IPC file.
"""

import sys

from pyspark.sql import SparkSession

NAMES = ["org.apache.spark.CometPlugin", "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"]


def session(jar, local):
    settings = {"spark.jars": jar, "spark.driver.extraClassPath": jar, "spark.plugins": NAMES[0], "spark.shuffle.manager": NAMES[1],
                "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g", "spark.comet.shuffle.enabled": "true",
                "spark.comet.shuffle.mode": "native", "spark.sql.adaptive.enabled": "false", "spark.shuffle.checksum.enabled": "false",
                "spark.local.dir": local, "spark.sql.session.timeZone": "UTC", "spark.ui.enabled": "false",
                "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def write(rows, out):
    import pyarrow as pa

    with pa.OSFile(out, "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)


def main(jar, source, key, partitions, local):
    rows = session(jar, local).read.parquet(source).repartition(int(partitions), key)
    rows.toArrow()
    plan = rows._jdf.queryExecution().executedPlan().toString()
    print("ready" if "CometNativeShuffle" in plan else "no native shuffle: " + plan.replace("\n", " "), flush=True)
    for line in sys.stdin:
        try:
            write(rows.toArrow(), line.strip())
            print("ok", flush=True)
        except Exception as error:  # the test shows it
            print("error", str(error).splitlines()[0], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
