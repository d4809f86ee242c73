//! Spacing of arrivals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Spacing of arrivals along the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Deterministic: in each ramp, the n-th arrival (from 0) is at the time at which the ramp's integral reaches n. As
    /// in Yandex.Tank, a ramp begins with an arrival and has as many as the integer part of its integral.
    Even,
    /// Poisson process with the curve as intensity: independent users.
    Poisson,
}
