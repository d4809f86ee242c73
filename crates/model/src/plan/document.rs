//! Texts of the user in a bound document

use serde::{Deserialize, Serialize};

/// Texts of the section `document`. A text that the file does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentTexts {
    pub title: Option<String>,
    /// BCP 47 code of the document's language; `None` for the language of the command.
    pub language: Option<String>,
    pub goals: Vec<TextBlock>,
    pub method: Vec<TextBlock>,
    /// Acceptance criteria. They are not evaluated: the objectives of the file are.
    pub acceptance: Vec<TextBlock>,
    pub conclusions: Vec<TextBlock>,
}

/// Part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextBlock {
    Paragraph(Vec<TextSpan>),
    List {
        /// Number of the first item; `None` for a bulleted list.
        start: Option<u64>,
        items: Vec<Vec<TextBlock>>,
    },
    /// Preformatted text.
    Code(String),
}

/// Text in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSpan {
    pub text: String,
    pub style: SpanStyle,
}

/// Style of a text. If styles are nested, the innermost counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanStyle {
    #[default]
    Plain,
    Emphasis,
    Strong,
    Code,
}

impl TextSpan {
    pub fn plain(text: impl Into<String>) -> TextSpan {
        TextSpan { text: text.into(), style: SpanStyle::Plain }
    }
}
