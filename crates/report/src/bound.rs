//! Bound document: several runs as one numbered document
//!
//! [`bind`] builds the document once. The writers for HTML and DOCX add no text, except the numbers of pages.

mod builder;
pub mod docx;
mod elements;
mod graphs;
pub mod html;
mod key_figures;
mod profile;
mod raster;
mod run_view;

pub use builder::bind;
pub use key_figures::key_figures;

use crate::svg::SvgPicture;
use crate::view::{Table, Tone};
use model::plan::{DocumentTexts, TextSpan};
use model::run_result::RunResult;

/// Document in one language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundDocument {
    /// BCP 47 code of the language.
    pub lang: &'static str,
    pub title: String,
    /// Lines below the title: one per run, with its name, start and duration.
    pub subtitle: Vec<String>,
    /// Heading of the contents.
    pub contents: String,
    /// Chapters and their parts, in the order of the document.
    pub chapters: Vec<Chapter>,
}

/// Numbered heading, with the elements up to the next heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Chapter {
    /// Link target: `s3` or `s3-1`.
    pub id: String,
    /// Number, such as `3` or `3.1`.
    pub number: String,
    /// 1 for a chapter, 2 for its part.
    pub level: usize,
    pub heading: String,
    pub elements: Vec<Element>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    Paragraph {
        spans: Vec<TextSpan>,
        tone: Tone,
    },
    List {
        /// Number of the first item; `None` for a bulleted list.
        start: Option<u64>,
        items: Vec<Vec<Element>>,
    },
    /// Its caption is numbered.
    Table(Table),
    Figure(Figure),
    /// Preformatted text; the name may be empty.
    Code {
        name: String,
        text: String,
    },
}

/// Picture with its numbered caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub caption: String,
    pub picture: SvgPicture,
}

impl Figure {
    /// The picture as PNG.
    pub fn png(&self) -> Vec<u8> {
        raster::png(&self.picture)
    }
}

/// Texts of several runs: each text is that of the first run whose file has it.
pub fn merge_texts<'a>(runs: impl Iterator<Item = &'a RunResult>) -> DocumentTexts {
    let mut merged = DocumentTexts::default();
    for texts in runs.filter_map(|run| run.experiment.document.as_deref()) {
        if merged.title.is_none() {
            merged.title.clone_from(&texts.title);
        }
        if merged.language.is_none() {
            merged.language.clone_from(&texts.language);
        }
        let parts = [
            (&mut merged.goals, &texts.goals),
            (&mut merged.method, &texts.method),
            (&mut merged.acceptance, &texts.acceptance),
            (&mut merged.conclusions, &texts.conclusions),
        ];
        for (known, text) in parts {
            if known.is_empty() {
                known.clone_from(text);
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests;
