//! Russian: what pages, comparisons and running runs say.

use super::Ru;
use crate::lang::live::LiveWords;

impl LiveWords for Ru {}
