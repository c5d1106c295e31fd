"""Table metadata as calve writes it, read by pyiceberg: the same as what it reads from the original."""

import gzip

import pytest
from pyiceberg.table.metadata import TableMetadataUtil

# pyiceberg cannot read the originals of these either.
NOT_READ_BY_PYICEBERG = {"geometry_v3", "variant_v3", "variant_v3_shredded2", "legacy_v1"}


def metadata_files(folder):
    """The newest metadata file of every table."""
    folders = {path.parent for kind in ("spark-iceberg", "duckdb-iceberg")
               for path in (folder / kind).rglob("*.metadata.json")}
    for metadata_folder in sorted(folders):
        files = sorted(metadata_folder.glob("*.metadata.json"), key=lambda path: path.stat().st_size)
        if metadata_folder.parent.name not in NOT_READ_BY_PYICEBERG:
            yield files[-1]


def text_of(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def test_pyiceberg_reads_what_calve_writes(calve, shared_data):
    files = list(metadata_files(shared_data))
    assert len(files) == 75
    for path in files:
        written = calve.run("inspect", path, "metadata").stdout
        assert TableMetadataUtil.parse_raw(written) == TableMetadataUtil.parse_raw(text_of(path)), path
