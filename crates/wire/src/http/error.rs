//! Errors in HTTP responses.

use std::fmt;

/// Error in a response. The connection is unusable afterwards.
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
    /// Content-Encoding was not requested, or there are several codings.
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
            Error::Head => "the response has no valid HTTP/1.1 status line or header",
            Error::HeadTooLong => "the response has more than 64 KiB of headers or more than 256 headers",
            Error::ContentLength => "the response's Content-Length is not one number",
            Error::TransferEncoding => "the response's Transfer-Encoding is invalid",
            Error::Chunk => "a chunk of the response is malformed",
            Error::ChunkTooLong => "a chunk's extensions or the trailers are longer than 64 KiB",
            Error::TooManyInterim => "the server sent too many interim responses (1xx)",
            Error::ContentCoding => "the response has a Content-Encoding that was not requested",
            Error::Compressed => "the compressed response cannot be decompressed",
            Error::DecompressedTooLong => "the decompressed response is larger than 16 MiB",
            Error::SurplusBytes => "the server sent bytes without a request",
            Error::Tls(words) => return write!(f, "TLS: {words}"),
        })
    }
}

impl std::error::Error for Error {}
