//! arrow_rs_peer_write: what calve_peer_write does, with arrow-rs; and what both write.
//!
//!     arrow_rs_peer_write [--rounds N] [--threads T] [--option NAME] [--out FILE] [--serve] FILE.arrow
//!     arrow_rs_peer_write --make SHAPE ROWS FILE.arrow
//!     arrow_rs_peer_write --levels [--rounds N]
//!
//! The second form makes the batch of one shape of arrow-rs's own benchmark of its writer (or one beside them) with
//! the functions that benchmark calls. The third times levels alone; see levels.rs.

mod levels;
mod shapes;
mod write;

use std::fs::File;
use std::io::{BufRead, Write};
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Default)]
struct Arguments {
    rounds: usize,
    threads: usize,
    option: String,
    out: Option<String>,
    serve: bool,
    levels: bool,
    make: Option<(String, usize)>,
    file: String,
}

fn parse() -> Result<Arguments> {
    let mut arguments = Arguments {
        rounds: 5,
        threads: 1,
        option: "default".to_owned(),
        ..Default::default()
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "--rounds" => arguments.rounds = value()?.parse()?,
            "--threads" => arguments.threads = value()?.parse()?,
            "--option" => arguments.option = value()?,
            "--out" => arguments.out = Some(value()?),
            "--make" => arguments.make = Some((value()?, value()?.parse()?)),
            "--serve" => arguments.serve = true,
            "--levels" => arguments.levels = true,
            file if !file.starts_with("--") => arguments.file = word,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if arguments.file.is_empty() && !arguments.levels {
        return Err("no file given".into());
    }
    Ok(arguments)
}

fn make(shape: &str, rows: usize, path: &str) -> Result<()> {
    let batch = shapes::make(shape, rows)?;
    let mut writer = FileWriter::try_new(File::create(path)?, &batch.schema())?;
    writer.write(&batch)?;
    writer.finish()?;
    println!("rows={} columns={}", batch.num_rows(), batch.num_columns());
    Ok(())
}

fn load(path: &str) -> Result<Vec<RecordBatch>> {
    let batches = FileReader::try_new_buffered(File::open(path)?, None)?.collect::<std::result::Result<Vec<_>, _>>()?;
    if batches.is_empty() {
        return Err(format!("{path} holds no batch").into());
    }
    Ok(batches)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn timed_round(batches: &[RecordBatch], arguments: &Arguments) -> Result<f64> {
    let started = Instant::now();
    write::write(batches, &arguments.option, arguments.threads, std::io::sink())?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

fn main() -> Result<()> {
    let arguments = parse()?;
    if let Some((shape, rows)) = &arguments.make {
        return make(shape, *rows, &arguments.file);
    }
    if arguments.levels {
        return levels::report(arguments.rounds);
    }
    let batches = load(&arguments.file)?;
    let input: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
    let written = match &arguments.out {
        Some(path) => write::write(&batches, &arguments.option, arguments.threads, File::create(path)?)?,
        None => write::write(&batches, &arguments.option, arguments.threads, std::io::sink())?,
    };
    let facts = format!("input_bytes={input} output_bytes={written}");
    if arguments.serve {
        println!("{facts}");
        for _ in std::io::stdin().lock().lines() {
            println!("ms={:.4}", timed_round(&batches, &arguments)?);
            std::io::stdout().flush()?;
        }
        return Ok(());
    }
    let times = (0..arguments.rounds)
        .map(|_| timed_round(&batches, &arguments))
        .collect::<Result<Vec<_>>>()?;
    println!("{facts} median_ms={:.3}", median(times));
    Ok(())
}
