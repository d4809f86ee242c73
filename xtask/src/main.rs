//! Development tasks: `cargo xtask tidy` checks the code's layers, `cargo xtask capture` captures probe fixtures.

mod capture;
mod markdown;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::main(),
        ["capture"] => capture::main("all"),
        ["capture", probe] => capture::main(probe),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy    check the rules of ARCHITECTURE.md and CONTRIBUTING.md\n       \
                 cargo xtask capture [PROBE]    record what servers answer to the probes, and what is read from it"
            );
            ExitCode::from(2)
        }
    }
}
