//! Stop rule that fired, and differences from Yandex.Tank's autostop.

use crate::PerSecond;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stop rule that fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopEvent {
    /// Text of the rule as the user wrote it.
    pub rule: String,
    /// First second that met the rule's condition, from 0.
    pub cause_second: u64,
    /// Second at whose end the rule fired, from 0.
    pub at_second: u64,
    /// Rate of transactions started in `cause_second`: Yandex.Tank's "imbalance".
    pub rate_at_cause: PerSecond,
    /// Exit status of Yandex.Tank for this rule; `None` for rules that only pgdyno has.
    pub tank_rc: Option<u8>,
}

/// Case in which Yandex.Tank interprets the text of a rule differently.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TankDifference {
    /// A mask of only `x` matches any code but 0, as Tank's manual states. Since June 2024 Tank compares the whole
    /// code, so `xx` does not match errnos from 100 on, such as 104, 110 and 111.
    MaskOfX { mask: String },
    /// Tank has only the quantiles 25, 50, 75, 80, 90, 95, 98, 99 and 100. A rule on another quantile never fires in
    /// Tank.
    OtherQuantile { percent: f64 },
    /// pgdyno measures times of successful transactions only; Tank also measures times of failed transactions.
    TimesOfFailures,
    /// Tank rounds the limit to a bin of its histogram.
    RoundedLimit { limit_ms: f64 },
    /// Tank counts a second without responses as 1 %; pgdyno ignores such a second. Since 2025 Tank divides sums over
    /// the window; pgdyno, like older versions of Tank, averages the percentages of the seconds.
    MeanOfPercents,
    /// Tank treats a missing metric as 0; in pgdyno, a second without a sample changes nothing.
    MissingMetric,
    /// Tank's share is relative to the instances of its generator; with Pandora it needs `startup: once`. pgdyno's
    /// share is relative to the clients or the in-flight cap.
    InstancesShare,
    /// Tank does not have this rule.
    NotInTank,
}
