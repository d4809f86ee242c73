//! Formats of feeds

use serde::{Deserialize, Serialize};

/// Format of a feed's file, which may also be compressed with gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedFormat {
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

impl FeedFormat {
    /// Format for a file's extension, ignoring `.gz`; `None` if the extension is unknown.
    pub fn from_extension(name: &str) -> Option<FeedFormat> {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let (_, ending) = name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Some(FeedFormat::Csv),
            "tsv" => Some(FeedFormat::Tsv),
            "jsonl" | "ndjson" => Some(FeedFormat::JsonLines),
            "uri" => Some(FeedFormat::Uri),
            "uripost" => Some(FeedFormat::UriPost),
            "raw" | "ammo" => Some(FeedFormat::Raw),
            "log" => Some(FeedFormat::Access),
            _ => None,
        }
    }

    /// True for formats of whole HTTP requests (ammunition).
    pub fn is_ammo(self) -> bool {
        matches!(self, FeedFormat::Uri | FeedFormat::UriPost | FeedFormat::Raw | FeedFormat::Access)
    }

    /// Separator of fields if the lines can be used without conversion; otherwise `None`.
    pub fn delimiter(self) -> Option<u8> {
        match self {
            FeedFormat::Csv => Some(b','),
            FeedFormat::Tsv => Some(b'\t'),
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
            ("a.csv", Some(FeedFormat::Csv)),
            ("b.CSV", Some(FeedFormat::Csv)),
            ("a.tsv.gz", Some(FeedFormat::Tsv)),
            ("x.jsonl", Some(FeedFormat::JsonLines)),
            ("ammo.uri", Some(FeedFormat::Uri)),
            ("ammo.uripost.gz", Some(FeedFormat::UriPost)),
            ("access.log", Some(FeedFormat::Access)),
            ("ammo.raw", Some(FeedFormat::Raw)),
            ("ammo", None),
            ("x.gz", None),
        ] {
            assert_eq!(FeedFormat::from_extension(name), form, "{name}");
        }
    }
}
