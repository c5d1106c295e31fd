"""Small tables for the Python suites: input files by pyarrow, tables in both kinds of catalog, and how to look inside."""

import json

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq


def batch(first, rows):
    """`rows` rows from id `first` on: every value follows from the id."""
    ids = list(range(first, first + rows))
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "cat": pa.array([f"c{i % 5}" for i in ids]),
        "v": pa.array([None if i % 7 == 0 else i * 3 for i in ids], pa.int32()),
        "s": pa.array([f"text number {i}" for i in ids]),
    })


def write(path, first, rows):
    pq.write_table(batch(first, rows), path)
    return path


class Warehouse:
    """A catalog of one kind ("sql" or "filesystem") under a folder, configured as pyiceberg users do it."""

    def __init__(self, calve, folder, kind):
        self.calve, self.folder, self.kind = calve, folder, kind
        folder.mkdir(parents=True, exist_ok=True)
        properties = {"type": kind, "warehouse": str(folder / "warehouse")}
        if kind == "sql":
            properties["uri"] = f"sqlite:///{folder}/catalog.db"
        lines = "".join(f"    {name}: {value}\n" for name, value in properties.items())
        config = folder / "config"
        config.mkdir(exist_ok=True)
        (config / ".pyiceberg.yaml").write_text(f"catalog:\n  w:\n{lines}")
        calve.environment["PYICEBERG_HOME"] = str(config)

    def create(self, name, *options, properties=None):
        """Creates w.db.NAME with the schema of batch()."""
        schema = write(self.folder / f"{name}-schema.parquet", 0, 1)
        settings = [word for key, value in (properties or {}).items() for word in ("--property", f"{key}={value}")]
        table = f"w.db.{name}"
        self.calve.run("catalog", "create", table, "--schema-from", schema, *settings, *options)
        return table


def arrow_rows(calve, tmp_path, *arguments):
    """All rows of a scan as an Arrow table sorted by id."""
    out = tmp_path / "rows.arrow"
    calve.run("scan", *arguments, "--to", out, "--force")
    with pa.ipc.open_file(out) as reader:
        return reader.read_all().sort_by("id")


def inspect(calve, table, view, *options):
    """The rows of `calve inspect TABLE VIEW` as objects."""
    return json.loads(calve.run("inspect", table, view, "--json", *options).stdout)
