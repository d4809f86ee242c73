//! What is shown and logged while the load runs?

use super::logfile::{LogFile, unix_time};
use super::options::Options;
use super::run::Watch;
use super::voice::Voice;
use load::script::Value;
use load::{Abort, Said};
use model::{Interval, Nanos, Record};
use report::progress::{self, Style};

/// Progress and errors on standard error, records into files.
#[derive(Debug)]
pub struct Show<'a> {
    pub voice: &'a Voice,
    /// How the server was named, for what refuses us.
    pub server: String,
    /// Seconds between two lines; `None`: no progress.
    pub every: Option<u32>,
    pub style: Style,
    /// By thread; empty: no log.
    pub logs: Vec<LogFile>,
    /// Seconds since the last line, and their number.
    gathered: Option<(Interval, u32)>,
}

impl<'a> Show<'a> {
    /// `epoch`: Unix time when the run's clock begins.
    pub fn new(
        options: &Options,
        voice: &'a Voice,
        server: String,
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
        Show { voice, server, every, style, logs, gathered: None }
    }

    /// Ends the logs.
    pub fn finish(mut self) {
        let now = unix_time();
        for it in &mut self.logs {
            if let Err(error) = it.finish(now) {
                self.voice.error(&format!("could not write to logfile \"{}\": {error}", it.path));
            }
        }
    }
}

/// Why a client gave up, in pgbench's words.
fn words(why: &Abort) -> String {
    match why {
        Abort::Expression(message) => format!("{message}\nevaluation of meta-command failed"),
        Abort::Rows { got } => format!("expected one row, got {got}"),
        Abort::Name(name) => format!("error storing into variable {name}"),
        Abort::OpenTransaction => "end of script reached without completing the last transaction".to_owned(),
        Abort::OpenPipeline => "end of script reached with pipeline open".to_owned(),
        Abort::Pipeline => "already in pipeline mode, or not in pipeline mode".to_owned(),
        Abort::Hopeless { message, .. } => message.clone(),
        Abort::Shell(message) => format!("{message}\nexecution of meta-command failed"),
        Abort::Copy => "COPY is not supported in pgbench, aborting".to_owned(),
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
            eprintln!("{}", progress::line(&analysis::progress(&gathered, began), style));
        }
    }

    fn said(&mut self, said: Said) {
        match said {
            Said::Refused { client, message, .. } => {
                self.voice.error(&format!("connection to server {} failed: {message}", self.server));
                self.voice.detail(&format!("client {} could not connect", client.0));
            }
            Said::Failed { client, script, command, message, again, .. } => {
                let then = if again { "; the transaction is tried again" } else { "" };
                self.voice.error(&format!(
                    "client {} got an error in command {command} (SQL) of script {}; {message}{then}",
                    client.0, script.0
                ));
            }
            Said::Aborted { client, script, command, why } => {
                let (client, script) = (client.0, script.0);
                let why_words = words(&why);
                self.voice.error(&match why {
                    Abort::OpenTransaction | Abort::OpenPipeline => {
                        format!("client {client} aborted: {why_words}")
                    }
                    _ => format!("client {client} script {script} aborted in command {command}: {why_words}"),
                });
            }
            Said::Debug { script, command, value } => {
                let value = match value {
                    Value::Null => "null".to_owned(),
                    Value::Bool(it) => format!("boolean {it}"),
                    Value::Int(it) => format!("int {it}"),
                    Value::Double(it) => format!("double {}", six_digits(it)),
                };
                eprintln!("debug(script={},command={}): {value}", script.0, command + 1);
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

/// As C's `%g`.
fn six_digits(it: f64) -> String {
    let scientific = format!("{it:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().expect("Rust writes a whole number");
    let short = |it: &str| it.trim_end_matches('0').trim_end_matches('.').to_owned();
    match exponent {
        -4..0 | 0..6 => {
            let fixed = format!("{it:.*}", (5 - exponent) as usize);
            if fixed.contains('.') { short(&fixed) } else { fixed }
        }
        _ => format!("{}e{}{:02}", short(digits), if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_printf() {
        for (it, expected) in [
            (0.0, "0"),
            (15.0, "15"),
            (-0.125, "-0.125"),
            (1.0 / 3.0, "0.333333"),
            (1024.0, "1024"),
            (999_999.5, "1e+06"),
            (123_456.0, "123456"),
            (1e32, "1e+32"),
            (0.0001, "0.0001"),
            (0.000_012_345_678, "1.23457e-05"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(six_digits(it), expected);
        }
    }
}
