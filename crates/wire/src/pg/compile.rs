//! Compiler from statements to message templates.
//!
//! Each function appends one message to a template that is rendered for every transaction. A text with a NUL cannot be
//! sent. The script parser rejects such a text, so a NUL here is a bug in the caller.

use crate::{Placeholder, TemplateBuilder};
use bytes::BytesMut;
use postgres_protocol::message::frontend;

/// Part of the text of a simple query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlPiece<'a> {
    /// SQL that is sent unchanged, in the encoding of the session.
    Text(&'a [u8]),
    /// Index of an argument, whose text is sent without quotes.
    Arg(u16),
}

/// Appends Query: the server parses, plans and executes these statements at once.
pub fn simple(b: &mut TemplateBuilder, pieces: &[SqlPiece<'_>]) {
    b.message(b'Q', |b| {
        for piece in pieces {
            match *piece {
                SqlPiece::Text(text) => {
                    assert!(!text.contains(&0), "{NUL}");
                    b.bytes(text);
                }
                SqlPiece::Arg(arg) => {
                    b.placeholder(arg, Placeholder::Raw);
                }
            }
        }
        b.bytes(b"\0");
    });
}

/// Appends Parse, which prepares `sql` with parameters `$1 …` under `name`. The unnamed statement (`""`) exists until
/// the next Parse.
///
/// The server derives the types of the parameters.
pub fn parse(b: &mut TemplateBuilder, name: &str, sql: &[u8]) {
    assert!(!name.contains('\0') && !sql.contains(&0), "{NUL}");
    b.message(b'P', |b| {
        b.bytes(name.as_bytes()).bytes(b"\0").bytes(sql).bytes(b"\0").bytes(&0u16.to_be_bytes());
    });
}

/// Appends Bind, which creates the unnamed portal from the statement `name`. Parameters and results are in text format.
pub fn bind(b: &mut TemplateBuilder, name: &str, args: &[u16]) {
    assert!(!name.contains('\0'), "{NUL}");
    let count = u16::try_from(args.len()).expect("a statement has at most 65535 parameters");
    b.message(b'B', |b| {
        b.bytes(b"\0").bytes(name.as_bytes()).bytes(b"\0");
        b.bytes(&0u16.to_be_bytes()).bytes(&count.to_be_bytes());
        for &arg in args {
            b.placeholder(arg, Placeholder::LengthPrefixed);
        }
        b.bytes(&0u16.to_be_bytes());
    });
}

/// Appends Describe of the unnamed portal. The server then sends the columns before the rows.
pub fn describe_portal(b: &mut TemplateBuilder) {
    fixed(b, |out| frontend::describe(b'P', "", out).expect(NUL));
}

/// Appends Execute of the unnamed portal, for all rows.
pub fn execute(b: &mut TemplateBuilder) {
    fixed(b, |out| frontend::execute("", 0, out).expect(NUL));
}

/// Appends Sync. The server responds to all messages up to Sync with one ReadyForQuery.
pub fn sync(b: &mut TemplateBuilder) {
    fixed(b, frontend::sync);
}

/// Appends Flush. The server then sends the output that it has so far.
pub fn flush(b: &mut TemplateBuilder) {
    fixed(b, frontend::flush);
}

/// Appends Close of the prepared statement `name`, which need not exist.
pub fn close_statement(b: &mut TemplateBuilder, name: &str) {
    fixed(b, |out| frontend::close(b'S', name, out).expect(NUL));
}

const NUL: &str = "no NUL in SQL";

fn fixed(b: &mut TemplateBuilder, write: impl FnOnce(&mut BytesMut)) {
    let mut out = BytesMut::new();
    write(&mut out);
    b.bytes(&out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiles_messages() {
        let check = |build: fn(&mut TemplateBuilder), expected: &[u8]| {
            let mut builder = TemplateBuilder::default();
            build(&mut builder);
            let mut out = Vec::new();
            builder.build().render(&mut out, |arg, out| {
                out.extend_from_slice([b"7".as_slice(), b"", b"null"][usize::from(arg)]);
                arg != 1
            });
            assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        };
        check(|b| simple(b, &[SqlPiece::Text(b"select "), SqlPiece::Arg(0)]), b"Q\0\0\0\x0dselect 7\0");
        check(|b| simple(b, &[]), b"Q\0\0\0\x05\0");
        check(|b| parse(b, "s1", b"select $1"), b"P\0\0\0\x13s1\0select $1\0\0\0");
        check(|b| bind(b, "s1", &[0, 1]), b"B\0\0\0\x17\0s1\0\0\0\0\x02\0\0\0\x017\xff\xff\xff\xff\0\0");
        check(|b| bind(b, "", &[]), b"B\0\0\0\x0c\0\0\0\0\0\0\0\0");
        check(describe_portal, b"D\0\0\0\x06P\0");
        check(execute, b"E\0\0\0\x09\0\0\0\0\0");
        check(sync, b"S\0\0\0\x04");
        check(flush, b"H\0\0\0\x04");
        check(|b| close_statement(b, "s1"), b"C\0\0\0\x08Ss1\0");
    }

    #[test]
    #[should_panic(expected = "no NUL in SQL")]
    fn rejects_nul() {
        parse(&mut TemplateBuilder::default(), "", b"select '\0'");
    }
}
