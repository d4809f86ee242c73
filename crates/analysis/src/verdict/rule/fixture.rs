//! Simulated seconds, written as text

use super::RuleContext;
use model::{ClientId, Code, Interval, Nanos, Outcome, Record, Sample, ScriptCounts, ScriptId, Tick};

/// Context with operations `a` and `b` and at most 100 transactions in flight.
pub fn context() -> RuleContext {
    RuleContext { operations: vec!["a".into(), "b".into()], in_flight_max: 100, reconnect: false }
}

/// Parses the text of one second. `10ms*8`: eight transactions of 10 ms succeeded. `net110*2`, `unknown104*1`,
/// `http503*2`, `sql40P01*1`: failures. `text*2`, `capture*2`: responses without an expected text or a capture.
/// `refused111*3`, `refused53300*3`: refused connections. `dropped*2`: dropped arrivals. `flight7`: seven transactions
/// in flight. `postgres.cpu=5`: a sample, or with a label `postgres.cpu:user=5`. A word without `*` counts once. Words
/// after `b:` belong to operation b.
pub fn tick(second: u64, text: &str) -> Tick {
    let mut interval = Interval::new(&[0, 0]);
    (interval.from, interval.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
    let mut tick = Tick { second, interval, in_flight: 0, samples: Vec::new() };
    let mut operation = 0;
    for word in text.split_whitespace() {
        if word == "b:" {
            operation = 1;
        } else if let Some((name, value)) = word.split_once('=') {
            let (node, metric) = name.split_once('.').expect("node.metric");
            let (series, label) = metric.split_once(':').unwrap_or((metric, ""));
            tick.samples.push(Sample {
                at: Nanos::from_secs(second),
                node: node.to_owned().into(),
                series: series.to_owned().into(),
                label: label.to_owned().into(),
                value: value.parse().expect("a number"),
            });
        } else if let Some(n) = word.strip_prefix("flight") {
            tick.in_flight = n.parse().expect("a number");
        } else {
            let (word_text, n) = word.split_once('*').unwrap_or((word, "1"));
            let n: u64 = n.parse().expect("a number");
            if let Some(code) = word_text.strip_prefix("refused") {
                (0..n).for_each(|_| tick.interval.refused.count(parse_code(code)));
            } else {
                tick.interval.started += n;
                (0..n).for_each(|_| add_responses(&mut tick.interval.scripts[operation], word_text));
            }
        }
    }
    tick
}

fn parse_code(code: &str) -> Code {
    match code.as_bytes().try_into() {
        Ok(state) => Code::SqlState(state),
        Err(_) => Code::Net(code.parse().expect("an errno")),
    }
}

fn add_responses(cell: &mut ScriptCounts, word_text: &str) {
    let number = |digits: &str| digits.parse().expect("a number");
    let (outcome, millis) = if let Some(errno) = word_text.strip_prefix("net") {
        (Outcome::Failed(Code::Net(number(errno))), 0)
    } else if let Some(errno) = word_text.strip_prefix("unknown") {
        (Outcome::Unknown(Code::Net(number(errno))), 0)
    } else if let Some(status) = word_text.strip_prefix("http") {
        (Outcome::Failed(Code::Http(number(status))), 0)
    } else if let Some(state) = word_text.strip_prefix("sql") {
        (Outcome::Failed(parse_code(state)), 0)
    } else if word_text == "text" {
        (Outcome::Failed(Code::TEXT_NOT_FOUND), 0)
    } else if word_text == "capture" {
        (Outcome::Failed(Code::CAPTURE_NOT_FOUND), 0)
    } else if word_text == "dropped" {
        (Outcome::Dropped, 0)
    } else {
        (Outcome::Ok, word_text.strip_suffix("ms").expect("milliseconds").parse().expect("a number"))
    };
    let finished = Nanos::from_millis(millis);
    let (script, client) = (ScriptId(0), ClientId(0));
    let (intended, started) = (Nanos::ZERO, Nanos::ZERO);
    let record = Record { script, client, outcome, intended, started, finished, tries: 1 };
    cell.record(&record, Nanos::MAX, Nanos::MAX);
}
