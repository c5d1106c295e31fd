"""calve_peer_write with Polars, from its own columns to a file."""

import os
import sys

for option, value in zip(sys.argv, sys.argv[1:]):
    if option == "--threads":
        os.environ["POLARS_MAX_THREADS"] = value  # read once, on import

import polars as pl

import serve_write

COMPRESSION = {"default": ("uncompressed", None), "zstd": ("zstd", 1)}


def prepare(table, options):
    serve_write.refuse(options.option, COMPRESSION)
    return pl.from_arrow(table, rechunk=True)


def write(frame, path, options):
    compression, level = COMPRESSION[options.option]
    frame.write_parquet(path, compression=compression, compression_level=level, row_group_size=max(frame.height, 1),
                        data_page_size=1 << 20)


serve_write.main(prepare, write)
