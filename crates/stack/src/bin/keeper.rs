//! The keeper as a program of its own: what `pgdyno keeper` is to pgdyno, for tests and examples of this crate.

fn main() -> std::process::ExitCode {
    stack::supervisor::keeper::main()
}
