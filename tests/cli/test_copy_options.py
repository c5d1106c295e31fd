"""calve copy: each option of the writer, looked for in the file by pyarrow; and options that are wrong."""

import json
import random
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.parquet import encryption

from cli_support import BINARY, refused
from test_copy import clean, copy, done

ROWS = 20000
FOOTER_KEY, COLUMN_KEY = "000102030405060708090a0b0c0d0e0f", "f0" * 32


@pytest.fixture
def table():
    return pa.table({"id": pa.array(range(ROWS), pa.int64()), "s": [f"row {i * 7919 % 100003:06}" for i in range(ROWS)],
                     "d": pa.array([i * 0.3 for i in range(ROWS)], pa.float64()), "b": [i % 3 == 0 for i in range(ROWS)],
                     "l": [[i, i + 1] for i in range(ROWS)], "k": [i % 10 for i in range(ROWS)]})


@pytest.fixture
def file(tmp_path, table):
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


@pytest.fixture
def written(file, table):
    """The copy under some options, as pyarrow opens it, after its values and its own invariants were found right."""

    def write(*options):
        out = file.parent / "out.parquet"
        done(file, "--to", out, "--force", *options)
        clean(out)
        opened = pq.ParquetFile(out, page_checksum_verification=True)
        assert opened.read().cast(table.schema).equals(table)
        return opened

    return write


def chunk(opened, name):
    group = opened.metadata.row_group(0)
    return next(group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema == name)


# ---- Encodings.

@pytest.mark.parametrize("column, encoding", [("id", "DELTA_BINARY_PACKED"), ("l.list.element", "DELTA_BINARY_PACKED"), ("s", "DELTA_LENGTH_BYTE_ARRAY"),
                                              ("s", "DELTA_BYTE_ARRAY"), ("d", "BYTE_STREAM_SPLIT"), ("id", "BYTE_STREAM_SPLIT"), ("b", "RLE"), ("s", "PLAIN")])
@pytest.mark.parametrize("version", ["1", "2"])
def test_encoding_of_a_column(written, column, encoding, version):
    encodings = chunk(written("--encoding", f"{column}={encoding.lower()}", "--data-page-version", version), column).encodings
    assert encoding in encodings and not any("DICTIONARY" in name for name in encodings), encodings


def test_encodings_of_several_columns_and_of_all(written):
    opened = written("--no-dictionary", "--encoding", "*=BYTE_STREAM_SPLIT", "--encoding", "k=AUTOMATIC", "--encoding", "id=PLAIN")
    assert "BYTE_STREAM_SPLIT" in chunk(opened, "d").encodings
    assert "BYTE_STREAM_SPLIT" not in chunk(opened, "id").encodings and "BYTE_STREAM_SPLIT" not in chunk(opened, "k").encodings
    opened = written("--no-dictionary", "--encoding", "*=PLAIN")
    assert set(chunk(opened, "id").encodings) <= {"PLAIN", "RLE"}


def test_automatic_encoding_is_the_default(written):
    assert "DELTA_BINARY_PACKED" in chunk(written("--no-dictionary"), "id").encodings


def test_dictionary_of_a_column(written):
    opened = written("--no-dictionary", "--column-dictionary", "k=on")
    assert chunk(opened, "k").has_dictionary_page and not chunk(opened, "s").has_dictionary_page
    opened = written("--column-dictionary", "k=off")
    assert not chunk(opened, "k").has_dictionary_page


# ---- Bloom filters.

def test_bloom_filters_of_some_columns(written):
    opened = written("--bloom-filter", "s", "--bloom-filter", f"id:0.001:{ROWS}")
    lengths = {name: chunk(opened, name).bloom_filter_length for name in ["s", "id", "d", "k"]}
    assert lengths["s"] and lengths["id"] and lengths["d"] is None and lengths["k"] is None
    # Split blocks of 256 bits: about 10 bits a value at a rate of 0.01, 15 at 0.001; sizes are powers of two.
    assert 16 << 10 <= lengths["s"] <= (32 << 10) + 64 and lengths["s"] <= lengths["id"] <= (64 << 10) + 64


def test_bloom_filters_of_all_columns(written):
    opened = written("--bloom-filter", "*:0.1", "--bloom-filter-max-bytes", "2KiB")
    for name in ["s", "id", "d", "k", "l.list.element"]:
        assert 0 < chunk(opened, name).bloom_filter_length < 2200, name
    assert chunk(opened, "b").bloom_filter_length is None


# ---- Pages.

PLAIN_PAGES = ["--columns", "s", "--no-dictionary", "--encoding", "s=PLAIN", "--compression", "none", "--page-rows", "1000000", "--no-page-checksums"]


def test_content_chunking_sets_the_size_of_pages(file):
    def size(*options):
        done(file, "--to", file.parent / "out.parquet", "--force", *PLAIN_PAGES, *options)
        clean(file.parent / "out.parquet")
        return chunk(pq.ParquetFile(file.parent / "out.parquet"), "s").total_compressed_size

    # 280,000 bytes of values, and a header for each page.
    assert size("--chunk-min-bytes", "1KiB", "--chunk-max-bytes", "4KiB") > size("--content-chunking") + 280000 // 4096 * 15


def test_content_chunking_cuts_alike_behind_rows_that_were_put_in_front(tmp_path, table):
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(pa.concat_tables([table.slice(100, 1237), table]), tmp_path / "2.parquet")

    def share_in_common(*options):
        """Of the stretches of the first file that have the beginning of a page in them, how many the second has too."""
        for name in ["1", "2"]:
            done(tmp_path / f"{name}.parquet", "--to", tmp_path / f"{name}.out", "--force", *PLAIN_PAGES, *options)
            clean(tmp_path / f"{name}.out")
        first, second = ((tmp_path / f"{name}.out").read_bytes() for name in ["1", "2"])
        # Rows are 14 bytes, "row " in front of a number; where they are further apart a page's header stands.
        starts = [at for at in range(4, len(first) - 14) if first[at:at + 4] == b"row " and first[at - 14:at - 10] != b"row "]
        assert len(starts) > 20
        return sum(first[at - 40:at + 40] in second for at in starts[1:]) / len(starts[1:])

    assert share_in_common("--chunk-min-bytes", "2KiB", "--chunk-max-bytes", "8KiB", "--no-size-statistics") > 0.5
    assert share_in_common("--page-bytes", "4KiB", "--no-size-statistics") < 0.1


def test_page_index_can_be_left_out(written):
    assert chunk(written(), "id").has_offset_index and chunk(written(), "id").has_column_index
    opened = written("--no-page-index")
    assert not chunk(opened, "id").has_offset_index and not chunk(opened, "id").has_column_index


def test_checksums_can_be_left_out(file, written):
    def damaged():
        """The file with a byte of a page's values changed that nothing but a checksum could miss."""
        out = file.parent / "out.parquet"
        content = bytearray(out.read_bytes())
        at = content.index((7).to_bytes(8, "little") + (8).to_bytes(8, "little"))
        content[at] = 9
        out.write_bytes(content)
        return pq.ParquetFile(out, page_checksum_verification=True)

    plain = ["--compression", "none", "--encoding", "id=PLAIN"]
    written(*plain)
    with pytest.raises(OSError, match="[Cc][Rr][Cc]"):
        damaged().read(["id"])
    written(*plain, "--no-page-checksums")
    assert damaged().read(["id"])["id"][7].as_py() == 9


def test_skip_poor_compression(tmp_path):
    numbers = random.Random(5)
    pq.write_table(pa.table({"noise": [numbers.randrange(-2**63, 2**63) for _ in range(ROWS)], "text": ["the same"] * ROWS}), tmp_path / "in.parquet")
    for options, codec in [([], "ZSTD"), (["--skip-poor-compression"], "UNCOMPRESSED")]:
        done(tmp_path / "in.parquet", "--to", tmp_path / "out.parquet", "--force", "--no-dictionary", *options)
        clean(tmp_path / "out.parquet")
        opened = pq.ParquetFile(tmp_path / "out.parquet")
        assert chunk(opened, "noise").compression == codec and chunk(opened, "text").compression == "ZSTD"


# ---- What the footer says.

def test_sorting_columns(written):
    opened = written("--sorted-by", "id")
    assert opened.metadata.row_group(0).sorting_columns == (pq.SortingColumn(0, descending=False, nulls_first=False),)
    done_by_two = written("--sorted-by", "id nulls first,l.list.element")
    assert done_by_two.metadata.row_group(0).sorting_columns == (pq.SortingColumn(0, nulls_first=True), pq.SortingColumn(4))


def test_sorting_column_descending(tmp_path):
    pq.write_table(pa.table({"a": [1, 1, 1], "b": [3, 2, None]}), tmp_path / "in.parquet")
    done(tmp_path / "in.parquet", "--to", tmp_path / "out.parquet", "--sorted-by", "a ASC", "--sorted-by", "b DESC NULLS LAST")
    clean(tmp_path / "out.parquet")
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0).sorting_columns == (pq.SortingColumn(0), pq.SortingColumn(1, descending=True))


def test_arrow_schema_and_metadata(written):
    metadata = written("--metadata", "made by=me = us", "--metadata", "empty=").metadata.metadata
    assert metadata[b"made by"] == b"me = us" and metadata[b"empty"] == b"" and b"ARROW:schema" in metadata
    assert b"ARROW:schema" not in (written("--no-arrow-schema").metadata.metadata or {})


def test_distinct_counts(written):
    assert not chunk(written(), "k").statistics.has_distinct_count
    counted = chunk(written("--distinct-counts"), "k").statistics
    assert counted.has_distinct_count and counted.distinct_count == 10


def test_size_statistics_can_be_left_out(file, written):
    written()
    with_histograms = (file.parent / "out.parquet").stat().st_size
    written("--no-size-statistics")
    assert (file.parent / "out.parquet").stat().st_size < with_histograms


# ---- Encryption.

@pytest.fixture
def keys(tmp_path):
    (tmp_path / "footer.key").write_text(FOOTER_KEY + "\n")
    (tmp_path / "column.key").write_text(COLUMN_KEY.upper())
    return ["--footer-key", f"@{tmp_path}/footer.key", "--column-key", f"s=@{tmp_path}/column.key"]


def decrypting():
    return encryption.create_decryption_properties(bytes.fromhex(FOOTER_KEY))


@pytest.mark.parametrize("more", [[], ["--ctr-pages"], ["--plaintext-footer"], ["--aad-prefix", "who.parquet"]])
def test_encrypted_with_the_footers_key_pyarrow_reads(file, table, keys, more):
    done(file, "--to", file.parent / "out.parquet", *keys[:2], *more)
    opened = pq.ParquetFile(file.parent / "out.parquet", decryption_properties=decrypting())
    assert opened.read().cast(table.schema).equals(table)
    clean(file.parent / "out.parquet", *keys[:2])
    assert (file.parent / "out.parquet").read_bytes()[:4] == (b"PAR1" if "--plaintext-footer" in more else b"PARE")


def test_columns_with_keys_and_without(file, table, keys):
    out = file.parent / "out.parquet"
    said = json.loads(done(file, "--to", out, *keys, "--other-columns-plaintext", "--plaintext-footer", "--compression", "none", "--no-dictionary", "--json").stdout)
    clean(out, *keys)
    assert len(said["columns"]) == 6 and all(column["compressed_bytes"] > 0 for column in said["columns"])
    content = out.read_bytes()
    assert b"row 0" not in content  # values and bounds of the column that has a key
    opened = pq.ParquetFile(out)
    assert opened.read(["id", "d", "l"]).to_pydict() == table.select(["id", "d", "l"]).to_pydict()
    with pytest.raises(Exception):
        opened.read(["s"])


def encrypted_by_pyarrow(path, table, **more):
    pq.write_table(table, path, encryption_properties=encryption.create_encryption_properties(bytes.fromhex(FOOTER_KEY), **more))


@pytest.mark.parametrize("more", [{}, {"plaintext_footer": True}, {"aad_prefix": b"who"}])
def test_encrypted_inputs(table, keys, tmp_path, more):
    secret, plain = tmp_path / "secret.parquet", tmp_path / "plain.parquet"
    encrypted_by_pyarrow(secret, table, **more)
    refused(copy(secret, "--to", plain), "secret.parquet", "key")
    done(secret, "--to", plain, "--input-footer-key", keys[1])
    assert pq.read_table(plain).cast(table.schema).equals(table)
    done(secret, plain, "--to", tmp_path / "again.parquet", "--input-footer-key", keys[1], *keys[:2])  # other keys to write with
    opened = pq.ParquetFile(tmp_path / "again.parquet", decryption_properties=decrypting())
    assert opened.read().cast(table.schema).equals(pa.concat_tables([table, table]))


def test_encrypted_files_are_scanned_and_inspected(table, keys, tmp_path):
    secret, plain = tmp_path / "secret.parquet", tmp_path / "plain.parquet"
    encrypted_by_pyarrow(secret, table)
    pq.write_table(table, plain)
    run = lambda *arguments: subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    assert run("scan", secret, plain, "--count", "--where", "id < 7", *keys[:2]).stdout == "14\n"
    refused(run("scan", secret, "--count"), "secret.parquet", "key")
    refused(run("scan", secret, "--count", "--footer-key", "00" * 16), "secret.parquet")
    seen = run("inspect", secret, "--json", *keys[:2])
    assert seen.returncode == 0 and json.loads(seen.stdout)["rows"] == ROWS


def test_a_key_in_digits(file):
    done(file, "--to", file.parent / "out.parquet", "--footer-key", FOOTER_KEY)
    clean(file.parent / "out.parquet", "--footer-key", FOOTER_KEY)


def test_keys_that_are_none(file, tmp_path):
    (tmp_path / "bad.key").write_text("not a key\n")
    (tmp_path / "short.key").write_text("0011")
    out = tmp_path / "out.parquet"
    for key, words, code in [("xyz", ["hexadecimal"], 2), ("abc", ["hexadecimal"], 2), (f"@{tmp_path}/bad.key", ["hexadecimal", "bad.key"], 2),
                             (f"@{tmp_path}/short.key", ["16, 24 or 32", "not 2"], 2), (f"@{tmp_path}/gone.key", ["gone.key"], 1), (f"@{tmp_path}", [tmp_path], 1)]:
        line = refused(copy(file, "--to", out, "--footer-key", key), *words, code=code)
        assert "not a key" not in line
        refused(copy(file, "--to", out, "--footer-key", FOOTER_KEY, "--column-key", f"s={key}"), *words, code=code)
    for flags in [["--column-key", f"s={COLUMN_KEY}"], ["--plaintext-footer"], ["--ctr-pages"], ["--aad-prefix", "x"], ["--other-columns-plaintext"]]:
        refused(copy(file, "--to", out, *flags), "--footer-key", code=2)
    assert not out.exists()


# ---- Memory.

def test_memory_stays_within_its_budget(tmp_path):
    numbers = random.Random(9)
    columns = {f"c{i}": pa.array([numbers.randrange(2**60) for _ in range(1000)]) for i in range(200)}
    columns["long"] = ["x" * 2000 + str(i) for i in range(1000)]
    table = pa.table(columns)
    with pa.ipc.new_stream(tmp_path / "in.arrows", table.schema) as writer:
        for _ in range(10):
            writer.write_table(table, 200)
    out = tmp_path / "out.parquet"
    said = json.loads(done(tmp_path / "in.arrows", "--to", out, "--memory", "48MiB", "--row-group-rows", "500", "--threads", "2", "--json").stdout)
    assert 1 << 20 < said["peak_memory_bytes"] <= 48 << 20
    clean(out)
    assert pq.ParquetFile(out).metadata.num_row_groups == 20
    refused(copy(tmp_path / "in.arrows", "--to", tmp_path / "no.parquet", "--memory", "1MiB"), "budget")
    assert not (tmp_path / "no.parquet").exists()


# ---- Wrong ones.

@pytest.mark.parametrize("flags, words", [
    (["--encoding", "id"], ["--encoding", "COLUMN=ENCODING", "'id'"]),
    (["--encoding", "=PLAIN"], ["COLUMN=ENCODING"]),
    (["--encoding", "id=HUFFMAN"], ["--encoding", "HUFFMAN", "DELTA_BINARY_PACKED"]),
    (["--encoding"], ["--encoding"]),
    (["--column-dictionary", "id=maybe"], ["on|off", "maybe"]),
    (["--bloom-filter", ""], ["--bloom-filter"]),
    (["--bloom-filter", "id:2"], ["--bloom-filter", "id:2"]),
    (["--bloom-filter", "id:0.1:0"], ["id:0.1:0"]),
    (["--bloom-filter", "id:nan"], ["id:nan"]),
    (["--bloom-filter", "id:"], ["'id:'"]),
    (["--bloom-filter", "id", "--bloom-filter-max-bytes", "1"], ["--bloom-filter-max-bytes"]),
    (["--chunk-min-bytes", "1MiB", "--chunk-max-bytes", "1MiB"], ["--chunk-min-bytes", "1048576"]),
    (["--chunk-min-bytes", "much"], ["not a size", "much"]),
    (["--chunk-norm-level", "100"], ["--chunk-norm-level"]),
    (["--metadata", "nothing"], ["KEY=VALUE", "nothing"]),
    (["--sorted-by", " "], ["--sorted-by"]),
    (["--no-page-checksum"], ["--no-page-checksum"])])
def test_a_wrong_option_is_a_wrong_command_line(file, flags, words):
    refused(copy(file, "--to", file.parent / "out.parquet", *flags), *words, code=2)
    assert not (file.parent / "out.parquet").exists()


@pytest.mark.parametrize("flags, words", [
    (["--encoding", "nosuch=PLAIN"], ["nosuch"]), (["--bloom-filter", "l"], ["'l'"]), (["--sorted-by", "nosuch desc"], ["'nosuch'"]),
    (["--encoding", "s=DELTA_BINARY_PACKED"], ["'s'", "BYTE_ARRAY", "DELTA_BINARY_PACKED"]), (["--bloom-filter", "b"], ["'b'", "BOOLEAN"])])
def test_an_option_that_the_data_does_not_fit(file, flags, words):
    refused(copy(file, "--to", file.parent / "out.parquet", *flags), *words)
    assert not (file.parent / "out.parquet").exists()


def test_repeatable_flags_leave_the_inputs_alone(file):
    done("--encoding", "id=PLAIN", file, "--bloom-filter", "s", "--to", file.parent / "out.parquet")
    assert chunk(pq.ParquetFile(file.parent / "out.parquet"), "s").bloom_filter_length


def test_help_has_the_options():
    text = copy("--help").stdout
    for flag in ["--encoding", "--bloom-filter", "--content-chunking", "--sorted-by", "--no-page-index", "--no-page-checksums", "--no-arrow-schema",
                 "--skip-poor-compression", "--footer-key", "--column-key", "--metadata"]:
        assert flag in text
    assert "--encoding id=DELTA_BINARY_PACKED --bloom-filter name:0.001 --sorted-by id" in text
