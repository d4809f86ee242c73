//! Diagnostics of an experiment file as text: line, caret and correction

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use experiment::Diagnostics;
use std::io::IsTerminal;

/// All diagnostics and their number, in the form of compiler messages; in colour if requested.
pub fn render(mistakes: &Diagnostics, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(120);
    let mut shown = String::new();
    for it in &mistakes.list {
        let source = &mistakes.sources[it.span.source];
        let snippet = Snippet::source(source.text.as_str())
            .path(source.name.as_str())
            .annotation(AnnotationKind::Primary.span(it.span.bytes.clone()));
        let groups: [Group<'_>; 1] = [Level::ERROR
            .primary_title(it.found.as_str())
            .element(snippet)
            .element(Level::HELP.message(it.suggestion.as_str()))];
        shown += &renderer.render(&groups);
        shown += "\n\n";
    }
    let s = if mistakes.list.len() == 1 { "" } else { "s" };
    shown + &format!("{} mistake{s}; nothing was started\n", mistakes.list.len())
}

/// True if standard error should be coloured.
pub fn use_colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}
