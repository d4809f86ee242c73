//! English: what pages, comparisons and running runs say.

use super::En;
use crate::lang::live::LiveWords;

impl LiveWords for En {}
