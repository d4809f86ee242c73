//! What is shown and logged while the load runs?

use super::logfile::LogFile;
use super::options::Options;
use crate::clock::unix_time;
use crate::measure::Watch;
use crate::messages::Messages;
use crate::voice::{Voice, plain};
use load::script::{Kind, Value, Variables};
use load::{Abort, Said, Workload};
use model::{Interval, Nanos, Record};
use report::progress::{self, Style};
use std::sync::Arc;

/// Progress and errors on standard error, records into files.
#[derive(Debug)]
pub struct Show<'a> {
    pub voice: &'a Voice,
    /// How the server was named, for what refuses us.
    pub server: String,
    pub work: Arc<Workload>,
    /// Seconds between two lines; `None`: no progress.
    pub every: Option<u32>,
    pub style: Style,
    /// By thread; empty: no log.
    pub logs: Vec<LogFile>,
    /// What was said of failures.
    pub messages: Messages,
    /// Seconds since the last line, and their number.
    gathered: Option<(Interval, u32)>,
}

impl<'a> Show<'a> {
    /// `epoch`: Unix time when the run's clock begins.
    pub fn new(
        options: &Options,
        voice: &'a Voice,
        server: String,
        work: Arc<Workload>,
        epoch: Nanos,
        logs: Vec<LogFile>,
    ) -> Show<'a> {
        let open = options.pace.is_open();
        let style = Style {
            epoch: options.progress.filter(|it| it.timestamp).map(|_| epoch),
            lag: open,
            skipped: open && options.latency_limit.is_some(),
            retries: options.max_tries != 1,
        };
        let every = options.progress.map(|it| it.every);
        let messages = Messages::default();
        Show { voice, server, work, every, style, logs, messages, gathered: None }
    }

    /// Ends the logs. What was said of failures.
    pub fn finish(mut self) -> Messages {
        let now = unix_time();
        for it in &mut self.logs {
            if let Err(error) = it.finish(now) {
                self.voice.error(&format!("could not write to logfile \"{}\": {error}", it.path));
            }
        }
        self.messages
    }
}

/// What pgbench calls a command in messages.
fn name(it: &Kind) -> &'static str {
    match it {
        Kind::Sql(_) => "SQL",
        Kind::Http(_) => "HTTP",
        Kind::Set { .. } => "set",
        Kind::If { .. } => "if",
        Kind::Elif { .. } => "elif",
        Kind::Else { .. } => "else",
        Kind::Endif => "endif",
        Kind::Sleep { .. } => "sleep",
        Kind::SetShell { .. } => "setshell",
        Kind::Shell { .. } => "shell",
        Kind::StartPipeline => "startpipeline",
        Kind::SyncPipeline => "syncpipeline",
        Kind::EndPipeline => "endpipeline",
    }
}

impl Watch for Show<'_> {
    fn tick(&mut self, interval: &Interval, began: Nanos) {
        let Some(every) = self.every else { return };
        let seconds = match &mut self.gathered {
            None => {
                self.gathered = Some((interval.clone(), 1));
                1
            }
            Some((gathered, seconds)) => {
                gathered.merge(interval);
                *seconds += 1;
                *seconds
            }
        };
        if seconds >= every {
            let (gathered, _) = self.gathered.take().expect("filled above");
            let style = Style { epoch: self.style.epoch.map(|it| it + began), ..self.style };
            errln!("{}", progress::line(&analysis::progress(&gathered, began), style));
        }
    }

    fn said(&mut self, said: Said) {
        self.messages.said(&said);
        match said {
            Said::Refused { client, message, .. } => {
                let why = plain(&message);
                self.voice.error(&format!("connection to server {} failed: {why}", self.server));
                self.voice.detail(&format!("client {} could not connect", client.0));
            }
            Said::Failed { client, script, command, message, again, .. } => {
                let then = if again { "; the transaction is tried again" } else { "" };
                let scripts = &self.work.plan().program.scripts;
                let kind = name(&scripts[usize::from(script.0)].commands[usize::from(command)].kind);
                self.voice.error(&format!(
                    "client {} got an error in command {command} ({kind}) of script {}; {message}{then}",
                    client.0, script.0
                ));
            }
            Said::Aborted { client, script, command, why } => {
                let (client, script, command) = (client.0, usize::from(script.0), usize::from(command));
                let aborted = |of: &str, why: &str| {
                    let of = if of.is_empty() { String::new() } else { format!(" ({of})") };
                    let what =
                        format!("client {client} aborted in command {command}{of} of script {script}; {why}");
                    self.voice.error(&what);
                };
                let scripts = &self.work.plan().program.scripts;
                let name = scripts[script].commands.get(command).map_or("", |it| name(&it.kind));
                match why {
                    Abort::Expression(message) => {
                        self.voice.error(&message);
                        aborted(name, "evaluation of meta-command failed");
                    }
                    Abort::Shell(message) => {
                        self.voice.error(&message);
                        aborted(name, "execution of meta-command failed");
                    }
                    Abort::Rows { got } => aborted(name, &format!("expected one row, got {got}")),
                    Abort::Name(it) => aborted(name, &format!("error storing into variable {it}")),
                    Abort::KeptInPipeline { every } => {
                        let kept = if every { "aset" } else { "gset" };
                        aborted(kept, &format!("\\{kept} is not allowed in pipeline mode"));
                    }
                    Abort::Pipeline if name == "startpipeline" => aborted(name, "already in pipeline mode"),
                    Abort::SimplePipeline => {
                        aborted(name, "cannot use pipeline mode with the simple query protocol");
                    }
                    Abort::Pipeline => aborted(name, "not in pipeline mode"),
                    Abort::Hopeless { message, .. } => aborted(name, &message),
                    Abort::Copy => aborted(name, "COPY is not supported in pgbench, aborting"),
                    Abort::OpenTransaction => self.voice.error(&format!(
                        "client {client} aborted: end of script reached without completing the last transaction"
                    )),
                    Abort::OpenPipeline => self
                        .voice
                        .error(&format!("client {client} aborted: end of script reached with pipeline open")),
                }
            }
            Said::Exhausted { feed } => {
                self.voice.info(&format!("feed {feed}, whose rows are drawn once each, has none left"));
            }
            Said::Debug { script, command, value } => {
                errln!("debug(script={},command={}): {}", script.0, command + 1, shown(value));
            }
        }
    }

    fn log(&mut self, thread: usize, records: &[Record], began: Nanos) {
        let Some(file) = self.logs.get_mut(thread) else { return };
        if let Err(error) = file.write_all(records, began) {
            self.voice.error(&format!("could not write to logfile \"{}\": {error}", file.path));
            // What is missing is told once; the measurement goes on.
            self.logs.clear();
        }
    }
}

/// As pgbench writes it: a double with fifteen digits.
fn shown(value: Value) -> String {
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
    fn values() {
        for (value, expected) in [
            (Value::Null, "null"),
            (Value::Bool(true), "boolean true"),
            (Value::Int(-3), "int -3"),
            (Value::Double(-0.125), "double -0.125"),
            (Value::Double(8.507_059_173_023_461e37), "double 8.50705917302346e+37"),
        ] {
            assert_eq!(shown(value), expected);
        }
    }
}
