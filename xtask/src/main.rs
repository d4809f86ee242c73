//! Development tasks: `cargo xtask tidy` checks the code's layers, `cargo xtask capture` captures probe fixtures,
//! `cargo xtask keys` writes `docs/keys.md`, `cargo xtask site` builds the manual's web site.

mod capture;
mod keys;
mod markdown;
mod site;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::main(),
        ["keys"] => keys::main(),
        ["site"] => site::main(),
        ["capture"] => capture::main("all"),
        ["capture", probe] => capture::main(probe),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy    check the rules of ARCHITECTURE.md and CONTRIBUTING.md\n       \
                 cargo xtask keys    write docs/keys.md from the schema of the experiment file\n       \
                 cargo xtask site    build the manual as a web site in target/site\n       \
                 cargo xtask capture [PROBE]    record what servers answer to the probes, and what is read from it"
            );
            ExitCode::from(2)
        }
    }
}
