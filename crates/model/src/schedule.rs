//! When arrivals are wanted.

use crate::{Nanos, PerSecond};

/// What makes the next transaction start.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// The end of the client's previous one, plus `think`.
    Closed { think: Nanos },
    /// A moment, whether or not anything has been answered.
    Open { curve: Curve, spacing: Spacing },
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// From one rate to another, linearly; constant when they are equal; a pause when both are 0.
    Ramp { from: PerSecond, to: PerSecond, lasting: Nanos },
    /// One after the other.
    Chain(Vec<Curve>),
}

/// How arrivals lie within the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// The n-th arrival at the moment at which the curve's integral reaches n.
    Even,
    /// A Poisson process whose intensity is the curve: independent users.
    Poisson,
}
