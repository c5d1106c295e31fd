"""calve_peer_write with DuckDB: the Arrow table is copied to a file, one row group a batch."""

import duckdb

import serve_write

COMPRESSION = {"default": "UNCOMPRESSED", "parquet_2": "UNCOMPRESSED", "zstd": "ZSTD", "zstd_parquet_2": "ZSTD", "bloom_filter": "UNCOMPRESSED"}
connection = duckdb.connect()


def prepare(table, options):
    serve_write.refuse(options.option, COMPRESSION)
    connection.execute(f"SET threads = {options.threads}")
    connection.register("input", table)
    return table


def write(table, path, options):
    version = "V2" if options.option.endswith("parquet_2") else "V1"
    level = ", COMPRESSION_LEVEL 1" if options.option.startswith("zstd") else ""
    bloom_filter = "true, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.05" if options.option == "bloom_filter" else "false"
    connection.execute(f"COPY input TO '{path}' (FORMAT PARQUET, COMPRESSION {COMPRESSION[options.option]}{level}, PARQUET_VERSION {version}, "
                       f"ROW_GROUP_SIZE {max(table.num_rows, 1)}, WRITE_BLOOM_FILTER {bloom_filter})")


serve_write.main(prepare, write)
