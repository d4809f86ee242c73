//! Commands of the user that run between trials

use crate::component::program::Programs;
use crate::supervisor::{Launch, NodeError, Supervisor};
use model::message;
use model::message::Message;
use std::path::Path;
use std::time::Duration;

/// Time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Runs a command with pgdyno's environment, and waits for its end. `name` is the name of its log. Processes that it leaves
/// behind end with the run. An empty command does nothing.
///
/// Returns an error if the program is missing, fails, or takes longer than ten minutes.
pub fn run(
    supervisor: &mut Supervisor,
    programs: &Programs,
    name: &str,
    command: &[String],
    directory: &Path,
) -> Result<(), Message> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let failed = |reason: Message| message!("hook-failed", hook = name, reason);
    let path = programs.locate(program).ok_or_else(|| failed(message!("service-no-program", program)))?;
    let mut launch = Launch::new(name, path, &programs.directory.join(directory)).args(arguments);
    launch.env = std::env::vars_os().filter_map(|(name, it)| Some((name.into_string().ok()?, it))).collect();
    supervisor.run(launch, TIMEOUT).map_err(|error: NodeError| failed((&error).into()))
}
