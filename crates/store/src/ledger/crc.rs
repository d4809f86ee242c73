//! CRC-32C checksum

/// CRC-32C (Castagnoli), reflected: RFC 3720, appendix B.4.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Effect of each byte value on the checksum, by position within eight bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut it = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            it = if it & 1 == 1 { it >> 1 ^ POLYNOMIAL } else { it >> 1 };
            bit += 1;
        }
        tables[0][byte] = it;
        byte += 1;
    }
    let mut place = 1;
    while place < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[place - 1][byte];
            tables[place][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        place += 1;
    }
    tables
}

/// Checksum of the bytes with checksum `before`, followed by `bytes`. The checksum of no bytes is 0.
pub(super) fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    let mut crc = !before;
    let mut eights = bytes.chunks_exact(8);
    for it in &mut eights {
        let word = u64::from_le_bytes(it.try_into().expect("eight bytes")) ^ u64::from(crc);
        crc = 0;
        for (place, table) in TABLES.iter().rev().enumerate() {
            crc ^= table[(word >> (8 * place) & 0xff) as usize];
        }
    }
    for &byte in eights.remainder() {
        crc = crc >> 8 ^ TABLES[0][((crc ^ u32::from(byte)) & 0xff) as usize];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from RFC 3720, appendix B.4, and the check value in catalogues of CRCs.
    #[test]
    fn matches_known_checksums() {
        let rising: Vec<u8> = (0..32).collect();
        let falling: Vec<u8> = (0..32).rev().collect();
        for (bytes, expected) in [
            (&b""[..], 0),
            (b"123456789", 0xE306_9283),
            (&[0; 32], 0x8A91_36AA),
            (&[0xff; 32], 0x62A8_AB43),
            (&rising, 0x46DD_794E),
            (&falling, 0x113F_DB5C),
        ] {
            assert_eq!(crc32c(0, bytes), expected, "{bytes:?}");
            for cut in 0..=bytes.len() {
                let (a, b) = bytes.split_at(cut);
                assert_eq!(crc32c(crc32c(0, a), b), expected, "cut at {cut}");
            }
        }
    }
}
