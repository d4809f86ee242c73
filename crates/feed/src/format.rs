//! Formats of feeds

/// Format of a feed's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CSV as in RFC 4180: `"` quotes a field.
    Csv,
    /// Tab-separated, without quoting.
    Tsv,
    /// JSON lines: one object per line, whose members are the columns.
    JsonLines,
    /// Yandex.Tank's `uri` format: headers in brackets; a target and a tag per line.
    Uri,
    /// Yandex.Tank's `uripost` format: like `uri`, with a body after each line.
    UriPost,
    /// Yandex.Tank's raw format: whole requests, each preceded by its length.
    Raw,
    /// Web server log in Apache's combined or common format.
    Access,
}

impl Format {
    /// Format for a file's extension, ignoring `.gz`; `None` if the extension is unknown.
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

    /// Separator of fields if the lines can be used without conversion; otherwise `None`.
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
