//! Keeper as a separate program, for tests and examples of this crate; the counterpart of `pgdyno keeper`

fn main() -> std::process::ExitCode {
    stack::supervisor::keeper::main()
}
