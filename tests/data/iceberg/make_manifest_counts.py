"""Writes manifest_counts.json: what fastavro finds in the manifest lists and manifests of the full test data.

Run with the folder of that data. A list gives [manifests, their bytes, added, existing and deleted files]; a manifest gives
[entries, added, existing, deleted, records, bytes of files, lower bounds].
"""

import json
import pathlib
import sys

import fastavro


def sums(records, *names):
    """The sum of each column, which older writers name with "_data"."""
    def value(record, name):
        return record.get(name, record.get(name.replace("_files_", "_data_files_"))) or 0

    return [sum(value(r, name) for r in records) for name in names]


def counts(path):
    with open(path, "rb") as file:
        records = list(fastavro.reader(file))
    if path.name.startswith("snap-") or "manifest_path" in (records or [{}])[0]:
        names = ("manifest_length", "added_files_count", "existing_files_count", "deleted_files_count")
        return [len(records), *sums(records, *names)]
    files = [r["data_file"] for r in records]
    statuses = [sum(r["status"] == status for r in records) for status in (1, 0, 2)]
    bounds = sum(len(f["lower_bounds"] or []) for f in files)
    return [len(records), *statuses, *sums(files, "record_count", "file_size_in_bytes"), bounds]


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    found = {}
    for top in ("spark-iceberg/warehouse", "duckdb-iceberg"):
        for path in sorted((root / top).rglob("metadata/*.avro")):
            found[str(path.relative_to(root))] = counts(path)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (pathlib.Path(__file__).parent / "manifest_counts.json").write_text("{\n" + lines + "\n}\n")
    print(len(found))
