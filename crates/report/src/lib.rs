//! Text, tables and charts for terminals, pages and machines
//!
//! The crate turns facts into text. It computes no statistics. [`lang`] contains every sentence.

pub mod advice;
pub mod bench;
pub mod bound;
mod cells;
pub mod closing;
pub mod comparison;
pub mod document;
mod failover_text;
pub mod findings;
pub mod html;
pub mod json_document;
pub mod junit;
pub mod lang;
pub mod live;
pub mod live_events;
pub mod live_strip;
pub mod log;
pub mod markdown;
pub mod matrix;
pub mod notice;
pub mod notification;
mod number;
pub mod page;
mod plan_text;
pub mod plot;
pub mod preview;
pub mod progress;
pub mod prometheus;
#[cfg(test)]
mod sample_pages;
pub mod search_text;
pub mod sizes;
pub mod steps;
pub mod style;
mod svg;
pub mod terminal;
mod terms;
mod text;
pub mod verdict_text;
pub mod view;
pub mod wrap;
