//! Preview of a schedule as JSON

use super::JsonDocument;
use crate::preview::SchedulePreview;
use model::{PerSecond, Spacing};
use schemars::JsonSchema;
use serde::Serialize;

/// Preview of a schedule: `pgdyno schedule`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScheduleDocument<'a> {
    /// The schedule as the user wrote it.
    pub schedule: &'a str,
    pub spacing: Spacing,
    /// Seed of Poisson arrivals; `null` if arrivals are evenly spaced.
    pub seed: Option<u64>,
    /// Number of arrivals; `null` if counting Poisson arrivals one by one takes too long.
    pub arrivals: Option<u64>,
    /// Expected number of arrivals: the integral of the rate.
    pub expected: f64,
    pub duration_s: f64,
    pub lowest_per_s: PerSecond,
    pub highest_per_s: PerSecond,
    pub rates: ScheduleRates<'a>,
    /// Intended start of each arrival, only with `--times`. It is written separately, because the list may not fit into
    /// memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_ms: Option<Vec<u64>>,
}

/// Mean rates in consecutive parts of equal length.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScheduleRates<'a> {
    /// Length of a part.
    pub every_s: f64,
    pub mean_per_s: &'a [PerSecond],
}

impl JsonDocument for ScheduleDocument<'_> {
    const NAME: &'static str = "schedule";
    const VERSION: u32 = 1;
}

impl<'a> From<&'a SchedulePreview> for ScheduleDocument<'a> {
    fn from(preview: &'a SchedulePreview) -> ScheduleDocument<'a> {
        let duration_s = preview.duration.as_secs_f64();
        ScheduleDocument {
            schedule: &preview.schedule,
            spacing: preview.spacing,
            seed: (preview.spacing == Spacing::Poisson).then_some(preview.seed),
            arrivals: preview.arrivals,
            expected: preview.expected,
            duration_s,
            lowest_per_s: preview.lowest,
            highest_per_s: preview.highest,
            rates: ScheduleRates {
                every_s: duration_s / preview.rates.len().max(1) as f64,
                mean_per_s: &preview.rates,
            },
            times_ms: None,
        }
    }
}
