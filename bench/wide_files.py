"""Writes the files whose footers the benchmarks open: 10, 1,000 and 10,000 columns in 1 and 10 row groups.

    .venv/bin/python bench/wide_files.py FOLDER     writes FOLDER/wide-COLUMNS-GROUPS.parquet, 100 rows each
    .venv/bin/python bench/wide_files.py FOLDER --time    and times pyarrow's open + read of one column: CPU time, the median of 20
"""

import argparse
import pathlib
import statistics
import time

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 100
KINDS = [
    (pa.int64(), lambda i: list(range(i, i + ROWS))),
    (pa.float64(), lambda i: [i + row / 8 for row in range(ROWS)]),
    (pa.string(), lambda i: [f"{i}-{row % 7}" for row in range(ROWS)]),
    (pa.timestamp("us"), lambda i: list(range(i, i + ROWS))),
]


def table(columns: int) -> pa.Table:
    arrays = [pa.array(KINDS[i % 4][1](i), KINDS[i % 4][0]) for i in range(columns)]
    return pa.table(arrays, names=[f"column_{i}" for i in range(columns)])


def write(folder: pathlib.Path) -> list[pathlib.Path]:
    paths = []
    for columns in (10, 1000, 10000):
        for groups in (1, 10):
            path = folder / f"wide-{columns}-{groups}.parquet"
            paths.append(path)
            if not path.exists():
                pq.write_table(table(columns), path, row_group_size=ROWS // groups)
    return paths


def milliseconds(path: pathlib.Path, rounds: int = 20) -> float:
    name = pq.ParquetFile(path).schema_arrow.names[-5]
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        pq.ParquetFile(path).read(columns=[name])
        times.append(time.process_time() - begin)
    return 1000 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--time", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    pa.set_cpu_count(1)
    for path in write(args.folder):
        print(path, f"pyarrow {milliseconds(path):.3f} ms" if args.time else "")


if __name__ == "__main__":
    main()
