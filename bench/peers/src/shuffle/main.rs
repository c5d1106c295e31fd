//! arrow_rs_peer_shuffle: decodes shuffle blocks with arrow-rs.
//!
//!     arrow_rs_peer_shuffle [--rounds N] [--trusted] [--keep] [--reader stream|cached] [--serve] DATA INDEX
//!
//! stream: a StreamReader a block. cached: schemas kept by the bytes of their message, each body read once into memory of
//! exactly its size, a RecordBatchDecoder over it. Prints what calve_peer_shuffle does.

#[path = "../checksum.rs"]
mod checksum;
mod decode;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED_BYTES: AtomicU64 = AtomicU64::new(0);

fn count(size: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    ALLOCATED_BYTES.fetch_add(size as u64, Relaxed);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        System.alloc(layout)
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        System.alloc_zeroed(layout)
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        System.realloc(memory, layout, size)
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        System.dealloc(memory, layout)
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}
extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

/// Of this thread.
fn cpu_microseconds() -> f64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut now = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.seconds as f64 * 1e6 + now.nanoseconds as f64 / 1e3
}

fn main() -> Result<()> {
    let (mut rounds, mut serve, mut files) = (5usize, false, vec![]);
    let mut options = decode::Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => rounds = words.next().ok_or("--rounds wants a value")?.parse()?,
            "--reader" => options.cached = words.next().as_deref() == Some("cached"),
            "--trusted" => options.trusted = true,
            "--keep" => options.keep = true,
            "--serve" => serve = true,
            file if !file.starts_with("--") => files.push(word),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let data = std::fs::read(files.first().ok_or("no file given")?)?;
    let mut decoder = decode::Decoder::new(arrow::buffer::Buffer::from(data), options);
    let mut checksum = checksum::Checksum::default();
    let blocks = decoder.round(&mut |batch| checksum.add(&batch))?;
    let mut timed = || -> Result<f64> {
        let mut kept = Vec::with_capacity(blocks);
        let started = cpu_microseconds();
        let keep = decoder.options.keep;
        decoder.round(&mut |batch| {
            if keep {
                kept.push(batch)
            }
        })?;
        Ok((cpu_microseconds() - started) / blocks as f64)
    };
    timed()?;
    let (allocations, bytes) = (ALLOCATIONS.load(Relaxed), ALLOCATED_BYTES.load(Relaxed));
    timed()?;
    let facts = format!(
        "blocks={} rows={} allocations={:.1} allocated_bytes={:.0} checksum={:016x}",
        blocks,
        checksum.rows,
        (ALLOCATIONS.load(Relaxed) - allocations) as f64 / blocks as f64,
        (ALLOCATED_BYTES.load(Relaxed) - bytes) as f64 / blocks as f64,
        checksum.sum
    );
    if serve {
        println!("{facts}");
        for _ in std::io::stdin().lock().lines() {
            println!("us={:.4}", timed()?);
            std::io::stdout().flush()?;
        }
        return Ok(());
    }
    let mut times = (0..rounds).map(|_| timed()).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    println!("{facts} median_us={:.3}", times[times.len() / 2]);
    Ok(())
}
