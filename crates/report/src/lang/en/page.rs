//! English: what pages, comparisons and running runs say.

use super::En;
use crate::lang::page::PageWords;

impl PageWords for En {}
