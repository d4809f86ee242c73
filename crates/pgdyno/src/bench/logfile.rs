//! Transaction log files (`-l`)

use super::options::{BenchOptions, LogForm, LogOptions};
use crate::cli::{CommandError, os_error_text};
use analysis::present::LogAggregator;
use load::random::Prng;
use model::{Nanos, Record};
use report::log::{self, LogStyle};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Log file of one load thread.
#[derive(Debug)]
pub struct LogFile {
    pub path: String,
    out: BufWriter<File>,
    line: String,
    style: LogStyle,
    epoch: Nanos,
    form: LogMode,
    /// Number of transactions that each client has finished.
    finished: Vec<u64>,
}

#[derive(Debug)]
enum LogMode {
    All,
    Sampled {
        share: f64,
        rng: Prng,
    },
    Aggregated {
        every: u32,
        /// Aggregator, created when the window begins.
        current: Option<LogAggregator>,
    },
}

impl LogFile {
    /// Creates the file of `thread`. `epoch` is the Unix time at which the run's clock began; `rng` selects the sampled
    /// transactions.
    pub fn create(
        options: &LogOptions,
        thread: usize,
        clients: u32,
        style: LogStyle,
        epoch: Nanos,
        rng: Prng,
    ) -> Result<LogFile, CommandError> {
        let path = log::file_name(&options.prefix, std::process::id(), thread);
        let file = File::create(&path).map_err(|error| {
            CommandError::new(format!("could not open logfile \"{path}\": {}", os_error_text(&error)))
        })?;
        let form = match options.form {
            LogForm::All => LogMode::All,
            LogForm::Sampled(share) => LogMode::Sampled { share, rng },
            LogForm::Aggregated(every) => LogMode::Aggregated { every, current: None },
        };
        let (out, finished) = (BufWriter::new(file), vec![0; clients as usize]);
        Ok(LogFile { path, out, line: String::new(), style, epoch, form, finished })
    }

    /// Writes transactions, which must be in the order of their ends. `start` is the start of the window.
    pub fn write_all(&mut self, records: &[Record], start: Nanos) -> io::Result<()> {
        if let LogMode::Aggregated { every, current: all } = &mut self.form {
            all.get_or_insert_with(|| LogAggregator::new(self.epoch, start, *every));
        }
        records.iter().try_for_each(|it| self.write(it))
    }

    /// Writes the intervals that have ended by `now`, a Unix time. As in pgbench, an incomplete interval is omitted.
    pub fn finish(&mut self, now: Nanos) -> io::Result<()> {
        self.line.clear();
        if let LogMode::Aggregated { current: Some(all), .. } = &mut self.form {
            let (line, style) = (&mut self.line, self.style);
            all.advance(now - self.epoch, |interval| {
                log::aggregate(line, interval, style).expect("writing to a String cannot fail");
            });
        }
        self.out.write_all(self.line.as_bytes())?;
        self.out.flush()
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        let nth = self.finished[record.client.0 as usize];
        self.finished[record.client.0 as usize] += 1;
        let (line, style, epoch) = (&mut self.line, self.style, self.epoch);
        line.clear();
        let shown = match &mut self.form {
            LogMode::All => true,
            LogMode::Sampled { share, rng } => rng.f64() <= *share,
            LogMode::Aggregated { current: all, .. } => {
                let all = all.as_mut().expect("begun by write_all");
                all.add(record, |done| {
                    log::aggregate(line, done, style).expect("writing to a String cannot fail");
                });
                false
            }
        };
        if shown {
            log::transaction(line, record, nth, epoch, style).expect("writing to a String cannot fail");
        }
        self.out.write_all(line.as_bytes())
    }
}

/// Creates the files of all threads; without `-l`, creates no file. `epoch` is as in [`LogFile::create`].
pub fn create_all(
    options: &BenchOptions,
    epoch: Nanos,
    samples: Vec<Prng>,
) -> Result<Vec<LogFile>, CommandError> {
    let Some(log_options) = &options.log else { return Ok(Vec::new()) };
    let style = LogStyle {
        lag: options.pace.is_open(),
        skipped: options.latency_limit.is_some(),
        retries: options.max_tries != 1,
        failures_detailed: options.failures_detailed,
    };
    let create = |(k, rng)| LogFile::create(log_options, k, options.clients, style, epoch, rng);
    samples.into_iter().enumerate().map(create).collect()
}
