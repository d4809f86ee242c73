//! Types of the section `document`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Texts for a document that binds several runs (`pgdyno report --bind`). Except the title, they consist of paragraphs, lists
/// and code blocks in Markdown, with `*emphasis*`, `**strong**` and `` `code` ``.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Title, in one line. Default: the names of the experiments.
    pub title: Option<String>,
    /// Language of the document. Default: that of the command.
    pub language: Option<DocumentLanguage>,
    /// Questions that the tests answer.
    pub goals: Option<String>,
    /// How the tests are made.
    pub method: Option<String>,
    /// Acceptance criteria in your words. pgdyno judges only `objectives`.
    pub acceptance: Option<String>,
    /// Conclusions in your words.
    pub conclusions: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DocumentLanguage {
    /// English.
    En,
    /// Russian.
    Ru,
}
