//! English texts of messages, to compare them with pgbench's

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use load::script::Diagnostic;
use model::message::{Argument, Message};
use std::sync::LazyLock;

static ENGLISH: LazyLock<FluentBundle<FluentResource>> = LazyLock::new(|| {
    let file = include_str!("../../../report/messages/en.ftl");
    let mut bundle = FluentBundle::new_concurrent(vec!["en".parse().expect("a language")]);
    bundle.set_use_isolating(false);
    let resource = FluentResource::try_new(file.to_owned()).expect("the file is valid");
    bundle.add_resource(resource).expect("the file has no duplicates");
    bundle
});

/// Text of the message.
pub fn text(message: &Message) -> String {
    render(message, None).expect("the message has a text")
}

/// Correction of the error that the message states; empty if it has none.
pub fn help(message: &Message) -> String {
    let inner = message.arguments.iter().find_map(|(_, argument)| match argument {
        Argument::Message(inner) => Some(inner),
        _ => None,
    });
    render(message, Some("help")).or_else(|| inner.map(help)).unwrap_or_default()
}

/// Text of the message or of one of its attributes.
fn render(message: &Message, attribute: Option<&str>) -> Option<String> {
    let entry = ENGLISH.get_message(&message.id).expect(&message.id);
    let pattern = match attribute {
        None => entry.value()?,
        Some(attribute) => entry.get_attribute(attribute)?.value(),
    };
    let mut arguments = FluentArgs::new();
    for (name, argument) in &message.arguments {
        let value = match argument {
            Argument::Count(count) => FluentValue::from(*count),
            Argument::Text(text) => FluentValue::from(text.as_ref()),
            Argument::Message(inner) => text(inner).into(),
            Argument::AnyOf(all) => all.iter().map(text).collect::<Vec<_>>().join(" or ").into(),
        };
        arguments.set(name.as_ref(), value);
    }
    let mut errors = Vec::new();
    let shown = ENGLISH.format_pattern(pattern, Some(&arguments), &mut errors).into_owned();
    assert!(errors.is_empty(), "{}: {errors:?}", message.id);
    Some(shown)
}

/// Diagnostic with its line, as `pgdyno bench` prints it.
#[allow(dead_code, reason = "not every test prints whole diagnostics")]
pub fn show(diagnostic: &Diagnostic) -> String {
    let Diagnostic { file, line, column, text: source, message } = diagnostic;
    let (message, hint) = (text(message), help(message));
    if *line == 0 {
        return format!("{message}\nhint: {hint}");
    }
    let before = source.chars().take(column.saturating_sub(1) as usize);
    let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    format!("{file}:{line}: {message}\n{source}\n{indent}^ error found here\nhint: {hint}")
}
