//! Language-neutral messages: identifiers of the message catalogue with their arguments.

use std::borrow::Cow;

/// Argument of a message.
///
/// Whole numbers select plural forms and are written in the language's number format. All other values are formatted
/// text. `None` becomes the text `none` and `true` the text `true`; a message can select on either.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Argument<'a> {
    Count(u64),
    Text(Cow<'a, str>),
    /// Message within a message, such as the name of a kind.
    Message(Message),
    /// Alternatives, rendered as `a, b or c`.
    AnyOf(Vec<Message>),
}

/// Text of an absent optional argument; a message selects on `[none]`.
const NONE: &str = "none";

/// Message that the catalogue of each language renders. [`message!`](crate::message!) builds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Identifier in the catalogue.
    pub id: &'static str,
    /// Names and values of the arguments.
    pub arguments: Vec<(&'static str, Argument<'static>)>,
}

impl Message {
    /// Copy of the message with `map` applied to each text of its arguments.
    pub fn map_texts(self, map: &impl Fn(&str) -> String) -> Message {
        let arguments = self.arguments.into_iter();
        let arguments = arguments.map(|(name, argument)| (name, argument.map_texts(map))).collect();
        Message { id: self.id, arguments }
    }
}

impl<'a> Argument<'a> {
    /// Copy of the argument without borrowed parts.
    pub fn into_owned(self) -> Argument<'static> {
        match self {
            Argument::Count(count) => Argument::Count(count),
            Argument::Text(text) => Argument::Text(text.into_owned().into()),
            Argument::Message(message) => Argument::Message(message),
            Argument::AnyOf(all) => Argument::AnyOf(all),
        }
    }

    fn map_texts(self, map: &impl Fn(&str) -> String) -> Argument<'a> {
        match self {
            Argument::Count(count) => Argument::Count(count),
            Argument::Text(text) => Argument::Text(map(&text).into()),
            Argument::Message(message) => Argument::Message(message.map_texts(map)),
            Argument::AnyOf(all) => {
                Argument::AnyOf(all.into_iter().map(|message| message.map_texts(map)).collect())
            }
        }
    }
}

impl From<u64> for Argument<'_> {
    fn from(count: u64) -> Self {
        Argument::Count(count)
    }
}

impl From<u32> for Argument<'_> {
    fn from(count: u32) -> Self {
        Argument::Count(count.into())
    }
}

impl From<usize> for Argument<'_> {
    fn from(count: usize) -> Self {
        Argument::Count(count as u64)
    }
}

impl From<bool> for Argument<'_> {
    fn from(truth: bool) -> Self {
        Argument::Text(if truth { "true" } else { "false" }.into())
    }
}

impl<'a> From<&'a str> for Argument<'a> {
    fn from(text: &'a str) -> Self {
        Argument::Text(text.into())
    }
}

impl<'a> From<&'a String> for Argument<'a> {
    fn from(text: &'a String) -> Self {
        Argument::Text(text.as_str().into())
    }
}

impl From<String> for Argument<'_> {
    fn from(text: String) -> Self {
        Argument::Text(text.into())
    }
}

impl From<Message> for Argument<'_> {
    fn from(message: Message) -> Self {
        Argument::Message(message)
    }
}

impl From<Vec<Message>> for Argument<'_> {
    fn from(all: Vec<Message>) -> Self {
        Argument::AnyOf(all)
    }
}

impl<'a, T: Into<Argument<'a>>> From<Option<T>> for Argument<'a> {
    fn from(optional: Option<T>) -> Self {
        match optional.map(Into::into) {
            None => Argument::Text(NONE.into()),
            // A cell may be called `none`. An invisible word joiner distinguishes the name from an absent argument.
            Some(Argument::Text(text)) if text == NONE => Argument::Text(format!("\u{2060}{text}").into()),
            Some(argument) => argument,
        }
    }
}

/// Builds a [`Message`](crate::message::Message): `message!("experiment-pool-size", free, max = free + 1)`.
///
/// Argument values convert to [`Argument`](crate::message::Argument). A name alone is the variable of that name. `cargo
/// xtask tidy` checks identifiers and argument names.
#[macro_export]
macro_rules! message {
    ($identifier:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::message::Message {
            id: $identifier,
            arguments: vec![$((
                stringify!($name),
                $crate::message::Argument::from($crate::message!(@value $name $(= $value)?)).into_owned(),
            )),*],
        }
    };
    (@value $name:ident) => { $name };
    (@value $name:ident = $value:expr) => { $value };
}
