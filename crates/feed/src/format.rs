//! Formats of feeds

/// Format of a feed's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180: `"` quotes a field.
    Csv,
    /// Tab-separated, without quoting.
    Tsv,
    /// One JSON object per line; its members are the columns.
    JsonLines,
    /// Yandex.Tank's `uri`: headers in brackets, a target and a tag per line.
    Uri,
    /// Yandex.Tank's `uripost`: as `Uri`, with a body after each line.
    UriPost,
    /// Yandex.Tank's raw format: whole requests, each after its length.
    Raw,
    /// Log of a web server in Apache's combined or common format.
    Access,
}

impl Format {
    /// Format by the file's extension, ignoring `.gz`; `None` if it is unknown.
    pub fn from_extension(name: &str) -> Option<Format> {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let (_, ending) = name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            "uri" => Some(Format::Uri),
            "uripost" => Some(Format::UriPost),
            "raw" | "ammo" => Some(Format::Raw),
            "log" => Some(Format::Access),
            _ => None,
        }
    }

    /// True for formats of whole requests, with the columns [`crate::AMMO_COLUMNS`].
    pub fn is_ammo(self) -> bool {
        matches!(self, Format::Uri | Format::UriPost | Format::Raw | Format::Access)
    }

    /// Separator of fields, if lines can be used without conversion.
    pub fn delimiter(self) -> Option<u8> {
        match self {
            Format::Csv => Some(b','),
            Format::Tsv => Some(b'\t'),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_format_by_extension() {
        for (name, form) in [
            ("a.csv", Some(Format::Csv)),
            ("b.CSV", Some(Format::Csv)),
            ("a.tsv.gz", Some(Format::Tsv)),
            ("x.jsonl", Some(Format::JsonLines)),
            ("ammo.uri", Some(Format::Uri)),
            ("ammo.uripost.gz", Some(Format::UriPost)),
            ("access.log", Some(Format::Access)),
            ("ammo.raw", Some(Format::Raw)),
            ("ammo", None),
            ("x.gz", None),
        ] {
            assert_eq!(Format::from_extension(name), form, "{name}");
        }
    }
}
