//! What is wrong with a server's bytes?

use std::fmt;

/// Bytes that are no answer, or none that can be taken. The connection is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No status line, or a header that is none.
    Head,
    /// Status line and headers take more than [`super::HEAD_MAX`], or are too many.
    HeadTooLong,
    /// Content-Length is no number, or says several.
    ContentLength,
    /// Transfer-Encoding that cannot be: chunked twice, or not at last.
    TransferEncoding,
    /// A chunk's size, its end, or a trailer is malformed.
    Chunk,
    /// A chunk's extensions or the trailers take more than [`super::HEAD_MAX`].
    ChunkTooLong,
    /// More interim answers (1xx) than anyone needs.
    TooManyInterim,
    /// Content-Encoding is none that was asked for, or several.
    ContentCoding,
    /// A packed body is malformed, or not of the coding that it claims.
    Compressed,
    /// A packed body holds more than [`super::UNPACKED_MAX`].
    DecompressedTooLong,
    /// Bytes that nobody asked for.
    SurplusBytes,
    /// TLS failed; the words are plain.
    Tls(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Head => "the server's answer does not begin as one of HTTP/1.1",
            Error::HeadTooLong => "the server's headers take more than 64 KiB, or are more than 256",
            Error::ContentLength => "the server's Content-Length is no number",
            Error::TransferEncoding => "the server's Transfer-Encoding cannot be",
            Error::Chunk => "a chunk of the server's answer is malformed",
            Error::ChunkTooLong => "a chunk's extensions or the trailers take more than 64 KiB",
            Error::TooManyInterim => "the server sent too many interim answers",
            Error::ContentCoding => "the server packed its answer in a way that was not asked for",
            Error::Compressed => "the server's packed answer cannot be unpacked",
            Error::DecompressedTooLong => "the server's packed answer holds more than 16 MiB",
            Error::SurplusBytes => "the server sent bytes that nobody asked for",
            Error::Tls(words) => return write!(f, "TLS: {words}"),
        })
    }
}

impl std::error::Error for Error {}
