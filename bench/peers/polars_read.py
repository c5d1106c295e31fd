"""calve_peer_read with Polars, into its own columns. --batch-rows collect, streaming (collected by the streaming engine) or batches."""

import os
import sys

for option, value in zip(sys.argv, sys.argv[1:]):
    if option == "--threads":
        os.environ["POLARS_MAX_THREADS"] = value  # read once, on import

import polars as pl

import serve


def read(options):
    frame = pl.scan_parquet(options.files)
    if options.filter:
        frame = frame.filter(pl.col(options.filter[0]) < options.filter[1])
    if options.columns:
        frame = frame.select(options.columns)
    if options.batch_rows == "batches":
        yield from frame.collect_batches()
    else:
        yield frame.collect(engine="streaming" if options.batch_rows == "streaming" else "in-memory")


serve.main(read, lambda frame: frame.to_arrow(compat_level=pl.CompatLevel.newest()).to_batches())
