//! Russian: what pages, comparisons and running runs say.

use super::Ru;
use crate::lang::page::PageWords;

impl PageWords for Ru {}
