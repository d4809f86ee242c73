//! Which chore is to be done? `cargo xtask tidy`: do the walls stand?

mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::main(),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy    check the walls between the crates, and what else is told in CONTRIBUTING.md"
            );
            ExitCode::from(2)
        }
    }
}
