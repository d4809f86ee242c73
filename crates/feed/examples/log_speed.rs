//! Measures how fast an access log is read: `cargo run --release -p feed --example log_speed [LINES]`

use feed::{LogFormat, TimedRow, decompress, pack, start_times};
use model::plan::FeedFormat;
use model::row_table::Rows;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

const FORMAT: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
                      \"$http_referer\" \"$http_user_agent\" $request_time";

fn main() {
    let lines = std::env::args().nth(1).map_or(1_000_000, |it| it.parse().expect("a number of lines"));
    let mut log = String::new();
    for n in 0..lines {
        let second = n / 1000 % 60;
        let _ = writeln!(
            log,
            "10.0.0.{} - - [26/Nov/2026:14:{:02}:{second:02} +0000] \"GET /user/{n}?page={} HTTP/1.1\" 200 {} \
             \"http://shop.test/\" \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\" 0.{:03}",
            n % 250,
            n / 60_000 % 60,
            n % 7,
            n % 9000,
            n % 300
        );
    }
    let format = LogFormat::parse(FORMAT).expect("the format is valid");
    let began = Instant::now();
    let mut source = decompress(log.as_bytes()).expect("the log is in memory");
    let packing =
        pack(FeedFormat::Access, None, Some(&format), &mut source, Vec::new()).expect("a valid log");
    let read = began.elapsed().as_secs_f64();
    drop(source);
    let (bytes, layout) = packing.finish().expect("there is memory");
    let rows = Rows::new(Arc::new(bytes), layout);
    let began = Instant::now();
    let times = start_times(&rows, format.moment);
    let sorted = began.elapsed().as_secs_f64();
    println!(
        "{lines} lines of {} bytes: read {:.0}/s; start times {:.0}/s, {} MB",
        log.len() / lines,
        lines as f64 / read,
        times.len() as f64 / sorted,
        (times.len() * size_of::<TimedRow>()) >> 20
    );
}
