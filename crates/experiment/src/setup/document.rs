//! The section `document`.

use super::SetupBuilder;
use crate::file::{Document, DocumentLanguage};
use crate::rich_text;
use model::plan::{DocumentTexts, TextBlock};

impl SetupBuilder<'_> {
    pub(super) fn document(&mut self, source: Document) -> DocumentTexts {
        let mut text = |key: &str, text: Option<String>| -> Vec<TextBlock> {
            let Some(text) = text else { return Vec::new() };
            let (blocks, diagnostics) = rich_text::parse(&text);
            let span = self.span_of(&format!("document.{key}"));
            self.report_in_text(&span, &text, diagnostics);
            blocks
        };
        DocumentTexts {
            goals: text("goals", source.goals),
            method: text("method", source.method),
            acceptance: text("acceptance", source.acceptance),
            conclusions: text("conclusions", source.conclusions),
            title: source.title.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")),
            language: source.language.map(|it| code(it).to_owned()),
        }
    }
}

fn code(language: DocumentLanguage) -> &'static str {
    match language {
        DocumentLanguage::En => "en",
        DocumentLanguage::Ru => "ru",
    }
}
