//! JSON document that the page's script draws
//!
//! The document contains the page in every language, and the time series once. Values have four significant digits,
//! which suffice for a screen and save two thirds of the bytes.

use crate::json_document::{JsonDocument, to_json_line};
use crate::page::charted;
use crate::view::Page;
use model::chart::{Chart, Charts};
use model::run_result::RunResult;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Page of `pgdyno report`, `compare`, `history` and `serve`, as its script reads it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PageDocument<'a> {
    /// Initial language.
    pub lang: &'a str,
    /// The page in every language, with the same structure.
    pub pages: &'a [Page],
    /// Time series of each trial of the charts block, in its order.
    pub data: Vec<ChartData>,
    /// Present while the run is in progress.
    pub live: Option<LiveSource<'a>>,
}

impl JsonDocument for PageDocument<'_> {
    const NAME: &'static str = "page";
    const VERSION: u32 = 1;
}

/// Time series of one trial.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChartData {
    /// Number of seconds that one point represents.
    pub bin_s: u32,
    /// Start time of each point, in seconds since the window began, ascending.
    #[schemars(with = "Vec<f64>")]
    pub times_s: Vec<CompactNumber>,
    /// Values by chart, series and point; `None` for a value that was not measured.
    #[schemars(with = "Vec<Vec<Vec<Option<f64>>>>")]
    pub charts: ChartValues,
}

/// Values by chart, series and point.
pub type ChartValues = Vec<Vec<Vec<Option<CompactNumber>>>>;

/// Source of updates for a page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LiveSource<'a> {
    /// Address of the server-sent events, `/runs/NAME/events`.
    pub events: &'a str,
}

/// Builds the document. `lang` is the initial language; `events` is the value of [`LiveSource::events`].
pub fn document(result: &RunResult, pages: &[Page], lang: &str, events: Option<&str>) -> String {
    let data = charted(result).map(|trial| ChartData::from(&trial.charts)).collect();
    to_json_line(&PageDocument { lang, pages, data, live: events.map(|events| LiveSource { events }) })
}

impl From<&Charts> for ChartData {
    fn from(charts: &Charts) -> ChartData {
        ChartData { bin_s: charts.bin, times_s: times(charts), charts: chart_values(&charts.charts) }
    }
}

/// Times of the points. They are not rounded, so no two times are equal.
pub fn times(charts: &Charts) -> Vec<CompactNumber> {
    charts.times.iter().copied().map(CompactNumber).collect()
}

/// Values of all charts with four significant digits.
pub fn chart_values(charts: &[Chart]) -> ChartValues {
    let rounded = |value: &Option<f64>| value.map(|value| CompactNumber(round_to_four_digits(value)));
    let series = |chart: &Chart| {
        chart.series.iter().map(|series| series.values.iter().map(rounded).collect()).collect()
    };
    charts.iter().map(series).collect()
}

/// Number that is written without a fraction if it is whole, and as `null` if it is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactNumber(pub f64);

impl Serialize for CompactNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            number if number.fract() == 0.0 && number.abs() < 1e15 => to.serialize_i64(number as i64),
            number => to.serialize_f64(number),
        }
    }
}

fn round_to_four_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    // Divide by a power of ten, because the result is the number nearest to the decimal, and therefore has the shortest
    // text.
    match digits {
        // Round smaller numbers to 0, because they are invisible on every axis.
        30.. => 0.0,
        0..30 => {
            let scale = 10f64.powi(digits);
            (value * scale).round() / scale
        }
        ..0 => {
            let scale = 10f64.powi(-digits);
            (value / scale).round() * scale
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_four_digits() {
        for (number, written) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (0.012_345_6, "0.01235"),
            (0.000_012_345_6, "0.00001235"),
            (12_345.6, "12350"),
            (1_234_567_890_123.0, "1235000000000"),
            (99_999.0, "100000"),
            (0.1 + 0.2, "0.3"),
            (-57.264, "-57.26"),
            (1e-40, "0"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            let number = CompactNumber(round_to_four_digits(number));
            assert_eq!(serde_json::to_string(&number).expect("a number"), written, "{number:?}");
        }
    }

    #[test]
    fn times_of_long_trials_ascend() {
        let charts = Charts { bin: 2, times: vec![9_998.0, 10_000.0, 10_002.0], ..Charts::default() };
        let data = serde_json::to_string(&ChartData::from(&charts)).expect("the data can be serialised");
        assert_eq!(data, "{\"bin_s\":2,\"times_s\":[9998,10000,10002],\"charts\":[]}");
    }
}
