//! Stop rule that fired, and differences from Yandex.Tank's autostop.

use crate::PerSecond;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stop rule that fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopEvent {
    /// Text of the rule as the user wrote it.
    pub rule: String,
    /// First second that met the condition, counted from 0.
    pub cause_second: u64,
    /// Second at whose end the rule fired.
    pub at_second: u64,
    /// Transactions started in the first such second: Yandex.Tank's "imbalance".
    pub rate_at_cause: PerSecond,
    /// Exit status of Yandex.Tank for this rule; `None` for rules that only pgdyno has.
    pub tank_rc: Option<u8>,
}

/// Case in which Yandex.Tank interprets the same text differently.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TankDifference {
    /// A mask of `x` alone matches any code but 0, as Tank's manual says. Since June 2024 Tank compares the whole code,
    /// so `xx` matches no errno from 100 on: not 104, 110, 111.
    MaskOfX { mask: String },
    /// Tank has only the quantiles 25, 50, 75, 80, 90, 95, 98, 99 and 100. A rule on another one never fires there.
    OtherQuantile { percent: f64 },
    /// pgdyno measures times of successful transactions only; Tank includes failed ones.
    TimesOfFailures,
    /// Tank rounds the limit to a bin of its histogram.
    RoundedLimit { limit_ms: f64 },
    /// Tank counts a second without responses as 1 %; pgdyno ignores it. Tank since 2025 divides sums over the window;
    /// pgdyno, like older versions, averages the percentages of its seconds.
    MeanOfPercents,
    /// Tank treats a missing metric as 0; in pgdyno a second without a sample changes nothing.
    MissingMetric,
    /// Tank's share is of its generator's instances; with Pandora it needs `startup: once`. pgdyno's share is of the
    /// clients or of the in-flight cap.
    InstancesShare,
    /// Tank does not have this rule.
    NotInTank,
}
