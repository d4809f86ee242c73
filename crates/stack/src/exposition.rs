//! Parser of Prometheus' text formats: version 0.0.4 and OpenMetrics 1.0
//!
//! Sources: Prometheus documentation, "Exposition formats"; OpenMetrics 1.0, "Text format". A page with one invalid line
//! is rejected as a whole, as Prometheus does, because its other values may be incomplete.

use model::SeriesKind;

/// Metrics of one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exposition {
    /// Metrics that the caller asked for, in the order of the page. Values that are not finite are left out.
    pub metrics: Vec<Metric>,
    /// Time of the newest value, in seconds since 1970, if each metric has a time. Exporters usually write none:
    /// the values are then those of the moment of the request.
    pub newest: Option<f64>,
}

/// Value of one time series.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: String,
    /// Labels with their values, in the order of the page.
    pub labels: Vec<(String, String)>,
    /// Finite.
    pub value: f64,
    pub kind: SeriesKind,
}

/// A page that is not in one of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, counted from 1; 0 means the page as a whole.
    pub line: u32,
    /// Part that is missing.
    pub expected: &'static str,
}

impl Exposition {
    /// Parses a page. `keep` selects metrics by name.
    pub fn parse(text: &str, keep: &dyn Fn(&str) -> bool) -> Result<Exposition, ParseError> {
        let is_open_metrics = text.trim_end().ends_with("\n# EOF");
        let (mut metrics, mut count, mut times) = (Vec::new(), 0, Vec::new());
        let mut family = Family::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.starts_with('#') {
                family = Family::of_comment(line).unwrap_or(family);
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let error = |expected| ParseError { line: number as u32 + 1, expected };
            let sample = Scanner(line).sample().map_err(error)?;
            count += 1;
            times.extend(sample.time);
            if keep(sample.name) && sample.value.is_finite() {
                metrics.push(Metric {
                    kind: family.kind(sample.name),
                    name: sample.name.to_owned(),
                    labels: sample.labels,
                    value: sample.value,
                });
            }
        }
        if count == 0 {
            return Err(ParseError { line: 0, expected: "metrics" });
        }
        let newest = times.iter().copied().max_by(f64::total_cmp).filter(|_| times.len() == count);
        let scale = if is_open_metrics { 1.0 } else { 1e-3 };
        Ok(Exposition { metrics, newest: newest.map(|it| it * scale) })
    }

    /// Metrics of this name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Metric> {
        self.metrics.iter().filter(move |it| it.name == name)
    }
}

impl Metric {
    /// Value of a label; empty if the metric does not have the label, as in PromQL.
    pub fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }
}

/// Name and type of the metric family that the last `# TYPE` line began.
#[derive(Clone, Copy, Default)]
struct Family<'a> {
    name: &'a str,
    kind: &'a str,
}

impl Family<'_> {
    fn of_comment(line: &str) -> Option<Family<'_>> {
        let mut words = line.strip_prefix('#')?.split_ascii_whitespace();
        (words.next()? == "TYPE").then_some(())?;
        Some(Family { name: words.next()?.trim_matches('"'), kind: words.next()? })
    }

    /// Kind of a metric. Without a type, a name that ends in `_total` is a counter.
    fn kind(&self, name: &str) -> SeriesKind {
        let is_counter = match (name.strip_prefix(self.name), self.kind) {
            (Some("" | "_total"), "counter") => true,
            (Some("_bucket" | "_count" | "_sum"), "histogram") | (Some("_count" | "_sum"), "summary") => true,
            (Some(""), _) => false,
            _ => name.ends_with("_total"),
        };
        if is_counter { SeriesKind::Counter } else { SeriesKind::Gauge }
    }
}

/// One line of a page.
struct SampleLine<'a> {
    name: &'a str,
    labels: Vec<(String, String)>,
    value: f64,
    /// Time in the page's unit.
    time: Option<f64>,
}

/// Rest of a line.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    /// Reads the line. The error is the part that is missing.
    fn sample(mut self) -> Result<SampleLine<'a>, &'static str> {
        let mut name = self.word(|c, first| c == ':' || is_name_character(c, first));
        self.blanks();
        let mut labels = Vec::new();
        if self.take('{') {
            loop {
                self.blanks();
                if self.take('}') {
                    break;
                }
                if self.0.starts_with('"') {
                    // A name with any characters is written in quotes: {"http.requests", method="GET"} 1
                    let quoted = self.quoted_name().filter(|_| name.is_empty());
                    name = quoted.ok_or("name of a metric")?;
                } else {
                    labels.push(self.label()?);
                }
                self.blanks();
                if !self.take(',') && !self.0.starts_with('}') {
                    return Err("comma or } after a label");
                }
            }
        }
        if name.is_empty() {
            return Err("name of a metric");
        }
        let value = self.number().ok_or("number after the name")?;
        self.blanks();
        let time = match self.0 {
            "" => None,
            exemplar if exemplar.starts_with('#') => None,
            _ => Some(self.number().filter(|it| it.is_finite()).ok_or("time after the value")?),
        };
        self.blanks();
        match self.0.is_empty() || self.0.starts_with('#') {
            true => Ok(SampleLine { name, labels, value, time }),
            false => Err("end of the line after the time"),
        }
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.0.strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Longest prefix of these characters.
    fn word(&mut self, is_part: impl Fn(char, bool) -> bool) -> &'a str {
        let mut characters = self.0.char_indices();
        let end = characters.find(|(at, c)| !is_part(*c, *at == 0)).map_or(self.0.len(), |it| it.0);
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn label(&mut self) -> Result<(String, String), &'static str> {
        let name = self.word(is_name_character);
        self.blanks();
        if name.is_empty() || !self.take('=') {
            return Err("name of a label with =");
        }
        self.blanks();
        if !self.take('"') {
            return Err("quoted value of a label");
        }
        let mut value = String::new();
        let mut characters = self.0.char_indices();
        loop {
            match characters.next() {
                Some((at, '"')) => {
                    self.0 = &self.0[at + 1..];
                    return Ok((name.to_owned(), value));
                }
                Some((_, '\\')) => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, c @ ('"' | '\\'))) => value.push(c),
                    // Other escapes are kept as they are written, as Prometheus does.
                    Some((_, c)) => value.extend(['\\', c]),
                    None => return Err("closing quote"),
                },
                Some((_, c)) => value.push(c),
                None => return Err("closing quote"),
            }
        }
    }

    /// Name in quotes; `None` if it has an escape or no end.
    fn quoted_name(&mut self) -> Option<&'a str> {
        let (name, rest) = self.0.strip_prefix('"')?.split_once('"')?;
        self.0 = rest;
        (!name.is_empty() && !name.contains('\\')).then_some(name)
    }

    /// Number after blanks, and before blanks or the end of the line.
    fn number(&mut self) -> Option<f64> {
        self.blanks();
        self.word(|c, _| c != ' ' && c != '\t').parse().ok()
    }
}

fn is_name_character(c: char, first: bool) -> bool {
    c == '_' || c.is_ascii_alphabetic() || (!first && c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
