"""Polars's partitioned IPC write: INPUT.arrow's rows by a hash of c0. Prints a JSON line as calve_peer_shuffle_write does.

    polars_shuffle_write.py INPUT CODEC PARTITIONS ROUNDS DIR"""

import json
import os
import resource
import shutil
import statistics
import sys
import time

os.environ.setdefault("POLARS_MAX_THREADS", "1")
import polars as pl  # noqa: E402


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    path, codec, partitions, rounds, to = sys.argv[1:]
    frame = pl.read_ipc(path)
    compression = {"none": "uncompressed"}.get(codec, codec)
    seconds, cpu_seconds, size = [], [], 0
    for _ in range(int(rounds)):
        shutil.rmtree(to, ignore_errors=True)
        started, cpu_started = time.monotonic(), cpu()
        target = pl.PartitionBy(to, key=(pl.col("c0").hash() % int(partitions)).alias("partition"), include_key=False)
        frame.lazy().sink_ipc(target, compression=compression, mkdir=True, sync_on_close="all")
        cpu_seconds.append(cpu() - cpu_started)
        seconds.append(time.monotonic() - started)
        size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(to) for name in names)
    shutil.rmtree(to, ignore_errors=True)
    print(json.dumps({"arm": "polars", "codec": codec, "rows": frame.height, "seconds": statistics.median(seconds),
                      "cpu_seconds": statistics.median(cpu_seconds), "input_cpu_seconds": 0, "bytes": size}))


if __name__ == "__main__":
    main()
