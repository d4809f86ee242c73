//! Which value does a declared column have in this row?

use super::chance::{Chance, salt};
use super::zipf::Zipf;
use super::{decimal, english, moment, names};
use model::plan::Generator;
use std::io::Write as _;

/// A generator made ready: what can be computed before the first row is.
#[derive(Clone, Debug)]
pub(super) enum Draw {
    Serial,
    /// The smallest, and how many there are; 0: all of 64 bits.
    Uniform(i64, u64),
    Zipfian(i64, Zipf),
    RussianName,
    EnglishName,
    /// The fewest, and how many numbers of words there are.
    Words(u64, u64),
    Text(u32),
    /// Seconds: the first, and how many there are.
    Timestamp(i64, u64),
    Point((f64, f64), (f64, f64)),
    /// What stands before each value, and the value.
    Json(Vec<(Vec<u8>, Draw)>),
    /// In the form in which it is written, as are the next.
    Constant(Vec<u8>),
    OneOf(Vec<Vec<u8>>),
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A field of COPY's text format.
    Field,
    /// JSON in such a field.
    Json,
}

impl Draw {
    /// What is wrong with `generator`, and what to write instead.
    pub fn new(generator: &Generator, place: Place) -> Result<Draw, String> {
        Ok(match generator {
            Generator::Serial => Draw::Serial,
            &Generator::Uniform { min, max } => Draw::Uniform(min, count(min, max)?),
            &Generator::Zipfian { min, max, s } => {
                if !(s > 1.0 && s <= 1000.0) {
                    return Err(format!("exponent s is {s}; write one above 1, up to 1000, such as 1.2"));
                }
                let n = count(min, max)?;
                if n == 0 || n > 1 << 53 {
                    return Err("the range holds more than 2^53 numbers; write a smaller one".to_owned());
                }
                Draw::Zipfian(min, Zipf::new(n, s))
            }
            Generator::RussianName => Draw::RussianName,
            Generator::EnglishName => Draw::EnglishName,
            &Generator::Words { min, max } => {
                Draw::Words(u64::from(min), count(i64::from(min), i64::from(max))?)
            }
            &Generator::Text { length } => Draw::Text(length),
            Generator::Timestamp { from, to } => {
                let parse = |it: &String| {
                    let wanted = "write a date as 2024-01-01, or a moment as 2024-01-01 12:00:00";
                    moment::parse(it).ok_or_else(|| format!("\"{it}\" is no moment; {wanted}"))
                };
                let (from, to) = (parse(from)?, parse(to)?);
                Draw::Timestamp(from, count(from, to)?)
            }
            &Generator::Point { from, to } => {
                if ![from.0, from.1, to.0, to.1].into_iter().all(f64::is_finite) {
                    return Err("a corner is not finite; write numbers".to_owned());
                }
                Draw::Point(from, to)
            }
            Generator::Json(fields) => Draw::Json(object(fields)?),
            Generator::Constant(text) => Draw::Constant(written(text, place)),
            Generator::OneOf(texts) if texts.is_empty() => {
                return Err("it names no value; write at least one".to_owned());
            }
            Generator::OneOf(texts) => Draw::OneOf(texts.iter().map(|it| written(it, place)).collect()),
        })
    }

    /// Appends the value of row 0...
    pub fn write(&self, row: u64, chance: &mut Chance, place: Place, out: &mut Vec<u8>) {
        let quote = |out: &mut Vec<u8>| {
            if place == Place::Json {
                out.push(b'"');
            }
        };
        match self {
            Draw::Serial => decimal(out, row + 1),
            Draw::Uniform(min, 0) => integer(out, min.wrapping_add(chance.bits() as i64)),
            Draw::Uniform(min, count) => integer(out, min.wrapping_add(chance.below(*count) as i64)),
            Draw::Zipfian(min, zipf) => integer(out, min.wrapping_add(zipf.draw(chance) as i64 - 1)),
            Draw::Point(from, to) => point(out, *from, *to, chance, place),
            Draw::Json(fields) => object_of(fields, row, chance, out),
            Draw::Constant(text) => out.extend_from_slice(text),
            Draw::OneOf(texts) => out.extend_from_slice(&texts[chance.below(texts.len() as u64) as usize]),
            Draw::RussianName => {
                quote(out);
                names::person(|n| chance.below(n)).write(out);
                quote(out);
            }
            Draw::EnglishName => {
                quote(out);
                out.extend_from_slice(pick(&english::FIRST_NAMES, chance));
                out.push(b' ');
                out.extend_from_slice(pick(&english::LAST_NAMES, chance));
                quote(out);
            }
            Draw::Words(least, counts) => {
                quote(out);
                for at in 0..least + chance.below(*counts) {
                    if at > 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(pick(&english::WORDS, chance));
                }
                quote(out);
            }
            Draw::Text(length) => {
                quote(out);
                letters(out, *length, chance);
                quote(out);
            }
            Draw::Timestamp(from, count) => {
                quote(out);
                moment::write(from + chance.below(*count) as i64, out);
                quote(out);
            }
        }
    }
}

/// The SQL type that holds all values of a generator.
pub(super) fn sql_type(generator: &Generator) -> &'static str {
    match generator {
        Generator::Serial => "bigint",
        Generator::Uniform { min, max } | Generator::Zipfian { min, max, .. } => {
            let small = i32::try_from(*min).is_ok() && i32::try_from(*max).is_ok();
            if small { "integer" } else { "bigint" }
        }
        Generator::RussianName
        | Generator::EnglishName
        | Generator::Words { .. }
        | Generator::Text { .. }
        | Generator::Constant(_)
        | Generator::OneOf(_) => "text",
        Generator::Timestamp { .. } => "timestamp with time zone",
        Generator::Point { .. } => "point",
        Generator::Json(_) => "jsonb",
    }
}

/// How many whole numbers `min..=max` holds; 0 for all of 64 bits.
fn count(min: impl Into<i64>, max: impl Into<i64>) -> Result<u64, String> {
    let (min, max) = (min.into(), max.into());
    if min > max {
        return Err(format!("the range ends before it begins: {min} > {max}; write the smaller bound first"));
    }
    Ok((max.wrapping_sub(min) as u64).wrapping_add(1))
}

fn object(fields: &[(String, Generator)]) -> Result<Vec<(Vec<u8>, Draw)>, String> {
    let mut ready = Vec::new();
    for (at, (name, generator)) in fields.iter().enumerate() {
        let mut before = if at == 0 { Vec::new() } else { b", ".to_vec() };
        before.extend(written(name, Place::Json));
        before.extend_from_slice(b": ");
        let draw = Draw::new(generator, Place::Json).map_err(|it| format!("field {name}: {it}"))?;
        ready.push((before, draw));
    }
    Ok(ready)
}

/// Each field has a sequence of its own: a new one leaves the others as they are.
fn object_of(fields: &[(Vec<u8>, Draw)], row: u64, chance: &mut Chance, out: &mut Vec<u8>) {
    let seed = chance.bits();
    out.push(b'{');
    for (at, (before, draw)) in fields.iter().enumerate() {
        out.extend_from_slice(before);
        draw.write(row, &mut Chance::of(seed, at as u64), Place::Json, out);
    }
    out.push(b'}');
}

/// A text as it stands in COPY's text format.
fn written(text: &str, place: Place) -> Vec<u8> {
    let text = match place {
        Place::Field => text.to_owned(),
        Place::Json => serde_json::to_string(text).expect("a text has a form in JSON"),
    };
    let mut out = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(byte),
        }
    }
    out
}

fn integer(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    decimal(out, number.unsigned_abs());
}

fn pick(texts: &[&'static str], chance: &mut Chance) -> &'static [u8] {
    texts[chance.below(texts.len() as u64) as usize].as_bytes()
}

/// Small letters, eight of each draw: the eighth is even to within 1 in 2²⁶.
fn letters(out: &mut Vec<u8>, length: u32, chance: &mut Chance) {
    let mut bits = 0;
    for at in 0..length {
        if at % 8 == 0 {
            bits = chance.bits();
        }
        let wide = u128::from(bits) * 26;
        out.push(b'a' + (wide >> 64) as u8);
        bits = wide as u64;
    }
}

/// To six decimals: a tenth of a metre, if these are degrees.
fn point(out: &mut Vec<u8>, from: (f64, f64), to: (f64, f64), chance: &mut Chance, place: Place) {
    let x = from.0 + (to.0 - from.0) * chance.fraction();
    let y = from.1 + (to.1 - from.1) * chance.fraction();
    match place {
        Place::Field => write!(out, "({x:.6},{y:.6})"),
        Place::Json => write!(out, "[{x:.6}, {y:.6}]"),
    }
    .expect("vectors grow");
}

/// The seed of one column of one table.
pub(super) fn seed(seed: u64, table: &str, column: &str) -> u64 {
    salt(seed, &[table, column])
}
