"""calve's first story: a table of hundreds of small files is compacted, and every engine reads the same rows from it.

pyiceberg creates the table in a SQLite catalog and appends TPC-H's lineitem in small files; calve rewrites it; DuckDB and pyiceberg
read it before and after. Exit code 1 when the rows differ.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import pyarrow as pa
import pyarrow.parquet as pq

warnings.filterwarnings("ignore", module="pyiceberg")

SCALE = "0.1"      # TPC-H scale factor: 600,572 rows
COMMITS = 43       # each writes a file for each of the seven ship modes: 301 small files
TABLE = "tpch.lineitem"
HOME = Path("build/demo").resolve()
WAREHOUSE = HOME / "warehouse"
REPORT = HOME / "report.html"

#: Count, two sums, and a hash of every value of every row, whatever the order of rows.
CHECKSUM = """
select count(*) as rows, sum(l_quantity) as quantity, sum(l_extendedprice * (1 - l_discount)) as revenue,
       sum(hash({columns})::hugeint) as hash
from {source}
"""


def step(text):
    print(f"· {text}", flush=True)


def timed(function, *arguments):
    started = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - started


# ---- The warehouse.

def lineitem():
    """TPC-H's lineitem, generated once."""
    folder = HOME / "tpch"
    path = folder / "lineitem.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        generator = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([generator, "parquet", "-s", SCALE, "--tables=lineitem", "--output-dir", folder], check=True)
    rows = pq.read_table(path)
    return rows.cast(pa.schema([f.with_type(pa.string()) if f.type == pa.string_view() else f for f in rows.schema]))


def make_table(rows):
    """A fresh warehouse with lineitem in many small files, partitioned by ship mode."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import IdentityTransform

    shutil.rmtree(WAREHOUSE, ignore_errors=True)
    WAREHOUSE.mkdir(parents=True)
    catalog = SqlCatalog("demo", uri=f"sqlite:///{WAREHOUSE}/catalog.db", warehouse=f"file://{WAREHOUSE}")
    catalog.create_namespace("tpch")
    table = catalog.create_table(TABLE, schema=rows.schema)
    with table.update_spec() as spec:
        spec.add_field("l_shipmode", IdentityTransform(), "l_shipmode")
    share = -(-rows.num_rows // COMMITS)
    for first in range(0, rows.num_rows, share):
        table.append(rows.slice(first, share))
    return catalog


# ---- The readers.

def engine():
    """DuckDB with the Iceberg extension from PyPI, loaded from its files: nothing is downloaded."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false"})
    for package in (duckdb_extension_avro, duckdb_extension_iceberg):
        extension = next(Path(package.__file__).parent.rglob("*.duckdb_extension"))
        connection.execute(f"LOAD '{extension}'")
    return connection


def checksum(connection, source, columns):
    return connection.execute(CHECKSUM.format(source=source, columns=", ".join(columns))).fetchone()


def by_duckdb(metadata, columns):
    return checksum(engine(), f"iceberg_scan('{metadata}')", columns)


def by_pyiceberg(table, columns):
    rows = table.scan().to_arrow()
    connection = duckdb.connect()
    connection.register("lineitem", rows)
    return checksum(connection, "lineitem", columns)


def local(location):
    return location.removeprefix("file://")


def read_all(catalog, columns):
    """What each engine reads, and its seconds."""
    table = catalog.load_table(TABLE)
    return {
        "DuckDB": timed(by_duckdb, local(table.metadata_location), columns),
        "pyiceberg": timed(by_pyiceberg, table, columns),
    }


def files_of(catalog):
    files = catalog.load_table(TABLE).inspect.data_files()
    return files.num_rows, sum(files["file_size_in_bytes"].to_pylist())


# ---- calve.

def calve(binary, *arguments):
    process = subprocess.run([binary, *arguments, "--catalog", "demo", "--catalog-uri", f"sqlite:///{WAREHOUSE}/catalog.db"],
                             stdout=subprocess.PIPE, text=True)
    if process.returncode != 0:
        sys.exit(process.returncode)
    return process.stdout


def count_by_calve(binary):
    """calve's own scan: every value of every row, to nowhere."""
    calve(binary, "scan", TABLE, "--format", "arrow", "--to", os.devnull, "--quiet")
    return int(calve(binary, "scan", TABLE, "--count"))


# ---- The story.

def print_table(before, after):
    print(f"\n{'':22}{'before':>14}{'after':>14}")
    for name, left, right in zip(before["names"], before["values"], after["values"]):
        print(f"{name:22}{left:>14}{right:>14}")
    print()


def column(files, size, scans):
    return {
        "names": ["data files", "bytes", *(f"{name} scan, s" for name in scans)],
        "values": [f"{files:,}", f"{size:,}", *(f"{seconds:.3f}" for _, seconds in scans.values())],
    }


def main():
    binary = sys.argv[1]
    HOME.mkdir(parents=True, exist_ok=True)
    rows = lineitem()
    columns = rows.column_names
    step(f"pyiceberg writes {rows.num_rows:,} rows of TPC-H lineitem in {COMMITS} commits")
    catalog, seconds = timed(make_table, rows)
    step(f"done in {seconds:.1f} s; DuckDB, pyiceberg and calve read the table")
    files, size = files_of(catalog)
    before = read_all(catalog, columns)
    before["calve"] = timed(count_by_calve, binary)

    step("calve compacts it")
    result = json.loads(calve(binary, "rewrite", TABLE, "--report", str(REPORT), "--json"))
    print(f"  {result['rewritten_files']} files became {result['added_files']} in {result['seconds']:.2f} s, "
          f"{result['peak_memory_bytes'] / 2**20:.0f} MiB of memory at most")

    step("DuckDB, pyiceberg and calve read it again")
    files_after, size_after = files_of(catalog)
    after = read_all(catalog, columns)
    after["calve"] = timed(count_by_calve, binary)
    print_table(column(files, size, before), column(files_after, size_after, after))

    expected = checksum(duckdb.connect(), f"'{HOME}/tpch/lineitem.parquet'", columns)
    for when, scans in (("before", before), ("after", after)):
        for name in ("DuckDB", "pyiceberg"):
            if scans[name][0] != expected:
                sys.exit(f"demo: {name} read other rows {when}: {scans[name][0]}, expected {expected}")
        if scans["calve"][0] != expected[0]:
            sys.exit(f"demo: calve counted {scans['calve'][0]} rows {when}, expected {expected[0]}")
    if files_after >= files:
        sys.exit(f"demo: {files} files became {files_after}")
    print(f"Same {expected[0]:,} rows before and after, by every reader (hash {expected[3]:x}).")
    print(f"Report: {REPORT.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
