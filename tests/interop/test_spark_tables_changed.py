"""Copies of Spark-written tables of each kind, appended to and rewritten by calve: others read the same rows."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from engines import Spark, duckdb_rows, pyiceberg_rows
from rows import assert_same_rows, read_jsonl

#: Where Spark wrote the tables: their metadata names files by this prefix, so that is where the copies must lie for others.
HOME = Path("/tmp/calve-warehouse")
MARK = HOME / ".made-by-calve-tests"

#: The tables whose current snapshot calve reads, by kind.
TABLES = {
    "unpartitioned": ["all_types", "cow_v2", "time_uuid_fixed_v2", "meta_gzip", "codec_gzip", "codec_lz4_raw", "codec_snappy",
                      "codec_uncompressed", "codec_zstd", "enc_dict_fallback", "enc_dict_mixed", "enc_nodict_bloom",
                      "enc_pagev2", "enc_pagev2_snappy", "enc_rowgroups", "m_sort", "m_sortorder", "refs_v2"],
    "identity": ["p_ident_cat", "p_ident_date", "p_ident_dec_bo", "p_ident_int_bin", "m_manifests"],
    "bucket": ["p_bucket_id", "p_bucket_int", "p_bucket_str", "p_bucket_dec", "p_bucket_date", "p_bucket_ts", "p_bucket_bin"],
    "truncate": ["p_trunc_name", "p_trunc_int", "p_trunc_dec"],
    "time": ["p_years_ts", "p_months_d", "p_days_ts", "p_days_d", "p_hours_ts"],
    "evolved schema": ["se_basic", "se_nested"],
    "evolved spec": ["pe_v2"],
    "v1": ["v1_snaps"],
    "v3": ["se_defaults_v3", "timestamp_ns_v3", "unknown_v3"],
}

#: What an engine cannot be asked, and why.
NOT_AN_ORACLE = {
    ("pyiceberg", "se_nested"): "gives empty lists for null lists and maps",
    ("duckdb", "se_nested"): "gives a struct of nulls for a null struct whose only field was added later, in Spark's files too",
    ("duckdb", "timestamp_ns_v3"): "has no timestamptz_ns",
    ("duckdb", "unknown_v3"): "has no unknown type",
    ("spark", "time_uuid_fixed_v2"): "has no time type; Iceberg's Java API wrote the table",
    ("spark", "timestamp_ns_v3"): "has no nanosecond timestamps; Iceberg's Java API wrote the table",
}


@pytest.fixture(scope="module")
def spark_home():
    """The folder that the tables' metadata names, ours for the time of the tests."""
    if HOME.exists() and not MARK.exists():
        pytest.skip(f"{HOME} exists and is not this test's")
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True)
    MARK.touch()
    yield HOME
    shutil.rmtree(HOME)


@pytest.fixture(scope="module")
def spark(spark_home):
    """Spark, when CALVE_SPARK_TESTS=1; otherwise None, and the tests ask the other engines only."""
    if os.environ.get("CALVE_SPARK_TESTS") != "1":
        yield None
        return
    engine = Spark(spark_home)
    yield engine
    engine.close()


def entry_of(folder, table):
    entries = json.loads((folder / "spark-iceberg/tables.json").read_text())
    return next(entry for entry in entries if entry["table"] == f"t.{table}")


def newest_metadata(table_folder):
    metadata = table_folder / "metadata"
    version = int((metadata / "version-hint.text").read_text())
    return next(path for path in (metadata / f"v{version}.metadata.json", metadata / f"v{version}.gz.metadata.json")
                if path.exists())


@pytest.mark.parametrize("table", [table for tables in TABLES.values() for table in tables])
def test_append_then_rewrite(calve, shared_data, spark_home, spark, tmp_path, table):
    entry = entry_of(shared_data, table)
    source = shared_data / "spark-iceberg/warehouse/t" / table
    folder = spark_home / "t" / table
    shutil.copytree(source, folder, copy_function=shutil.copyfile)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    expected = read_jsonl(shared_data / "spark-iceberg" / entry["expected"])
    old = json.loads(calve.run("inspect", folder, "--json").stdout)["current_snapshot_id"]
    single = set(re.findall(r"(\w+):float\b", entry["schema"]))

    calve.run("scan", folder, "--to", tmp_path / "copy.parquet")
    calve.run("append", folder, tmp_path / "copy.parquet")
    check(table, folder, expected * 2, single, spark, tmp_path)
    calve.run("rewrite", folder, "--rewrite-all")
    check(table, folder, expected * 2, single, spark, tmp_path)
    assert_same_rows(calve.rows(folder), expected * 2, single)
    assert_same_rows(calve.rows(folder, "--snapshot", old), expected, single)


def check(table, folder, expected, single, spark, tmp_path):
    metadata = newest_metadata(folder)
    if ("pyiceberg", table) not in NOT_AN_ORACLE:
        assert_same_rows(pyiceberg_rows(metadata), expected, single)
    if ("duckdb", table) not in NOT_AN_ORACLE:
        assert_same_rows(duckdb_rows(metadata), expected, single)
    if spark is not None and ("spark", table) not in NOT_AN_ORACLE:
        assert_same_rows(spark.rows(table, tmp_path / "spark.arrow"), expected, single)
