//! Generators of the values of declared columns

use super::row_rng::{derive_seed, row_rng};
use super::zipf::Zipf;
use super::{english, names, timestamp, write_decimal};
use model::SplitMix64;
use model::message;
use model::message::Message;
use model::plan::ColumnGenerator;
use std::io::Write as _;

/// Generator of a column's values. It contains all precomputed values that do not depend on the row.
#[derive(Clone, Debug)]
pub(super) enum ValueGenerator {
    Serial,
    /// Minimum, and number of possible values; 0 means all 64-bit integers.
    Uniform(i64, u64),
    Zipfian(i64, Zipf),
    RussianName,
    EnglishName,
    /// Minimum number of words, and number of possible word counts.
    Words(u64, u64),
    Text(u32),
    /// First second since 1970, and number of possible seconds.
    Timestamp(i64, u64),
    Point((f64, f64), (f64, f64)),
    /// Fields of a JSON object: bytes before each value, and the generator of the value.
    Json(Vec<(Vec<u8>, ValueGenerator)>),
    /// Constant, encoded as it is written.
    Constant(Vec<u8>),
    OneOf(Vec<Vec<u8>>),
}

/// Reason why a generator of values is invalid.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GeneratorError {
    /// The exponent of a Zipfian distribution is invalid.
    Exponent(f64),
    LargeRange,
    EmptyRange {
        min: i64,
        max: i64,
    },
    Timestamp(String),
    /// A corner of a rectangle of points has an infinite or NaN coordinate.
    Corner,
    /// A list of values is empty.
    NoValue,
    /// A field of a JSON object is invalid.
    Field {
        name: String,
        error: Box<GeneratorError>,
    },
}

impl From<&GeneratorError> for Message {
    fn from(error: &GeneratorError) -> Message {
        match error {
            GeneratorError::Exponent(exponent) => {
                message!("dataset-exponent", exponent = exponent.to_string())
            }
            GeneratorError::LargeRange => message!("dataset-large-range"),
            GeneratorError::EmptyRange { min, max } => {
                message!("dataset-empty-range", min = min.to_string(), max = max.to_string())
            }
            GeneratorError::Timestamp(text) => message!("dataset-timestamp", text),
            GeneratorError::Corner => message!("dataset-corner"),
            GeneratorError::NoValue => message!("dataset-no-value"),
            GeneratorError::Field { name, error } => {
                message!("dataset-field", name, error = Message::from(&**error))
            }
        }
    }
}

/// Context into which a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// Field in COPY's text format.
    CopyField,
    /// JSON within a field in COPY's text format.
    Json,
}

impl ValueGenerator {
    pub fn new(generator: &ColumnGenerator, place: ValueContext) -> Result<ValueGenerator, GeneratorError> {
        Ok(match generator {
            ColumnGenerator::Serial => ValueGenerator::Serial,
            &ColumnGenerator::Uniform { min, max } => ValueGenerator::Uniform(min, range_size(min, max)?),
            &ColumnGenerator::Zipfian { min, max, s } => {
                if !(s > 1.0 && s <= 1000.0) {
                    return Err(GeneratorError::Exponent(s));
                }
                let n = range_size(min, max)?;
                if n == 0 || n > 1 << 53 {
                    return Err(GeneratorError::LargeRange);
                }
                ValueGenerator::Zipfian(min, Zipf::new(n, s))
            }
            ColumnGenerator::RussianName => ValueGenerator::RussianName,
            ColumnGenerator::EnglishName => ValueGenerator::EnglishName,
            &ColumnGenerator::Words { min, max } => {
                ValueGenerator::Words(u64::from(min), range_size(i64::from(min), i64::from(max))?)
            }
            &ColumnGenerator::Text { length } => ValueGenerator::Text(length),
            ColumnGenerator::Timestamp { from, to } => {
                let parse =
                    |it: &String| model::parse_utc(it).ok_or_else(|| GeneratorError::Timestamp(it.clone()));
                let (from, to) = (parse(from)?, parse(to)?);
                ValueGenerator::Timestamp(from, range_size(from, to)?)
            }
            &ColumnGenerator::Point { from, to } => {
                if ![from.0, from.1, to.0, to.1].into_iter().all(f64::is_finite) {
                    return Err(GeneratorError::Corner);
                }
                ValueGenerator::Point(from, to)
            }
            ColumnGenerator::Json(fields) => ValueGenerator::Json(compile_object(fields)?),
            ColumnGenerator::Constant(text) => ValueGenerator::Constant(escape_text(text, place)),
            ColumnGenerator::OneOf(texts) if texts.is_empty() => {
                return Err(GeneratorError::NoValue);
            }
            ColumnGenerator::OneOf(texts) => {
                ValueGenerator::OneOf(texts.iter().map(|it| escape_text(it, place)).collect())
            }
        })
    }

    /// Appends the value of row `row`, counted from 0.
    pub fn write(&self, row: u64, chance: &mut SplitMix64, place: ValueContext, out: &mut Vec<u8>) {
        let quote = |out: &mut Vec<u8>| {
            if place == ValueContext::Json {
                out.push(b'"');
            }
        };
        match self {
            ValueGenerator::Serial => write_decimal(out, row + 1),
            ValueGenerator::Uniform(min, 0) => write_integer(out, min.wrapping_add(chance.next_u64() as i64)),
            ValueGenerator::Uniform(min, count) => {
                write_integer(out, min.wrapping_add(chance.below(*count) as i64));
            }
            ValueGenerator::Zipfian(min, zipf) => {
                write_integer(out, min.wrapping_add(zipf.sample(chance) as i64 - 1));
            }
            ValueGenerator::Point(from, to) => write_point(out, *from, *to, chance, place),
            ValueGenerator::Json(fields) => write_object(fields, row, chance, out),
            ValueGenerator::Constant(text) => out.extend_from_slice(text),
            ValueGenerator::OneOf(texts) => {
                out.extend_from_slice(&texts[chance.below(texts.len() as u64) as usize]);
            }
            ValueGenerator::RussianName => {
                quote(out);
                names::draw_person(|n| chance.below(n)).write(out);
                quote(out);
            }
            ValueGenerator::EnglishName => {
                quote(out);
                out.extend_from_slice(pick(&english::FIRST_NAMES, chance));
                out.push(b' ');
                out.extend_from_slice(pick(&english::LAST_NAMES, chance));
                quote(out);
            }
            ValueGenerator::Words(least, counts) => {
                quote(out);
                for at in 0..least + chance.below(*counts) {
                    if at > 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(pick(&english::WORDS, chance));
                }
                quote(out);
            }
            ValueGenerator::Text(length) => {
                quote(out);
                write_letters(out, *length, chance);
                quote(out);
            }
            ValueGenerator::Timestamp(from, count) => {
                quote(out);
                timestamp::write_timestamp(from + chance.below(*count) as i64, out);
                quote(out);
            }
        }
    }
}

/// Returns an SQL type that holds all values of a generator.
pub(super) fn sql_type(generator: &ColumnGenerator) -> &'static str {
    match generator {
        ColumnGenerator::Serial => "bigint",
        ColumnGenerator::Uniform { min, max } | ColumnGenerator::Zipfian { min, max, .. } => {
            let small = i32::try_from(*min).is_ok() && i32::try_from(*max).is_ok();
            if small { "integer" } else { "bigint" }
        }
        ColumnGenerator::RussianName
        | ColumnGenerator::EnglishName
        | ColumnGenerator::Words { .. }
        | ColumnGenerator::Text { .. }
        | ColumnGenerator::Constant(_)
        | ColumnGenerator::OneOf(_) => "text",
        ColumnGenerator::Timestamp { .. } => "timestamp with time zone",
        ColumnGenerator::Point { .. } => "point",
        ColumnGenerator::Json(_) => "jsonb",
    }
}

/// Number of integers in `min..=max`; 0 for all 64-bit integers.
fn range_size(min: impl Into<i64>, max: impl Into<i64>) -> Result<u64, GeneratorError> {
    let (min, max) = (min.into(), max.into());
    if min > max {
        return Err(GeneratorError::EmptyRange { min, max });
    }
    Ok((max.wrapping_sub(min) as u64).wrapping_add(1))
}

fn compile_object(
    fields: &[(String, ColumnGenerator)],
) -> Result<Vec<(Vec<u8>, ValueGenerator)>, GeneratorError> {
    let mut ready = Vec::new();
    for (at, (name, generator)) in fields.iter().enumerate() {
        let mut before = if at == 0 { Vec::new() } else { b", ".to_vec() };
        before.extend(escape_text(name, ValueContext::Json));
        before.extend_from_slice(b": ");
        let draw = ValueGenerator::new(generator, ValueContext::Json)
            .map_err(|error| GeneratorError::Field { name: name.clone(), error: Box::new(error) })?;
        ready.push((before, draw));
    }
    Ok(ready)
}

/// Writes a JSON object. Each field has a separate random sequence, so a new field does not change the other fields.
fn write_object(fields: &[(Vec<u8>, ValueGenerator)], row: u64, chance: &mut SplitMix64, out: &mut Vec<u8>) {
    let seed = chance.next_u64();
    out.push(b'{');
    for (at, (before, draw)) in fields.iter().enumerate() {
        out.extend_from_slice(before);
        draw.write(row, &mut row_rng(seed, at as u64), ValueContext::Json, out);
    }
    out.push(b'}');
}

/// Encodes a text for COPY's text format.
fn escape_text(text: &str, place: ValueContext) -> Vec<u8> {
    let text = match place {
        ValueContext::CopyField => text.to_owned(),
        ValueContext::Json => serde_json::to_string(text).expect("a text can be serialised"),
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

fn write_integer(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    write_decimal(out, number.unsigned_abs());
}

fn pick(texts: &[&'static str], chance: &mut SplitMix64) -> &'static [u8] {
    texts[chance.below(texts.len() as u64) as usize].as_bytes()
}

/// Writes random lowercase letters, eight from each random number. Even the eighth letter is uniform to within 1 in
/// 2²⁶.
fn write_letters(out: &mut Vec<u8>, length: u32, chance: &mut SplitMix64) {
    let mut bits = 0;
    for at in 0..length {
        if at % 8 == 0 {
            bits = chance.next_u64();
        }
        let wide = u128::from(bits) * 26;
        out.push(b'a' + (wide >> 64) as u8);
        bits = wide as u64;
    }
}

/// Writes a point with six decimals: a resolution of a tenth of a metre if the unit is degrees.
fn write_point(
    out: &mut Vec<u8>,
    from: (f64, f64),
    to: (f64, f64),
    chance: &mut SplitMix64,
    place: ValueContext,
) {
    let x = from.0 + (to.0 - from.0) * chance.uniform();
    let y = from.1 + (to.1 - from.1) * chance.uniform();
    match place {
        ValueContext::CopyField => write!(out, "({x:.6},{y:.6})"),
        ValueContext::Json => write!(out, "[{x:.6}, {y:.6}]"),
    }
    .expect("writing to a Vec cannot fail");
}

/// Returns the seed of one column of one table.
pub(super) fn column_seed(seed: u64, table: &str, column: &str) -> u64 {
    derive_seed(seed, &[table, column])
}
