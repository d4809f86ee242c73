//! Diagnostics of an experiment file or an argument as text: line, caret and correction

use crate::terminal;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use experiment::{Diagnostic, Diagnostics, GrammarDiagnostic, Source, Span};
use report::lang::Lang;
use report::say;
use std::io::stderr;

/// Width of the output without a terminal, and maximum width on a terminal.
const WIDTH: usize = 120;

/// All diagnostics and their number, formatted like compiler messages. Coloured if `colour` is true.
pub fn render(diagnostics: &Diagnostics, colour: bool, lang: &Lang) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let width = terminal::columns(&stderr()).map_or(WIDTH, |columns| columns.min(WIDTH));
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(width);
    let mut shown = String::new();
    for diagnostic in &diagnostics.list {
        let source = &diagnostics.sources[diagnostic.span.source];
        let snippet = Snippet::source(source.text.as_str())
            .path(source.name.as_str())
            .annotation(AnnotationKind::Primary.span(diagnostic.span.bytes.clone()));
        let groups: [Group<'_>; 1] = [Level::ERROR
            .with_name(say!(lang, "check-error"))
            .primary_title(lang.message(&diagnostic.message))
            .element(snippet)
            .element(
                Level::HELP.with_name(say!(lang, "check-help")).message(lang.help(&diagnostic.message)),
            )];
        shown += &renderer.render(&groups);
        shown += "\n\n";
    }
    shown + &say!(lang, "check-errors", count = diagnostics.list.len()) + "\n"
}

/// Diagnostics for one text, which the output calls `name`, such as `--schedule`.
pub fn in_argument(name: &str, text: &str, list: Vec<GrammarDiagnostic>) -> Diagnostics {
    let to_diagnostic =
        |it: GrammarDiagnostic| Diagnostic { span: Span { source: 0, bytes: it.span }, message: it.message };
    Diagnostics {
        sources: vec![Source { name: name.to_owned(), text: text.to_owned() }],
        list: list.into_iter().map(to_diagnostic).collect(),
    }
}

/// True if standard error should be coloured.
pub fn use_colour() -> bool {
    terminal::is_styled(&stderr())
}
