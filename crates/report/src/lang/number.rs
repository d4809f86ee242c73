//! Number formats of the languages

use super::Lang;
use super::catalogue::Catalogue;
use crate::number::{
    binary, chosen_duration, duration, duration_parts, exact_digits, three_digits, with_comma,
};
use model::{Nanos, PerSecond};

/// Number format of a language. The arithmetic is the same for all languages; the texts come from the catalogue.
#[derive(Debug)]
pub struct Numbers {
    /// True if the decimal separator is a comma, and narrow no-break spaces separate the thousands.
    pub comma: bool,
    /// Text between a number and its unit or a percent sign.
    pub gap: String,
    pub micros: String,
    pub millis: String,
    pub seconds: String,
    /// Unit of a time span in hours.
    pub hours: String,
    pub minutes: String,
    /// Units for 1, 1024, … bytes.
    pub bytes: [String; 5],
    /// Suffix of a rate, without a gap.
    pub per_second: String,
    /// Suffix of a rounded number in thousands, without a gap.
    pub thousand: String,
    pub million: String,
    /// Suffixes for days, hours, minutes and seconds of a duration.
    pub parts: [String; 4],
    /// Text between the parts of a duration.
    pub between: String,
    /// Texts before the lower and before the upper end of a range.
    pub range: [String; 2],
}

impl Numbers {
    pub fn from_catalogue(catalogue: &Catalogue) -> Numbers {
        let text = |identifier: &str| catalogue.render(identifier, &[]);
        Numbers {
            comma: text("number-decimal-separator") == ",",
            gap: text("number-gap"),
            micros: text("number-microseconds"),
            millis: text("number-milliseconds"),
            seconds: text("number-seconds"),
            hours: text("number-hours"),
            minutes: text("number-minutes"),
            bytes: [
                "number-bytes",
                "number-kibibytes",
                "number-mebibytes",
                "number-gibibytes",
                "number-tebibytes",
            ]
            .map(text),
            per_second: text("number-per-second"),
            thousand: text("number-thousand"),
            million: text("number-million"),
            parts: ["number-days-part", "number-hours-part", "number-minutes-part", "number-seconds-part"]
                .map(text),
            between: text("number-between-parts"),
            range: ["number-range-from", "number-range-to"].map(text),
        }
    }

    /// Formats a number from its machine format, such as `-21570.5`. A rounded zero has no sign.
    pub fn write(&self, text: &str) -> String {
        let is_zero = |digits: &&str| digits.bytes().all(|byte| b"0.".contains(&byte));
        let text = text.strip_prefix('-').filter(is_zero).unwrap_or(text);
        if self.comma { with_comma(text) } else { text.to_owned() }
    }

    /// Separator between numbers in a list.
    pub fn among(&self) -> &'static str {
        if self.comma { "; " } else { ", " }
    }

    pub fn count(&self, number: u64) -> String {
        self.write(&number.to_string())
    }

    /// Formats a number with a fixed number of decimals.
    pub fn fixed(&self, number: f64, decimals: usize) -> String {
        self.write(&format!("{number:.decimals$}"))
    }

    /// Formats a number with as many decimals as necessary: `0.5`, `20`.
    pub fn plain(&self, number: f64) -> String {
        self.write(&number.to_string())
    }

    /// Formats a number with three significant digits, or all digits of a whole number.
    pub fn three(&self, number: f64) -> String {
        self.write(&three_digits(number))
    }

    /// Formats a measured time with three significant digits and a unit.
    pub fn time(&self, time: Nanos) -> String {
        let (number, unit) = duration(time);
        self.with_unit(&number, [&self.micros, &self.millis, &self.seconds][unit])
    }

    /// Formats a configured time exactly: `2 s`, `250 ms`.
    pub fn chosen(&self, time: Nanos) -> String {
        let (number, unit) = chosen_duration(time);
        self.with_unit(&number, [&self.micros, &self.millis, &self.seconds][unit])
    }

    /// Formats a duration in whole seconds or larger units: `2 h 5 min`, `3 min 20 s`, `12 s`. Durations that round to
    /// 0 s have the format of [`Numbers::time`].
    pub fn span(&self, time: Nanos) -> String {
        let units = [&self.hours, &self.minutes, &self.seconds];
        let parts: Vec<String> = duration_parts(time)
            .iter()
            .map(|(n, unit)| self.with_unit(&n.to_string(), units[*unit]))
            .collect();
        if parts.is_empty() { self.time(time) } else { parts.join(&self.gap) }
    }

    /// Formats a size with three significant digits and a binary unit.
    pub fn bytes(&self, bytes: f64) -> String {
        let (number, power) = binary(bytes);
        self.with_unit(&number, &self.bytes[power])
    }

    /// Formats a number with its unit, from its machine format, such as `-21570.5`.
    pub fn with_unit(&self, number: &str, unit: &str) -> String {
        format!("{}{}{unit}", self.write(number), self.gap)
    }

    /// Formats a measured time, from seconds.
    pub fn seconds(&self, seconds: f64) -> String {
        self.time(Nanos::from_secs_f64(seconds))
    }

    /// Formats a rate: `200/s`.
    pub fn rate(&self, rate: PerSecond) -> String {
        self.plain(rate.0) + &self.per_second
    }

    /// Formats a share, 0..=1: `12.3 %`.
    pub fn percent(&self, share: f64, decimals: usize) -> String {
        format!("{}{}%", self.fixed(100.0 * share, decimals), self.gap)
    }

    /// Formats a ratio as a change: `-15.6 %`.
    pub fn change(&self, ratio: f64) -> String {
        format!("{}{}%", self.signed(ratio), self.gap)
    }

    /// Formats two ratios as a range of changes: `-16.1 to -15.3 %`.
    pub fn changes(&self, (low, high): (f64, f64)) -> String {
        let [from, to] = &self.range;
        format!("{from}{}{to}{}", self.signed(low), self.change(high))
    }

    /// Formats a range: `1.00 to 4.50`.
    pub fn range(&self, (low, high): (f64, f64), decimals: usize) -> String {
        let [from, to] = &self.range;
        format!("{from}{}{to}{}", self.fixed(low, decimals), self.fixed(high, decimals))
    }

    /// Formats a duration to the millisecond: `1d2h`, `1m40s`, `0.25s`.
    pub fn duration(&self, duration: Nanos) -> String {
        const SECOND: u64 = 1_000_000_000;
        let [day, hour, minute, second] = &self.parts;
        let mut seconds = duration.0 / SECOND;
        let mut parts = Vec::new();
        for (unit, size) in [(day, 86_400), (hour, 3_600), (minute, 60)] {
            if seconds >= size {
                parts.push(self.count(seconds / size) + unit);
                seconds %= size;
            }
        }
        let millis = duration.0 % SECOND / 1_000_000;
        if millis > 0 {
            let text = format!("{seconds}.{millis:03}");
            parts.push(self.write(text.trim_end_matches('0')) + second);
        } else if seconds > 0 || parts.is_empty() {
            parts.push(format!("{seconds}{second}"));
        }
        parts.join(&self.between)
    }

    fn signed(&self, ratio: f64) -> String {
        let change = 100.0 * (ratio - 1.0);
        let sign = if change < 0.0 { "-" } else { "+" };
        format!("{sign}{}", self.fixed(change.abs(), 1))
    }
}

/// Name of a quantile, such as p99 for 0.99. It is the same in every language, because objectives contain it.
pub(crate) fn quantile(share: f64) -> String {
    format!("p{}", (share * 1000.0).round() / 10.0)
}

/// Formats a setting or count like [`Numbers::three`], but with all digits of whole numbers.
pub(crate) fn exact(value: f64, lang: &Lang) -> String {
    lang.number(&exact_digits(value))
}

/// Formats a number like [`Numbers::three`]. Small numbers have a power of ten: `1.04·10⁻⁴`.
pub(crate) fn small(value: f64, lang: &Lang) -> String {
    if value == 0.0 || value.abs() >= 0.001 {
        return lang.numbers().three(value);
    }
    // Rounding to three digits may add a digit.
    let written = format!("{value:.2e}");
    let (digits, power) = written.split_once('e').expect("the number is in scientific notation");
    let raised = power.chars().map(|digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    });
    format!("{}·10{}", lang.number(digits), raised.collect::<String>())
}

/// Formats a duration in milliseconds; empty if unknown.
pub(crate) fn millis(duration: Option<Nanos>, lang: &Lang) -> String {
    duration.map_or(String::new(), |it| lang.numbers().three(it.as_millis_f64()))
}

/// Formats `[0.839, 0.847]`, with a semicolon if the decimal separator is a comma.
pub(crate) fn interval_text((low, high): (f64, f64), lang: &Lang) -> String {
    let [low, high] = [low, high].map(|it| lang.number(&format!("{it:.3}")));
    let comma = if low.contains(',') { ';' } else { ',' };
    format!("[{low}{comma} {high}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};

    #[test]
    fn writes_small_numbers_with_exponents() {
        for (value, in_english, in_russian) in [
            (0.000_104_366, "1.04·10⁻⁴", "1,04·10⁻⁴"),
            (9.999e-6, "1.00·10⁻⁵", "1,00·10⁻⁵"),
            (-2.5e-12, "-2.50·10⁻¹²", "-2,50·10⁻¹²"),
            (0.027_73, "0.028", "0,028"),
            (0.371_4, "0.371", "0,371"),
            (0.0, "0", "0"),
            (57.26, "57.3", "57,3"),
        ] {
            assert_eq!([small(value, english()), small(value, russian())], [in_english, in_russian]);
        }
    }

    /// The sum of no numbers is -0 in Rust.
    #[test]
    fn zeros_have_no_sign() {
        let numbers = english().numbers();
        for (value, expected) in [(-0.0, "0.0 %"), (-0.000_4, "0.0 %"), (-0.001, "-0.1 %"), (0.1, "10.0 %")] {
            assert_eq!(numbers.percent(value, 1), expected);
        }
    }

    #[test]
    fn durations() {
        for (millis, english, russian) in [
            (0, "0s", "0 с"),
            (250, "0.25s", "0,25 с"),
            (1_500, "1.5s", "1,5 с"),
            (60_000, "1m", "1 мин"),
            (200_000, "3m20s", "3 мин 20 с"),
            (90_061_001, "1d1h1m1.001s", "1 д 1 ч 1 мин 1,001 с"),
            (86_400_000, "1d", "1 д"),
        ] {
            let duration = Nanos::from_millis(millis);
            assert_eq!(crate::lang::english().numbers().duration(duration), english);
            assert_eq!(crate::lang::russian().numbers().duration(duration).replace('\u{a0}', " "), russian);
        }
    }

    #[test]
    fn figures_with_their_units() {
        let (en, ru) = (english().numbers(), russian().numbers());
        for (duration, english, russian) in [
            (Nanos::from_micros(50), "50.0 µs", "50,0 мкс"),
            (Nanos::from_micros(12_345), "12.3 ms", "12,3 мс"),
            (Nanos::from_millis(371), "371 ms", "371 мс"),
            (Nanos::from_secs(12_345), "12345 s", "12\u{202f}345 с"),
        ] {
            assert_eq!(en.time(duration), english);
            assert_eq!(ru.time(duration), russian.replace(' ', "\u{a0}"));
        }
        for (duration, english, russian) in [
            (Nanos::from_secs(7_500), "2 h 5 min", "2 ч 5 мин"),
            (Nanos::from_secs(60), "1 min", "1 мин"),
            (Nanos::from_millis(400), "400 ms", "400 мс"),
        ] {
            assert_eq!(en.span(duration), english);
            assert_eq!(ru.span(duration), russian.replace(' ', "\u{a0}"));
        }
        assert_eq!((en.bytes(1536.0), ru.bytes(1536.0)), ("1.50 KiB".into(), "1,50\u{a0}КиБ".into()));
        assert_eq!(
            (en.chosen(Nanos::from_secs(2)), ru.chosen(Nanos::from_millis(1_500))),
            ("2 s".into(), "1,5\u{a0}с".into())
        );
        assert_eq!(en.changes((0.839, 1.05)), "-16.1 to +5.0 %");
        assert_eq!(ru.changes((0.839, 1.05)), "от -16,1 до +5,0\u{a0}%");
        assert_eq!((en.percent(0.126, 0), ru.percent(0.126, 1)), ("13 %".into(), "12,6\u{a0}%".into()));
        assert_eq!(
            (en.rate(PerSecond(0.5)), ru.rate(PerSecond(12_000.5))),
            ("0.5/s".into(), "12\u{202f}000,5/с".into())
        );
        assert_eq!((quantile(0.99), quantile(0.999)), ("p99".into(), "p99.9".into()));
    }
}
