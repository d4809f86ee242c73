//! Errors in a server's bytes.

use std::fmt;

/// Error in the bytes of a response. The connection is unusable afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Status line is missing, or a header is invalid.
    Head,
    /// Status line and headers are longer than [`super::HEAD_MAX`], or there are too many headers.
    HeadTooLong,
    /// Content-Length is not a number, or has contradictory values.
    ContentLength,
    /// Transfer-Encoding is invalid: chunked twice, or not last.
    TransferEncoding,
    /// Chunk size, chunk end or trailer is malformed.
    Chunk,
    /// Chunk extensions or trailers are longer than [`super::HEAD_MAX`].
    ChunkTooLong,
    /// Too many interim responses (1xx).
    TooManyInterim,
    /// Content-Encoding was not requested, or there are several.
    ContentCoding,
    /// Compressed body is malformed or not of the declared coding.
    Compressed,
    /// Compressed body expands to more than [`super::DECOMPRESSED_MAX`].
    DecompressedTooLong,
    /// Surplus bytes arrived without a request.
    SurplusBytes,
    /// TLS failed; the text describes the failure.
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
