//! Language-neutral messages: identifiers of the message catalogue with their arguments.

use crate::message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

/// Argument of a message.
///
/// Whole numbers select plural forms and are written in the language's number format. All other values are formatted
/// text. `None` becomes the text `none` and `true` the text `true`; a message can select on either.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Argument<'a> {
    Count(u64),
    Text(Cow<'a, str>),
    /// Alternatives, rendered as `a, b or c`.
    AnyOf(Vec<Message>),
    /// Message within a message, such as the name of a product kind.
    Message(Message),
}

/// Text of an absent optional argument; a message selects on `[none]`.
const NONE: &str = "none";

/// Message that the catalogue of each language renders. [`message!`](crate::message!) builds it.
///
/// Its JSON is `{"id": …, "arguments": {…}}`. The JSON of a [text](Message::text) is a string.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(from = "MessageFormat", into = "MessageFormat")]
pub struct Message {
    /// Identifier in the catalogue.
    pub id: Cow<'static, str>,
    /// Names and values of the arguments.
    pub arguments: Vec<(Cow<'static, str>, Argument<'static>)>,
}

/// JSON of a [`Message`].
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum MessageFormat {
    /// Text that no catalogue contains.
    Text(String),
    /// Identifier in the catalogue, and the arguments by their names.
    Message { id: String, arguments: BTreeMap<String, Argument<'static>> },
}

impl From<MessageFormat> for Message {
    fn from(format: MessageFormat) -> Message {
        match format {
            MessageFormat::Text(text) => Message::text(text),
            MessageFormat::Message { id, arguments } => Message {
                id: id.into(),
                arguments: arguments.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            },
        }
    }
}

impl From<Message> for MessageFormat {
    fn from(message: Message) -> MessageFormat {
        match message.arguments.as_slice() {
            [(_, Argument::Text(text))] if message.id == TEXT => MessageFormat::Text(text.to_string()),
            _ => MessageFormat::Message {
                id: message.id.into_owned(),
                arguments: message
                    .arguments
                    .into_iter()
                    .map(|(name, value)| (name.into_owned(), value))
                    .collect(),
            },
        }
    }
}

/// Identifier of the message whose whole text is its argument.
const TEXT: &str = "error-text";

impl Message {
    /// Message that consists of a text that no catalogue contains, such as a server's message.
    pub fn text(text: impl Into<String>) -> Message {
        message!("error-text", text = text.into())
    }

    /// Message about an error with a file: the file's path and the system's error text.
    pub fn of_file(path: &Path, error: &io::Error) -> Message {
        message!("error-of", subject = path.display().to_string(), error = Message::from(error))
    }

    /// Error of an input or output operation that consists of this message.
    pub fn into_io_error(self) -> io::Error {
        io::Error::other(MessageError(self))
    }

    /// Joins messages with semicolons; `None` if `all` is empty.
    pub fn join(all: impl IntoIterator<Item = Message>) -> Option<Message> {
        all.into_iter().reduce(Message::and)
    }

    /// Joins two messages with a semicolon.
    pub fn and(self, next: Message) -> Message {
        message!("error-and", first = self, next)
    }

    /// Identifier and arguments, such as `store-not-found(x)`, for tests and for messages that other versions stored. A
    /// plain text is returned unchanged.
    pub fn describe(&self) -> String {
        let arguments = self.arguments.iter().map(|(_, argument)| match argument {
            Argument::Count(count) => count.to_string(),
            Argument::Text(text) => text.to_string(),
            Argument::Message(message) => message.describe(),
            Argument::AnyOf(all) => all.iter().map(Message::describe).collect::<Vec<_>>().join(" or "),
        });
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        match self.id.as_ref() {
            TEXT | "error-quoted" => arguments,
            id if self.arguments.is_empty() => id.to_owned(),
            id => format!("{id}({arguments})"),
        }
    }

    /// Values of the arguments, joined by spaces. They do not depend on the language.
    pub fn facts(&self) -> String {
        let texts = self.arguments.iter().map(|(_, argument)| match argument {
            Argument::Count(count) => count.to_string(),
            Argument::Text(text) => text.to_string(),
            Argument::Message(message) => message.facts(),
            Argument::AnyOf(all) => all.iter().map(Message::facts).collect::<Vec<_>>().join(" "),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Copy of the message with `map` applied to each text of its arguments.
    pub fn map_texts(self, map: &impl Fn(&str) -> String) -> Message {
        let arguments = self.arguments.into_iter();
        let arguments = arguments.map(|(name, argument)| (name, argument.map_texts(map))).collect();
        Message { id: self.id, arguments }
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Message {
        message.clone()
    }
}

/// Message from a text that is shown unchanged in every language.
impl From<String> for Message {
    fn from(text: String) -> Message {
        Message::text(text)
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message::text(text)
    }
}

/// Error that consists of a message. [`Message::into_io_error`] puts it into an [`io::Error`].
#[derive(Debug)]
struct MessageError(Message);

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.describe())
    }
}

impl Error for MessageError {}

/// Message that the error carries, or the system's error text without the error number.
impl From<&io::Error> for Message {
    fn from(error: &io::Error) -> Message {
        if let Some(MessageError(message)) =
            error.get_ref().and_then(|inner| inner.downcast_ref::<MessageError>())
        {
            return message.clone();
        }
        let text = error.to_string();
        message!("error-quoted", text = text.split(" (os error").next())
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

impl From<&Message> for Argument<'_> {
    fn from(message: &Message) -> Self {
        Argument::Message(message.clone())
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
            // A cell may have the name `none`. An invisible word joiner distinguishes this name from an absent
            // argument. The catalogue removes it from the rendered text.
            Some(Argument::Text(text)) if text == NONE => Argument::Text(format!("\u{2060}{text}").into()),
            Some(argument) => argument,
        }
    }
}

/// Builds a [`Message`](crate::message::Message): `message!("experiment-pool-size", free, max = free + 1)`.
///
/// Argument values convert to [`Argument`](crate::message::Argument). A name without a value uses the variable of that
/// name. `cargo xtask tidy` checks identifiers and argument names.
#[macro_export]
macro_rules! message {
    ($identifier:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::message::Message {
            id: ::std::borrow::Cow::Borrowed($identifier),
            arguments: vec![$((
                ::std::borrow::Cow::Borrowed(stringify!($name)),
                $crate::message::Argument::from($crate::message!(@value $name $(= $value)?)).into_owned(),
            )),*],
        }
    };
    (@value $name:ident) => { $name };
    (@value $name:ident = $value:expr) => { $value };
}
