//! Diagnostics of an experiment file as text: line, caret and correction

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use experiment::Diagnostics;
use report::lang::Lang;
use report::say;
use std::io::IsTerminal;

/// All diagnostics and their number, in the form of compiler messages; in colour if requested.
pub fn render(diagnostics: &Diagnostics, colour: bool, lang: &Lang) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(120);
    let mut shown = String::new();
    for diagnostic in &diagnostics.list {
        let source = &diagnostics.sources[diagnostic.span.source];
        let snippet = Snippet::source(source.text.as_str())
            .path(source.name.as_str())
            .annotation(AnnotationKind::Primary.span(diagnostic.span.bytes.clone()));
        let groups: [Group<'_>; 1] = [Level::ERROR
            .primary_title(lang.message(&diagnostic.message))
            .element(snippet)
            .element(Level::HELP.message(lang.help(&diagnostic.message)))];
        shown += &renderer.render(&groups);
        shown += "\n\n";
    }
    shown + &say!(lang, "check-errors", count = diagnostics.list.len()) + "\n"
}

/// True if standard error should be coloured.
pub fn use_colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}
