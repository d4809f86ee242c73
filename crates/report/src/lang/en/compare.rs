//! English: what pages, comparisons and running runs say.

use super::En;
use crate::lang::compare::CompareWords;

impl CompareWords for En {}
