//! Message catalogue of a language: a Fluent file, and the rendering of its messages
//!
//! The file contains every sentence and word of the language. The code selects messages, their order and their
//! arguments, and is the same for all languages. `cargo xtask tidy` compares the messages of all languages with those
//! that the code uses.

use crate::number::with_comma;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use fluent_syntax::ast::Pattern;
use model::message::{Argument, Message};
use std::fmt;
use std::sync::Arc;

/// Messages of one language. Any thread may render them.
#[derive(Clone)]
pub struct Catalogue {
    bundle: Arc<FluentBundle<FluentResource>>,
    /// Identifiers of the messages, in the order of the file.
    identifiers: Arc<Vec<String>>,
    /// True if a message's attribute `requests` replaces its value.
    of_requests: bool,
}

impl Catalogue {
    /// Parses a Fluent file of the language with this BCP 47 code.
    ///
    /// # Panics
    /// Panics if the file is not a valid catalogue, because the file is part of the program.
    pub fn parse(code: &str, text: &str) -> Catalogue {
        let resource = FluentResource::try_new(text.to_owned())
            .unwrap_or_else(|(_, errors)| panic!("the messages of {code} are valid: {errors:?}"));
        let identifiers = resource
            .entries()
            .filter_map(|entry| match entry {
                fluent_syntax::ast::Entry::Message(message) => Some(message.id.name.to_owned()),
                _ => None,
            })
            .collect();
        let mut bundle = FluentBundle::new_concurrent(vec![code.parse().expect("a language code")]);
        // Do not insert Unicode isolation marks around arguments, because terminals would show the marks.
        bundle.set_use_isolating(false);
        bundle
            .add_resource(resource)
            .unwrap_or_else(|errors| panic!("{code} has each message once: {errors:?}"));
        let separator = bundle.get_message("number-decimal-separator").and_then(|message| message.value());
        let has_comma =
            separator.is_some_and(|pattern| bundle.format_pattern(pattern, None, &mut Vec::new()) == ",");
        bundle.set_formatter(Some(if has_comma {
            |value, _| count(value, true)
        } else {
            |value, _| count(value, false)
        }));
        Catalogue { bundle: Arc::new(bundle), identifiers: Arc::new(identifiers), of_requests: false }
    }

    /// Variant of the catalogue for a load of single HTTP requests. Its messages contain "requests" instead of
    /// "transactions".
    pub fn of_requests(&self) -> Catalogue {
        Catalogue { of_requests: true, ..self.clone() }
    }

    /// Renders the message with its arguments, without the catalogue's line breaks. For an unknown message, it returns
    /// the identifier, so that a report can always be written.
    pub fn render(&self, identifier: &str, arguments: &[(&str, Argument<'_>)]) -> String {
        let text = self.find(identifier, arguments.iter().map(|(name, value)| (*name, value)));
        debug_assert!(text.is_some(), "the catalogue has no {identifier} with the arguments {arguments:?}");
        text.unwrap_or_else(|| identifier.to_owned())
    }

    /// Renders a message. A run file of another version may contain a message that this version lacks; such a message
    /// is rendered as its identifier and arguments.
    pub fn message(&self, message: &Message) -> String {
        self.find_message(message).unwrap_or_else(|| message.describe())
    }

    /// Renders a message; `None` if the catalogue does not have the message, or if an argument is missing.
    pub fn find_message(&self, message: &Message) -> Option<String> {
        self.find(&message.id, message.arguments.iter().map(|(name, value)| (name.as_ref(), value)))
    }

    /// Renders the attribute `help` of a message, which describes how to correct the error. If the message has no such
    /// attribute, the help of the first message among its arguments is used.
    pub fn help(&self, message: &Message) -> Option<String> {
        match self.bundle.get_message(&message.id)?.get_attribute("help") {
            Some(attribute) => {
                let arguments = message.arguments.iter().map(|(name, value)| (name.as_ref(), value));
                let text = self.format(attribute.value(), arguments);
                debug_assert!(text.is_some(), "the help does not have the arguments of {message:?}");
                text
            }
            None => message.arguments.iter().find_map(|(_, argument)| match argument {
                Argument::Message(inner) => self.help(inner),
                Argument::Count(_) | Argument::Text(_) | Argument::AnyOf(_) => None,
            }),
        }
    }

    fn find<'a>(
        &self,
        identifier: &str,
        arguments: impl Iterator<Item = (&'a str, &'a Argument<'a>)>,
    ) -> Option<String> {
        let message = self.bundle.get_message(identifier)?;
        let variant = message.get_attribute("requests").filter(|_| self.of_requests);
        self.format(variant.map(|it| it.value()).or(message.value())?, arguments)
    }

    fn format<'a>(
        &self,
        pattern: &Pattern<&str>,
        arguments: impl Iterator<Item = (&'a str, &'a Argument<'a>)>,
    ) -> Option<String> {
        let mut values = FluentArgs::new();
        for (name, argument) in arguments {
            values.set(name, self.value(argument)?);
        }
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(&values), &mut errors).into_owned();
        // The word joiner distinguishes a user's text from an absent argument only for the selectors of the message.
        let text = text.replace("\u{2060}none", "none");
        errors.is_empty().then_some(text)
    }

    fn value<'a>(&self, argument: &'a Argument<'_>) -> Option<FluentValue<'a>> {
        Some(match argument {
            Argument::Count(count) => FluentValue::from(*count),
            Argument::Text(text) => FluentValue::String(text.as_ref().into()),
            Argument::Message(message) => self.find_message(message)?.into(),
            Argument::AnyOf(all) => self.any_of(all)?.into(),
        })
    }

    /// Joins messages as alternatives: `a`, `a or b`, `a, b or c`.
    fn any_of(&self, all: &[Message]) -> Option<String> {
        let Some((last, first)) = all.split_last() else { return Some(String::new()) };
        let last = self.find_message(last)?;
        if first.is_empty() {
            return Some(last);
        }
        let first: Option<Vec<String>> = first.iter().map(|message| self.find_message(message)).collect();
        Some(self.render("experiment-or", &[("first", first?.join(", ").into()), ("last", last.into())]))
    }

    /// Lists messages whose identifiers have this prefix, in the order of the file. The prefix is removed.
    pub fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (String, String)> {
        let names = self.identifiers.iter().map(String::as_str);
        names.filter_map(move |name| Some((name.strip_prefix(prefix)?.to_owned(), self.render(name, &[]))))
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalogue").field("messages", &self.identifiers.len()).finish_non_exhaustive()
    }
}

/// Formats a whole number for a language; `None` for other values.
fn count(value: &FluentValue<'_>, comma: bool) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    let text = number.value.to_string();
    Some(if comma { with_comma(&text) } else { text })
}

/// Text of a message in a language: `say!(lang, "trials-left-out", total, left_out = trials.len())`.
///
/// Argument values convert to [`Argument`](model::message::Argument). A name without a value uses the variable of that
/// name. `cargo xtask tidy` checks identifiers and argument names.
#[macro_export]
macro_rules! say {
    ($lang:expr, $identifier:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $lang.catalogue().render(
            $identifier,
            &[$((stringify!($name), $crate::lang::Argument::from($crate::say!(@value $name $(= $value)?)))),*],
        )
    };
    (@value $name:ident) => { $name };
    (@value $name:ident = $value:expr) => { $value };
}

#[cfg(test)]
mod tests;
