//! What did a stop rule say?

use crate::PerSecond;
use serde::{Deserialize, Serialize};

/// A rule that says: enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopEvent {
    /// As the user wrote it.
    pub rule: String,
    /// The first bad second, counted from 0.
    pub cause_second: u64,
    /// The second at whose end it fired.
    pub at_second: u64,
    /// Transactions begun in the first bad second: what Yandex.Tank calls imbalance.
    pub rate_at_cause: PerSecond,
    /// The exit status that Yandex.Tank has for it; none for a rule of ours.
    pub tank_rc: Option<u8>,
}

/// Where Yandex.Tank would do otherwise with the same text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TankDifference {
    /// Here a mask of `x` alone is any code but 0, as Tank's manual says. Since June 2024 Tank compares the whole code, so
    /// that `xx` matches no errno from 100 on: not 104, 110, 111.
    MaskOfX { mask: String },
    /// Tank keeps 25, 50, 75, 80, 90, 95, 98, 99 and 100 only; a rule on another one never fires there.
    OtherQuantile { percent: f64 },
    /// Here only transactions that ended well have a time; Tank times failed ones too.
    TimesOfFailures,
    /// Tank rounds the limit to a bin of its histogram.
    RoundedLimit { limit_ms: f64 },
    /// Tank takes a second without responses as 1 %; here it is left out. Tank of 2025 and later divides the sums over the
    /// window; here, as before, the percents of its seconds are averaged.
    MeanOfPercents,
    /// Tank reads a metric that was not sent as 0; here a second without a sample changes nothing.
    MissingMetric,
    /// Tank's share is that of its generator's instances, and with Pandora it needs `startup: once`; here it is that of the
    /// clients, or of what may be in flight.
    #[serde(rename = "instances")]
    InstancesShare,
    /// Tank does not know this rule.
    #[serde(rename = "not_tanks")]
    NotInTank,
}
