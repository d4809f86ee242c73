//! Russian: what pages, comparisons and running runs say.

use super::Ru;
use crate::lang::compare::CompareWords;

impl CompareWords for Ru {}
