//! Of each line, a shape of the write benchmark, a number of rows and an Arrow IPC file to write, tab between them:
//! makes the batch of that shape. The shapes are those of bench/peers.

#[path = "../../../../../bench/peers/src/write/shapes.rs"]
mod shapes;

use std::fs::File;
use std::io::{self, BufRead};

use arrow::ipc::writer::FileWriter;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn answer(line: &str) -> Result<()> {
    let words: Vec<&str> = line.split('\t').collect();
    let [shape, rows, path] = words[..] else {
        return Err("a shape, rows and a file are wanted".into());
    };
    let batch = shapes::make(shape, rows.parse()?)?;
    let mut writer = FileWriter::try_new(File::create(path)?, &batch.schema())?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(())
}

fn main() -> Result<()> {
    for line in io::stdin().lock().lines() {
        match answer(&line?) {
            Ok(()) => println!("ok"),
            Err(error) => println!("error {error}"),
        }
    }
    Ok(())
}
