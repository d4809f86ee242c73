//! Progress output and logs during the load

use super::logfile::LogFile;
use super::options::BenchOptions;
use crate::cli::{Terminal, os_error_text};
use crate::clock::unix_time;
use crate::measure::LoadListener;
use crate::messages::{Messages, one_line};
use load::script::{CommandKind, Value, Variables};
use load::{AbortReason, ClientStep, LoadEvent, Workload};
use model::{Interval, Nanos, Record};
use report::lang::english;
use report::progress::{self, ProgressStyle};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Listener that prints progress and errors to standard error, and logs records.
#[derive(Debug)]
pub struct BenchDisplay<'a> {
    pub terminal: &'a Terminal,
    /// Description of the server, for messages about refused connections.
    pub server: String,
    pub work: Arc<Workload>,
    /// True if messages keep their line breaks, as in pgbench.
    keeps_lines: bool,
    /// Seconds between two progress lines; `None` for no progress output.
    pub progress_interval: Option<u32>,
    pub style: ProgressStyle,
    /// Logs by thread; empty without a log, and after a write error.
    pub logs: Vec<LogFile>,
    /// True after a write error.
    log_incomplete: bool,
    /// First server message for each failure code.
    pub messages: Messages,
    /// Sum of the seconds since the last progress line, and the number of seconds in the sum.
    pending: Option<(Interval, u32)>,
    /// Flags that end the load when a client aborts; `None` if the other clients continue.
    stop: Option<[&'a AtomicBool; 2]>,
    /// Thread whose client ended the load.
    pub aborted_thread: Option<u16>,
}

impl<'a> BenchDisplay<'a> {
    /// Creates a listener. `epoch` is the Unix time at which the run's clock begins. `stop` are the flags that end the load.
    pub fn new(
        options: &BenchOptions,
        terminal: &'a Terminal,
        server: String,
        work: Arc<Workload>,
        epoch: Nanos,
        logs: Vec<LogFile>,
        stop: [&'a AtomicBool; 2],
    ) -> BenchDisplay<'a> {
        let open = options.pace.is_open();
        let style = ProgressStyle {
            epoch: options.progress.filter(|it| it.timestamp).map(|_| epoch),
            lag: open,
            skipped: open && options.latency_limit.is_some(),
            retries: options.max_tries != 1,
        };
        let every = options.progress.map(|it| it.every);
        let messages = Messages::default();
        BenchDisplay {
            terminal,
            server,
            work,
            keeps_lines: options.as_pgbench,
            progress_interval: every,
            style,
            logs,
            log_incomplete: false,
            messages,
            pending: None,
            stop: options.exit_on_abort.then_some(stop),
            aborted_thread: None,
        }
    }

    /// Message of a server for the terminal: in one line, or with its line breaks.
    fn text(&self, message: &str) -> String {
        if self.keeps_lines { message.trim_end().to_owned() } else { one_line(message) }
    }

    /// Completes the logs. Returns the failure messages, and true if all logs are complete.
    pub fn finish(mut self) -> (Messages, bool) {
        let now = unix_time();
        for mut log in std::mem::take(&mut self.logs) {
            if let Err(error) = log.finish(now) {
                self.log_failed(&log.path, &error);
            }
        }
        (self.messages, !self.log_incomplete)
    }

    fn log_failed(&mut self, path: &str, error: &io::Error) {
        self.terminal.error(&format!("could not write to logfile \"{path}\": {}", os_error_text(error)));
        self.log_incomplete = true;
    }
}

/// Name of a command in pgbench's messages.
fn command_name(kind: &CommandKind) -> &'static str {
    match kind {
        CommandKind::Sql(_) => "SQL",
        CommandKind::Http(_) => "HTTP",
        CommandKind::Set { .. } => "set",
        CommandKind::If { .. } => "if",
        CommandKind::Elif { .. } => "elif",
        CommandKind::Else { .. } => "else",
        CommandKind::EndIf => "endif",
        CommandKind::Sleep { .. } => "sleep",
        CommandKind::Pause(_) => "pause",
        CommandKind::SetShell { .. } => "setshell",
        CommandKind::Shell { .. } => "shell",
        CommandKind::StartPipeline => "startpipeline",
        CommandKind::SyncPipeline => "syncpipeline",
        CommandKind::Recorded => "recorded",
        CommandKind::EndPipeline => "endpipeline",
    }
}

impl LoadListener for BenchDisplay<'_> {
    fn on_tick(&mut self, interval: &Interval, start: Nanos) {
        let Some(every) = self.progress_interval else { return };
        let seconds = match &mut self.pending {
            None => {
                self.pending = Some((interval.clone(), 1));
                1
            }
            Some((gathered, seconds)) => {
                gathered.merge(interval);
                *seconds += 1;
                *seconds
            }
        };
        if seconds >= every {
            let (gathered, _) = self.pending.take().expect("filled above");
            let style = ProgressStyle { epoch: self.style.epoch.map(|it| it + start), ..self.style };
            errln!("{}", progress::format_line(&analysis::facts::progress(&gathered, start), style));
        }
    }

    fn on_event(&mut self, event: LoadEvent) {
        self.messages.add_event(&event);
        match event {
            LoadEvent::Refused { client, message, .. } => {
                let error_text = os_error_text(&self.text(&message));
                self.terminal.error(&format!("connection to server {} failed: {error_text}", self.server));
                self.terminal.detail(&format!("client {} could not connect", client.0));
            }
            LoadEvent::Failed { client, script, command, message, again, .. } => {
                let suffix = if again { "; the transaction is tried again" } else { "" };
                let scripts = &self.work.plan().program.scripts;
                let kind = command_name(&scripts[usize::from(script.0)].commands[usize::from(command)].kind);
                self.terminal.error(&format!(
                    "client {} got an error in command {command} ({kind}) of script {}; {}{suffix}",
                    client.0,
                    script.0,
                    self.text(&message)
                ));
            }
            LoadEvent::Notice { message, .. } => errln!("{}", self.text(&message)),
            LoadEvent::Aborted { client, script, command, reason: abort_reason } => {
                if let Some(stop) = self.stop {
                    self.aborted_thread.get_or_insert_with(|| self.work.thread_of_client(client.0));
                    stop.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
                }
                let (client, script, command) = (client.0, usize::from(script.0), usize::from(command));
                let aborted = |kind: &str, reason: &str| {
                    let suffix = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
                    let reason = self.text(reason);
                    let message = format!(
                        "client {client} aborted in command {command}{suffix} of script {script}; {reason}"
                    );
                    self.terminal.error(&message);
                };
                let scripts = &self.work.plan().program.scripts;
                let name = scripts[script].commands.get(command).map_or("", |it| command_name(&it.kind));
                match abort_reason {
                    AbortReason::Expression(message) => {
                        self.terminal.error(&self.text(&english().message(&message)));
                        aborted(name, "evaluation of meta-command failed");
                    }
                    AbortReason::Shell(message) => {
                        self.terminal.error(&self.text(&english().message(&message)));
                        aborted(name, "execution of meta-command failed");
                    }
                    AbortReason::RowCount { got } => aborted(name, &format!("expected one row, got {got}")),
                    AbortReason::InvalidColumnName(it) => aborted(name, &format!("error storing into variable {it}")),
                    AbortReason::StoreInPipeline { every } => {
                        let meta_command = if every { "aset" } else { "gset" };
                        aborted(meta_command, &format!("\\{meta_command} is not allowed in pipeline mode"));
                    }
                    AbortReason::Pipeline if name == "startpipeline" => aborted(name, "already in pipeline mode"),
                    AbortReason::SimplePipeline => {
                        aborted(name, "cannot use pipeline mode with the simple query protocol");
                    }
                    AbortReason::Pipeline => aborted(name, "not in pipeline mode"),
                    AbortReason::PermanentError { message, .. } => aborted(name, &message),
                    AbortReason::Copy => aborted(name, "COPY is not supported in pgbench, aborting"),
                    AbortReason::OpenTransaction => self.terminal.error(&format!(
                        "client {client} aborted: end of script reached without completing the last transaction"
                    )),
                    AbortReason::OpenPipeline => self
                        .terminal
                        .error(&format!("client {client} aborted: end of script reached with pipeline open")),
                }
            }
            LoadEvent::Exhausted { feed } => {
                self.terminal.info(&format!("feed {feed} is exhausted: each of its rows has been used once"));
            }
            LoadEvent::Step { client, step } => {
                let step = match step {
                    ClientStep::Begin { script } => {
                        format!(
                            "executing script \"{}\"",
                            self.work.plan().program.scripts[usize::from(script.0)].name
                        )
                    }
                    ClientStep::Send { statement } => format!("sending {statement}"),
                    ClientStep::Receive => "receiving".to_owned(),
                };
                self.terminal.info(&format!("client {} {step}", client.0));
            }
            LoadEvent::Debug { script, command, value } => {
                errln!("debug(script={},command={}): {}", script.0, command + 1, format_value(value));
            }
        }
    }

    fn on_records(&mut self, thread: usize, records: &[Record], start: Nanos) {
        let Some(file) = self.logs.get_mut(thread) else { return };
        if let Err(error) = file.write_all(records, start) {
            let path = file.path.clone();
            // Print the error once and continue the measurement without a log.
            self.logs.clear();
            self.log_failed(&path, &error);
        }
    }
}

/// Value in pgbench's format: a double has fifteen digits.
fn format_value(value: Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Int(_) => "int",
        Value::Double(_) => "double",
    };
    let mut variable = Variables::new(1);
    variable.set(0, value);
    let mut text = Vec::new();
    variable.write(0, &mut text);
    format!("{kind} {}", String::from_utf8_lossy(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_values_as_pgbench() {
        for (value, expected) in [
            (Value::Null, "null"),
            (Value::Bool(true), "boolean true"),
            (Value::Int(-3), "int -3"),
            (Value::Double(-0.125), "double -0.125"),
            (Value::Double(8.507_059_173_023_461e37), "double 8.50705917302346e+37"),
        ] {
            assert_eq!(format_value(value), expected);
        }
    }
}
