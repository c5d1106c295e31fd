//! arrow_rs_peer_read: what calve_peer_read does, with arrow-rs.
//!
//!     arrow_rs_peer_read [--rounds N] [--threads T] [--columns a,b] [--batch-rows N] [--strings utf8|view|dictionary]
//!                        [--keep] [--serve] FILE...

mod checksum;
mod read;

use std::io::{BufRead, Write};
use std::time::Instant;

use arrow::datatypes::DataType;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Arguments {
    rounds: usize,
    serve: bool,
    read: read::Options,
}

fn parse() -> Result<Arguments> {
    let mut arguments = Arguments {
        rounds: 5,
        serve: false,
        read: read::Options {
            files: vec![],
            columns: vec![],
            batch_rows: 65536,
            threads: 1,
            strings: DataType::Utf8,
            keep: false,
        },
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "--rounds" => arguments.rounds = value()?.parse()?,
            "--threads" => arguments.read.threads = value()?.parse()?,
            "--batch-rows" => arguments.read.batch_rows = value()?.parse()?,
            "--columns" => arguments.read.columns = value()?.split(',').map(str::to_owned).collect(),
            "--strings" => {
                arguments.read.strings = match value()?.as_str() {
                    "utf8" => DataType::Utf8,
                    "view" => DataType::Utf8View,
                    "dictionary" => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
                    other => return Err(format!("no string form {other}").into()),
                }
            }
            "--keep" => arguments.read.keep = true,
            "--serve" => arguments.serve = true,
            file if !file.starts_with("--") => arguments.read.files.push(word),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if arguments.read.files.is_empty() {
        return Err("no file given".into());
    }
    Ok(arguments)
}

fn timed_round(options: &read::Options) -> Result<f64> {
    let started = Instant::now();
    let kept = read::read_once(options)?;
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    drop(kept);
    Ok(milliseconds)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn main() -> Result<()> {
    let arguments = parse()?;
    let mut checksum = checksum::Checksum::default();
    read::read_in_order(&arguments.read, &mut |batch| checksum.add(&batch))?;
    if arguments.serve {
        println!(
            "rows={} bytes={} checksum={:016x}",
            checksum.rows, checksum.bytes, checksum.sum
        );
        for _ in std::io::stdin().lock().lines() {
            println!("ms={:.4}", timed_round(&arguments.read)?);
            std::io::stdout().flush()?;
        }
        return Ok(());
    }
    let times = (0..arguments.rounds)
        .map(|_| timed_round(&arguments.read))
        .collect::<Result<Vec<_>>>()?;
    println!(
        "rows={} bytes={} median_ms={:.3} checksum={:016x}",
        checksum.rows,
        checksum.bytes,
        median(times),
        checksum.sum
    );
    Ok(())
}
