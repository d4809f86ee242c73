//! Request templates with placeholders.

mod escape;

use std::fmt;

/// Request compiled once per run: bytes with placeholders, and length fields that are filled in after the arguments are
/// rendered.
///
/// Rendering copies the fixed bytes and lets the caller append each argument in place. It then writes the lengths
/// (big-endian `i32`, or decimal). It allocates only when `out` must grow.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Template {
    bytes: Box<[u8]>,
    steps: Box<[TemplateStep]>,
}

/// Encoding of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// Unchanged bytes, for text within a simple query.
    Raw,
    /// Parameter of a Bind message: big-endian `i32` length, then the bytes. NULL is the length −1 without bytes.
    LengthPrefixed,
    /// Percent-encoded except for RFC 3986's unreserved characters; used within a URL or a form.
    Url,
    /// Escaped for use inside a JSON string.
    Json,
    /// Control characters are replaced by blanks; used within a header's value, where a line ending would inject
    /// another header.
    HeaderValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplateStep {
    /// Copies `bytes[from..to]` unchanged.
    Copy {
        from: u32,
        to: u32,
    },
    Fill {
        arg: u16,
        hole: Placeholder,
    },
    /// Four-byte length, which counts the bytes from itself up to the matching `Close`.
    Open,
    Close,
    /// `DECIMAL_WIDTH` blanks, later overwritten by the length of the bytes between `Begin` and `End`.
    Decimal,
    Begin,
    End,
}

/// Width of a decimal length; blanks before a header's value have no meaning.
const DECIMAL_WIDTH: usize = 10;

/// Omits the bytes, because they may contain a secret.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template of {} bytes in {} steps", self.bytes.len(), self.steps.len())
    }
}

impl Template {
    /// Appends the request to `out`. `write(arg, out)` appends argument `arg` and returns true if it is not NULL.
    ///
    /// If the argument of a raw placeholder is NULL, the bytes that `write` appended remain.
    #[inline]
    pub fn render(&self, out: &mut Vec<u8>, mut write: impl FnMut(u16, &mut Vec<u8>) -> bool) {
        let (mut open, mut place) = (0, 0);
        for step in &self.steps {
            match *step {
                TemplateStep::Copy { from, to } => {
                    out.extend_from_slice(&self.bytes[from as usize..to as usize]);
                }
                TemplateStep::Fill { arg, hole: Placeholder::Raw } => {
                    write(arg, out);
                }
                TemplateStep::Fill { arg, hole: Placeholder::LengthPrefixed } => {
                    let at = out.len();
                    out.extend_from_slice(&[0; 4]);
                    let length = if write(arg, out) { (out.len() - at - 4) as i32 } else { -1 };
                    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
                }
                TemplateStep::Fill { arg, hole } => {
                    let at = out.len();
                    write(arg, out);
                    escape::escape_in_place(out, at, hole);
                }
                TemplateStep::Decimal => {
                    place = out.len();
                    out.extend_from_slice(&[b' '; DECIMAL_WIDTH]);
                }
                TemplateStep::Begin => open = out.len(),
                TemplateStep::End => {
                    let mut length = out.len() - open;
                    for digit in out[place..place + DECIMAL_WIDTH].iter_mut().rev() {
                        *digit = b'0' + (length % 10) as u8;
                        length /= 10;
                        if length == 0 {
                            break;
                        }
                    }
                }
                TemplateStep::Open => {
                    open = out.len();
                    out.extend_from_slice(&[0; 4]);
                }
                TemplateStep::Close => {
                    let length = (out.len() - open) as i32;
                    out[open..open + 4].copy_from_slice(&length.to_be_bytes());
                }
            }
        }
    }

    /// True if rendering appends nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// Builds a [`Template`] from front to back. Messages do not nest.
#[derive(Debug, Default)]
pub struct TemplateBuilder {
    bytes: Vec<u8>,
    steps: Vec<TemplateStep>,
    placeholders_in_frame: usize,
    frame: Option<(usize, usize)>,
}

impl TemplateBuilder {
    /// Appends fixed bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        let to = self.bytes.len() as u32;
        match self.steps.last_mut() {
            Some(TemplateStep::Copy { to: end, .. }) => *end = to,
            _ if from != to => self.steps.push(TemplateStep::Copy { from, to }),
            _ => {}
        }
        self
    }

    /// Appends a placeholder for argument `arg`.
    pub fn placeholder(&mut self, arg: u16, hole: Placeholder) -> &mut Self {
        self.steps.push(TemplateStep::Fill { arg, hole });
        self.placeholders_in_frame += 1;
        self
    }

    /// Appends a placeholder for a decimal number: the length of the bytes that `counted` appends later.
    pub fn decimal_length(&mut self) -> &mut Self {
        self.steps.push(TemplateStep::Decimal);
        self
    }

    /// Appends the output of `body`; its length is written at `decimal_length`.
    pub fn counted(&mut self, body: impl FnOnce(&mut Self)) -> &mut Self {
        self.steps.push(TemplateStep::Begin);
        body(self);
        self.steps.push(TemplateStep::End);
        self
    }

    /// Appends one protocol message: tag, length, and the output of `body`. Without placeholders, the length is
    /// computed at once.
    pub fn message(&mut self, tag: u8, body: impl FnOnce(&mut Self)) -> &mut Self {
        assert!(self.frame.is_none(), "frames do not nest");
        self.bytes(&[tag]);
        self.frame = Some((self.steps.len(), self.bytes.len()));
        self.steps.push(TemplateStep::Open);
        self.placeholders_in_frame = 0;
        body(self);
        let (step, at) = self.frame.take().expect("the frame was set above");
        if self.placeholders_in_frame == 0 {
            let length = (self.bytes.len() - at + 4) as i32;
            self.steps.truncate(step);
            self.bytes.splice(at..at, length.to_be_bytes());
            let (from, to) = (at as u32, self.bytes.len() as u32);
            match self.steps.last_mut() {
                Some(TemplateStep::Copy { to: end, .. }) => *end = to,
                _ => self.steps.push(TemplateStep::Copy { from, to }),
            }
        } else {
            self.steps.push(TemplateStep::Close);
        }
        self
    }

    /// Template of everything that was appended.
    pub fn build(self) -> Template {
        Template { bytes: self.bytes.into(), steps: self.steps.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(build: impl FnOnce(&mut TemplateBuilder), args: &[Option<&str>]) -> Vec<u8> {
        let mut builder = TemplateBuilder::default();
        build(&mut builder);
        let mut out = Vec::new();
        builder.build().render(&mut out, |arg, out| {
            args[arg as usize].is_some_and(|text| {
                out.extend_from_slice(text.as_bytes());
                true
            })
        });
        out
    }

    #[test]
    fn patches_message_lengths() {
        let body = |builder: &mut TemplateBuilder| {
            builder.message(b'B', |message| {
                message
                    .bytes(b"ab")
                    .placeholder(0, Placeholder::LengthPrefixed)
                    .placeholder(1, Placeholder::LengthPrefixed)
                    .bytes(b"z");
            });
            builder.message(b'S', |_| {});
        };
        assert_eq!(
            rendered(body, &[Some("12345"), None]),
            b"B\0\0\0\x14ab\0\0\0\x0512345\xff\xff\xff\xffzS\0\0\0\x04"
        );
    }

    #[test]
    fn merges_fixed_messages_into_one_copy() {
        let mut builder = TemplateBuilder::default();
        builder.message(b'E', |message| {
            message.bytes(b"\0\0\0\0\0");
        });
        builder.message(b'S', |_| {});
        let template = builder.build();
        assert_eq!(template.steps.len(), 1);
        assert_eq!(&*template.bytes, b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
    }

    #[test]
    fn renders_raw_placeholders() {
        let body = |builder: &mut TemplateBuilder| {
            builder.message(b'Q', |message| {
                message.bytes(b"select ").placeholder(0, Placeholder::Raw).bytes(b"\0");
            });
        };
        assert_eq!(rendered(body, &[Some("42")]), b"Q\0\0\0\x0eselect 42\0");
    }
    #[test]
    fn renders_decimal_lengths_and_escapes() {
        let body = |builder: &mut TemplateBuilder| {
            builder.bytes(b"L:").decimal_length().bytes(b"|").counted(|part| {
                part.placeholder(0, Placeholder::Json).bytes(b"-").placeholder(1, Placeholder::Url);
            });
            builder.bytes(b"|").placeholder(2, Placeholder::HeaderValue);
        };
        let check = |args: [&str; 3], expected: &str| {
            let rendered = rendered(body, &args.map(Some));
            assert_eq!(String::from_utf8(rendered).expect("the arguments are UTF-8"), expected);
        };
        check(["ab", "c", "d"], "L:         4|ab-c|d");
        check(["", "", ""], "L:         1|-|");
        check(
            ["\"\\\n\u{1}я", "a b/я~", "x\r\nEvil: y"],
            "L:        30|\\\"\\\\\\n\\u0001я-a%20b%2F%D1%8F~|x  Evil: y",
        );
    }
}
