//! Spacing of arrivals along a rate curve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Spacing of arrivals along the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Deterministic spacing: in each ramp, the n-th arrival (from 0) is due when the ramp's integral reaches n. As in
    /// Yandex.Tank, a ramp begins with an arrival, and the number of arrivals is the integer part of the integral.
    Even,
    /// Poisson process with the curve as its intensity, as independent users produce it.
    Poisson,
}
