//! `pgdyno`: a dynamometer for PostgreSQL systems. This file: which command, and with which exit status?

mod bench;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args();
    let path = args.next().unwrap_or_default();
    let name = Path::new(&path).file_name().and_then(|it| it.to_str()).unwrap_or("pgdyno");
    let rest: Vec<String> = args.collect();
    match rest.split_first() {
        _ if name == "pgbench" => bench::main(name, &rest),
        Some((command, rest)) if command == "bench" => bench::main("pgdyno bench", rest),
        _ => {
            eprintln!("{name}: hint: Try \"{name} bench --help\".");
            ExitCode::from(2)
        }
    }
}
