//! Decompression of bodies in pieces of any size, and the cost of malicious ones.

use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flate2::{Compression, GzBuilder};
use proptest::prelude::*;
use std::io::Write;
use wire::http::{BodySearch, DECOMPRESSED_MAX, Error, Method, ResponseReader, Retain};

const KEEP: Retain = Retain { head: false, body: 1 << 20, error_body: 0, decompress: true };

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::default());
    to.write_all(body).expect("writing to a vector cannot fail");
    to.finish().expect("writing to a vector cannot fail")
}

/// Gzip member with all optional header fields.
fn gzip_with_all_header_fields(body: &[u8]) -> Vec<u8> {
    let head = GzBuilder::new().filename("a").comment("b").extra(vec![7; 300]);
    let mut to = head.write(Vec::new(), Compression::fast());
    to.write_all(body).expect("writing to a vector cannot fail");
    let mut packed = to.finish().expect("writing to a vector cannot fail");
    // Adds a header checksum after name and comment. flate2 does not write one, and nothing verifies it.
    packed[3] |= 2;
    let head = 10 + 2 + 300 + 2 + 2;
    packed.splice(head..head, [1, 2]);
    packed
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut to = ZlibEncoder::new(Vec::new(), Compression::default());
    to.write_all(body).expect("writing to a vector cannot fail");
    to.finish().expect("writing to a vector cannot fail")
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut to = DeflateEncoder::new(Vec::new(), Compression::default());
    to.write_all(body).expect("writing to a vector cannot fail");
    to.finish().expect("writing to a vector cannot fail")
}

fn answer(coding: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Reads a response in pieces of `piece` bytes. Returns the retained body, whether the whole body contained `Каштанка`,
/// and its length.
fn read(keep: Retain, answer: &[u8], piece: usize) -> Result<(Vec<u8>, bool, u64), Error> {
    let mut reader = ResponseReader::default();
    let search = BodySearch::new(["Каштанка".as_bytes()]);
    reader.begin(Method::Get, keep);
    let mut ended = None;
    for mut input in answer.chunks(piece) {
        assert_eq!(ended, None, "nothing follows the end");
        ended = reader.next_seeking(&mut input, Some(&search))?;
    }
    let ended = ended.or_else(|| reader.closed()).expect("the response is complete");
    Ok((reader.body().to_vec(), reader.has_found(&search, 0), ended.length))
}

fn check(name: &str, coding: &str, packed: &[u8], expected: Result<&[u8], Error>) {
    let chunks: Vec<u8> = packed.chunks(7).fold(Vec::new(), |mut all, chunk| {
        all.extend(format!("{:x}\r\n", chunk.len()).bytes());
        all.extend_from_slice(chunk);
        all.extend(b"\r\n");
        all
    });
    let chunked =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: {coding}\r\n\r\n");
    let chunked = [chunked.as_bytes(), &chunks, b"0\r\n\r\n"].concat();
    for answer in [answer(coding, packed), chunked] {
        for piece in [1, 2, 3, 5, 1000, usize::MAX] {
            let result = read(KEEP, &answer, piece).map(|response| {
                assert_eq!(response.2, packed.len() as u64, "the length counts the bytes as received");
                response.0
            });
            let expected = expected.map(<[u8]>::to_vec);
            assert_eq!(result, expected, "{name} in pieces of {piece}");
        }
    }
}

#[test]
fn decompresses_bodies() {
    let text = "Каштанка бежала по тротуару. ".repeat(40);
    let text = text.as_bytes();
    check("gzip", "gzip", &gzip(text), Ok(text));
    check("its old name", "X-GZip", &gzip(text), Ok(text));
    check("with all that a head may have", "gzip", &gzip_with_all_header_fields(text), Ok(text));
    check("two members", "gzip", &[gzip(&text[..100]), gzip(&text[100..])].concat(), Ok(text));
    check("deflate, as it is meant", "deflate", &zlib(text), Ok(text));
    check("deflate, as some take it", "deflate", &deflate(text), Ok(text));
    check("nothing, packed", "gzip", &gzip(b""), Ok(b""));
    check("nothing", "gzip", b"", Ok(b""));
    check("plain", "identity", b"as it is", Ok(b"as it is"));
    // Bodies that are not of the declared coding.
    check("not packed at all", "gzip", b"plain", Err(Error::Compressed));
    check("not packed at all", "deflate", b"plain", Err(Error::Compressed));
    check("something behind it", "gzip", &[gzip(text), b"x".to_vec()].concat(), Err(Error::Compressed));
    check("something behind it", "deflate", &[zlib(text), b"x".to_vec()].concat(), Err(Error::Compressed));
    let mut wrong = gzip(text);
    let last = wrong.len() - 1;
    for at in [last, last - 4, 2, 3] {
        wrong[at] ^= 0xf0;
        check("a wrong sum, length or head", "gzip", &wrong, Err(Error::Compressed));
        wrong[at] ^= 0xf0;
    }
    for end in [1, 9, 10, last - 8, last] {
        check("cut", "gzip", &wrong[..end], Err(Error::Compressed));
    }
    check("another coding", "br", b"x", Err(Error::ContentCoding));
    check("two of them", "gzip, gzip", &gzip(&gzip(text)), Err(Error::ContentCoding));
}

#[test]
fn unrequested_coding_is_not_decompressed() {
    let packed = gzip("Каштанка".as_bytes());
    for coding in ["gzip", "br", "gzip, br"] {
        let result = read(Retain { decompress: false, ..KEEP }, &answer(coding, &packed), 3);
        assert_eq!(result, Ok((packed.clone(), false, packed.len() as u64)), "{coding}");
    }
    let found = read(Retain { body: 0, ..KEEP }, &answer("gzip", &packed), 3);
    assert_eq!(found, Ok((Vec::new(), true, packed.len() as u64)), "the compressed bytes are searched");
}

#[test]
fn connection_end_does_not_complete_compressed_body() {
    let packed = gzip(b"all of it");
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let ended = |body: &[u8]| {
        let mut reader = ResponseReader::default();
        reader.begin(Method::Get, KEEP);
        assert_eq!(reader.next(&mut &[head, body].concat()[..]), Ok(None));
        reader.closed().map(|_| reader.body().to_vec())
    };
    assert_eq!(ended(&packed), Some(b"all of it".to_vec()));
    assert_eq!(ended(&packed[..packed.len() - 1]), None, "cut");
    // A response without a body is not decompressed, whatever its headers.
    let mut reader = ResponseReader::default();
    reader.begin(Method::Head, KEEP);
    assert!(matches!(reader.next(&mut &answer("br", b"")[..]), Ok(Some(_))));
}

#[test]
fn decompression_bomb_uses_bounded_memory() {
    let zeros = vec![0; 1 << 20];
    let mut to = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..=DECOMPRESSED_MAX >> 20 {
        to.write_all(&zeros).expect("writing to a vector cannot fail");
    }
    let bomb = to.finish().expect("writing to a vector cannot fail");
    assert!(bomb.len() < 32 << 10, "{} bytes are many thousand times as much", bomb.len());
    let mut reader = ResponseReader::default();
    reader.begin(Method::Get, KEEP);
    assert_eq!(reader.next(&mut &answer("gzip", &bomb)[..]), Err(Error::DecompressedTooLong));
    assert!(reader.memory() <= (2 << 20) + (64 << 10), "{} bytes", reader.memory());
    // Many members, all of them empty.
    let many = gzip(b"").repeat(10_000);
    check("many members", "gzip", &many, Ok(b""));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compression_round_trips(body in prop::collection::vec(0..4_u8, 0..3000), piece in 1_usize..700, kind in 0..3) {
        let (coding, packed) = match kind {
            0 => ("gzip", gzip(&body)),
            1 => ("deflate", zlib(&body)),
            _ => ("deflate", deflate(&body)),
        };
        let result = read(KEEP, &answer(coding, &packed), piece);
        prop_assert_eq!(result, Ok((body, false, packed.len() as u64)));
    }

    #[test]
    fn damaged_input_gives_same_result_for_all_pieces(
        body in prop::collection::vec(0..4_u8, 0..300), at in any::<prop::sample::Index>(), byte: u8, piece in 1_usize..50,
    ) {
        let mut packed = gzip(&body);
        let at = at.index(packed.len());
        packed[at] = byte;
        let answer = answer("gzip", &packed);
        prop_assert_eq!(read(KEEP, &answer, piece), read(KEEP, &answer, usize::MAX));
    }
}
