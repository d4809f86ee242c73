//! JSON document that the page's script draws.
//!
//! It contains the page in every language, and its time series once. Four significant digits suffice for a screen and
//! save two thirds of the bytes.

use crate::page::charted;
use crate::view::Page;
use model::chart::{Chart, Charts};
use model::run_result::RunResult;
use std::fmt::Write;

/// Builds the document. `chosen` is the initial language. `events` is the address of the live events of a running run,
/// `/runs/NAME/events`.
///
/// `data[i].charts[c][t]` are the values of track `t` of chart `c` of trial `i` of the charts block. `null` means not
/// measured.
pub fn document(account: &RunResult, pages: &[Page], chosen: &str, events: Option<&str>) -> String {
    let mut out = String::from("{\"format\":1,\"chosen\":");
    write_json(&mut out, chosen);
    out += ",\"pages\":";
    write_json(&mut out, pages);
    out += ",\"data\":[";
    for (at, trial) in charted(account).enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_chart_numbers(&mut out, &trial.charts);
    }
    out += "],\"live\":";
    match events {
        Some(events) => {
            out += "{\"events\":";
            write_json(&mut out, events);
            out.push('}');
        }
        None => out += "null",
    }
    out.push('}');
    out
}

fn write_json(out: &mut String, it: &(impl serde::Serialize + ?Sized)) {
    *out += &serde_json::to_string(it).expect("all keys are strings");
}

fn write_chart_numbers(out: &mut String, it: &Charts) {
    let _ = write!(out, "{{\"bin\":{},\"at\":[", it.bin);
    write_columns(out, &it.times, |out, at| write_number(out, *at));
    out.push_str("],\"charts\":");
    write_charts(out, &it.charts);
    out.push('}');
}

/// Writes the columns of all charts: `[[[…],[…]],…]`.
pub fn write_charts(out: &mut String, all: &[Chart]) {
    out.push('[');
    write_columns(out, all, |out, chart| {
        out.push('[');
        write_columns(out, &chart.series, |out, track| {
            out.push('[');
            write_columns(out, &track.values, |out, it| match it {
                Some(it) => write_number(out, *it),
                None => out.push_str("null"),
            });
            out.push(']');
        });
        out.push(']');
    });
    out.push(']');
}

fn write_columns<T>(out: &mut String, all: &[T], each: impl Fn(&mut String, &T)) {
    for (at, it) in all.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, it);
    }
}

/// Writes a number with four significant digits, or `null` if it is not finite.
fn write_number(out: &mut String, it: f64) {
    let it = round_to_four_digits(it);
    let wrote = match it {
        it if !it.is_finite() => out.write_str("null"),
        it if it.fract() == 0.0 && it.abs() < 1e15 => write!(out, "{}", it as i64),
        it => write!(out, "{it}"),
    };
    wrote.expect("writing to a String cannot fail");
}

fn round_to_four_digits(it: f64) -> f64 {
    if it == 0.0 || !it.is_finite() {
        return it;
    }
    let digits = 3 - it.abs().log10().floor() as i32;
    // Division by a power of ten yields the number nearest to the decimal, which has the shortest text.
    match digits {
        // Smaller numbers are invisible on any axis.
        30.. => 0.0,
        0..30 => {
            let scale = 10f64.powi(digits);
            (it * scale).round() / scale
        }
        ..0 => {
            let scale = 10f64.powi(-digits);
            (it / scale).round() * scale
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_four_digits() {
        for (it, written) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (0.012_345_6, "0.01235"),
            (0.000_012_345_6, "0.00001235"),
            (12_345.6, "12350"),
            (1_234_567_890_123.0, "1235000000000"),
            (99_999.0, "100000"),
            (0.1 + 0.2, "0.3"),
            (-57.264, "-57.26"),
            (1e-40, "0"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            let mut out = String::new();
            write_number(&mut out, it);
            assert_eq!(out, written, "{it}");
        }
    }
}
