//! Times arrow-rs's definition levels of a flat nullable column of 2^20 rows alone. A line a density:
//!
//!     null_percent=25 materialize_us=… encode_us=… bytes=…
//!
//! materialize: the levels (and which rows hold a value) from the array; encode: the levels to Parquet's runs.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, ArrayRef, Int32Array};
use arrow::datatypes::{DataType, Field};
use parquet::arrow::arrow_writer::compute_leaves;
use parquet::encodings::levels::LevelEncoder;

use crate::Result;

const ROWS: usize = 1 << 20;

/// Whether row `row` is null: the same rows in every program that times levels.
fn is_null(row: usize, percent: u64) -> bool {
    let mut value = (row as u64 + 42).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ (value >> 31)) % 100 < percent
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn time(rounds: usize, mut work: impl FnMut()) -> f64 {
    median(
        (0..rounds)
            .map(|_| {
                let started = Instant::now();
                work();
                started.elapsed().as_secs_f64() * 1e6
            })
            .collect(),
    )
}

pub fn report(rounds: usize) -> Result<()> {
    let field = Field::new("x", DataType::Int32, true);
    for percent in [0, 1, 10, 25, 50, 75, 90, 99, 100] {
        let values = (0..ROWS).map(|row| (!is_null(row, percent)).then_some(row as i32));
        let array: ArrayRef = Arc::new(Int32Array::from_iter(values));
        let levels: Vec<i16> = (0..ROWS).map(|row| !is_null(row, percent) as i16).collect();
        let materialize = time(rounds, || {
            std::hint::black_box(compute_leaves(&field, &array).expect("levels"));
        });
        let mut bytes = 0;
        let encode = time(rounds, || {
            let mut encoder = LevelEncoder::v2_streaming(1);
            if array.null_count() == 0 || array.null_count() == ROWS {
                encoder.put_n_with_observer(levels[0], ROWS, |_, _| {});
            } else {
                encoder.put_with_observer(std::hint::black_box(&levels), |_, _| {});
            }
            bytes = std::hint::black_box(encoder.consume()).len();
        });
        println!("null_percent={percent} materialize_us={materialize:.1} encode_us={encode:.1} bytes={bytes}");
    }
    Ok(())
}
