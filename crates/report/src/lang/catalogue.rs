//! Message catalogue of a language: a Fluent file, and the rendering of its messages
//!
//! The file contains every sentence and word of the language. The code chooses messages, their order and their
//! arguments, and is the same for all languages. `cargo xtask tidy` compares the messages of all languages with those
//! that the code uses.

use crate::number::with_comma;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use fluent_syntax::ast::Pattern;
use model::message::{Argument, Message};
use std::fmt;

/// Messages of one language. Any thread may render them.
pub struct Catalogue {
    bundle: FluentBundle<FluentResource>,
    /// Identifiers of the messages, in the order of the file.
    identifiers: Vec<String>,
}

impl Catalogue {
    /// Parses a Fluent file of the language with this BCP 47 code.
    ///
    /// # Panics
    /// If the file is not a valid catalogue. The file is part of the program.
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
        // Marks around arguments would be visible in terminals.
        bundle.set_use_isolating(false);
        bundle
            .add_resource(resource)
            .unwrap_or_else(|errors| panic!("{code} has each message once: {errors:?}"));
        let mut catalogue = Catalogue { bundle, identifiers };
        let has_comma = catalogue.render("number-decimal-separator", &[]) == ",";
        catalogue.bundle.set_formatter(Some(if has_comma {
            |value, _| count(value, true)
        } else {
            |value, _| count(value, false)
        }));
        catalogue
    }

    /// Renders the message with its arguments, without the catalogue's line breaks. For an unknown message, it returns
    /// the identifier, so that a report can always be written.
    pub fn render(&self, identifier: &str, arguments: &[(&str, Argument<'_>)]) -> String {
        let Some(pattern) = self.bundle.get_message(identifier).and_then(|message| message.value()) else {
            debug_assert!(false, "there is no message {identifier}");
            return identifier.to_owned();
        };
        self.format(identifier, pattern, arguments)
    }

    /// Renders the attribute `help` of a message: how to correct the error that the message states. A message without
    /// it has the help of the first message in its arguments.
    pub fn help(&self, message: &Message) -> Option<String> {
        match self.bundle.get_message(message.id)?.get_attribute("help") {
            Some(attribute) => Some(self.format(message.id, attribute.value(), &message.arguments)),
            None => message.arguments.iter().find_map(|(_, argument)| match argument {
                Argument::Message(inner) => self.help(inner),
                Argument::Count(_) | Argument::Text(_) | Argument::AnyOf(_) => None,
            }),
        }
    }

    fn format(
        &self,
        identifier: &str,
        pattern: &Pattern<&str>,
        arguments: &[(&str, Argument<'_>)],
    ) -> String {
        let mut values = FluentArgs::with_capacity(arguments.len());
        for (name, argument) in arguments {
            values.set(*name, self.value(argument));
        }
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(&values), &mut errors).into_owned();
        debug_assert!(errors.is_empty(), "{identifier}: {errors:?}");
        text
    }

    fn value<'a>(&self, argument: &'a Argument<'_>) -> FluentValue<'a> {
        match argument {
            Argument::Count(count) => FluentValue::from(*count),
            Argument::Text(text) => FluentValue::String(text.as_ref().into()),
            Argument::Message(message) => self.render(message.id, &message.arguments).into(),
            Argument::AnyOf(all) => self.any_of(all).into(),
        }
    }

    /// Joins messages as alternatives: `a`, `a or b`, `a, b or c`.
    fn any_of(&self, all: &[Message]) -> String {
        let text = |message: &Message| self.render(message.id, &message.arguments);
        let Some((last, first)) = all.split_last() else { return String::new() };
        if first.is_empty() {
            return text(last);
        }
        let first = first.iter().map(text).collect::<Vec<_>>().join(", ");
        self.render("experiment-or", &[("first", first.into()), ("last", text(last).into())])
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
/// Arguments are values that convert to [`Argument`](model::message::Argument); a name alone is the variable of that name.
/// `cargo xtask tidy` checks identifiers and argument names.
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
