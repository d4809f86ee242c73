//! What stands in a certificate?
//!
//! The chain is `webpki`'s matter. This reads what it does not tell: the names as libpq compares them, the certificates
//! it does not take (version 1, as the PostgreSQL manual's recipe makes them, and self-signed ones that call themselves
//! an authority), and which hash channel binding is due. Source: RFC 5280, section 4.1.

/// The parts of one certificate; each is DER content without its own tag and length unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Certificate<'a> {
    /// What is signed, with tag and length.
    pub signed: &'a [u8],
    /// Algorithm identifier of the signature.
    pub algorithm: &'a [u8],
    pub signature: &'a [u8],
    /// 1 or 3.
    pub version: u8,
    pub issuer: &'a [u8],
    pub subject: &'a [u8],
    /// Seconds since 1970.
    pub not_before: i64,
    pub not_after: i64,
    /// SubjectPublicKeyInfo with tag and length.
    pub key: &'a [u8],
    extensions: &'a [u8],
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ALTERNATIVE_NAME: &[u8] = &[0x55, 29, 17];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 29, 19];

impl<'a> Certificate<'a> {
    /// Reads the outer parts; `None` when it is none.
    pub fn read(der: &'a [u8]) -> Option<Certificate<'a>> {
        let mut outer = Der(der).enter(SEQUENCE)?;
        let signed = outer.with_head(SEQUENCE)?;
        let algorithm = outer.take(SEQUENCE)?;
        let signature = bits(outer.take(BIT_STRING)?)?;
        let mut it = Der(signed).enter(SEQUENCE)?;
        let version = match it.take(0xa0) {
            Some(explicit) => Der(explicit).take(INTEGER)?.last()?.checked_add(1)?,
            None => 1,
        };
        it.take(INTEGER)?; // serial number
        it.take(SEQUENCE)?; // the algorithm again
        let issuer = it.take(SEQUENCE)?;
        let mut validity = it.enter(SEQUENCE)?;
        let (not_before, not_after) = (validity.time()?, validity.time()?);
        let subject = it.take(SEQUENCE)?;
        let key = it.with_head(SEQUENCE)?;
        it.take(0x81); // unique identifiers
        it.take(0x82);
        let extensions = it.take(0xa3).and_then(|explicit| Der(explicit).take(SEQUENCE)).unwrap_or_default();
        let read = Certificate {
            signed,
            algorithm,
            signature,
            version,
            issuer,
            subject,
            not_before,
            not_after,
            key,
            extensions,
        };
        read.key_parts().map(|_| read)
    }

    /// Algorithm identifier and bits of the public key.
    pub fn key_parts(&self) -> Option<(&'a [u8], &'a [u8])> {
        key_parts(Der(self.key).take(SEQUENCE)?)
    }

    /// It says that it may sign others.
    pub fn is_authority(&self) -> bool {
        let constraints = self.extension(BASIC_CONSTRAINTS).and_then(|it| Der(it).take(SEQUENCE));
        constraints.and_then(|it| Der(it).take(BOOLEAN)).is_some_and(|it| it != [0])
    }

    /// Whether it is `host`'s, as libpq decides with `sslmode=verify-full`.
    ///
    /// The alternative names of the host's kind (DNS name or address) count; only when there is none, the common name.
    /// `*` stands for one whole leftmost label. Source: PostgreSQL 15, `fe-secure-common.c` and `fe-secure-openssl.c`.
    pub fn is_for(&self, host: &str) -> bool {
        const DNS: u8 = 0x82;
        const ADDRESS: u8 = 0x87;
        let address = match host.parse() {
            Ok(std::net::IpAddr::V4(it)) => Some(it.octets().to_vec()),
            Ok(std::net::IpAddr::V6(it)) => Some(it.octets().to_vec()),
            Err(_) => None,
        };
        let mut names =
            Der(self.extension(ALTERNATIVE_NAME).and_then(|it| Der(it).take(SEQUENCE)).unwrap_or_default());
        let mut look_at_common_name = true;
        while let Some((tag, name)) = names.next() {
            match tag {
                DNS if matches(name, host) => return true,
                ADDRESS if Some(name) == address.as_deref() => return true,
                DNS => look_at_common_name &= address.is_some(),
                ADDRESS => look_at_common_name &= address.is_none(),
                _ => {}
            }
        }
        look_at_common_name && self.common_name().is_some_and(|name| matches(name, host))
    }

    /// The hash of `der` that channel binding by `tls-server-end-point` sends; RFC 5929, section 4.1.
    ///
    /// `None` where the signature names no hash, as Ed25519.
    pub fn end_point(der: &[u8]) -> Option<Vec<u8>> {
        use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
        const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
        const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];
        const HASH: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];
        let mut algorithm = Der(Certificate::read(der)?.algorithm);
        let object = algorithm.take(OBJECT)?;
        let (family, kind) = object.split_at(object.len().min(if object.starts_with(RSA) { 8 } else { 6 }));
        let bits = match (family, kind) {
            (RSA, [4 | 5 | 11]) | (ECDSA, [1] | [3, 2]) => 256,
            (RSA, [14]) | (ECDSA, [3, 1]) => 224,
            (RSA, [12]) | (ECDSA, [3, 3]) => 384,
            (RSA, [13]) | (ECDSA, [3, 4]) => 512,
            // RSASSA-PSS names its hash in the first of its parameters; SHA-1 when it does not.
            (RSA, [10]) => {
                let hash = algorithm
                    .enter(SEQUENCE)?
                    .enter(0xa0)
                    .and_then(|mut it| it.enter(SEQUENCE)?.take(OBJECT));
                match hash.and_then(|it| it.strip_prefix(HASH)) {
                    None | Some([1]) => 256,
                    Some([4]) => 224,
                    Some([2]) => 384,
                    Some([3]) => 512,
                    Some(_) => return None,
                }
            }
            _ => return None,
        };
        Some(match bits {
            224 => Sha224::digest(der).to_vec(),
            384 => Sha384::digest(der).to_vec(),
            512 => Sha512::digest(der).to_vec(),
            _ => Sha256::digest(der).to_vec(),
        })
    }

    fn common_name(&self) -> Option<&'a [u8]> {
        let mut names = Der(self.subject);
        while let Some(mut set) = names.enter(SET) {
            while let Some(mut name) = set.enter(SEQUENCE) {
                if name.take(OBJECT) == Some(COMMON_NAME) {
                    return name.next().map(|it| it.1);
                }
            }
        }
        None
    }

    fn extension(&self, id: &[u8]) -> Option<&'a [u8]> {
        let mut all = Der(self.extensions);
        while let Some(mut one) = all.enter(SEQUENCE) {
            if one.take(OBJECT) == Some(id) {
                one.take(BOOLEAN); // critical
                return one.take(OCTET_STRING);
            }
        }
        None
    }
}

/// Algorithm identifier and bits of a SubjectPublicKeyInfo's content.
pub(crate) fn key_parts(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut key = Der(content);
    Some((key.take(SEQUENCE)?, bits(key.take(BIT_STRING)?)?))
}

/// Whether `name`, perhaps with a wildcard, covers `host`; ASCII letters compare without case.
fn matches(name: &[u8], host: &str) -> bool {
    let host = host.as_bytes();
    if name.contains(&0) {
        return false; // CVE-2009-4034
    }
    let under = |parent: &[u8]| {
        let label = host.len().checked_sub(parent.len())?;
        (!host[..label].contains(&b'.') && label > 0 && host[label..].eq_ignore_ascii_case(parent))
            .then_some(())
    };
    let wildcard = name.strip_prefix(b"*").filter(|parent| parent.len() > 1 && parent[0] == b'.');
    name.eq_ignore_ascii_case(host) || wildcard.and_then(under).is_some()
}

/// A bit string of whole bytes.
fn bits(content: &[u8]) -> Option<&[u8]> {
    content.strip_prefix(&[0])
}

/// The rest of a DER encoding.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next element: tag and content. Lengths up to 65535.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (head, length) = match *self.0 {
            [_, short, ..] if short < 0x80 => (2, usize::from(short)),
            [_, 0x81, long, ..] => (3, usize::from(long)),
            [_, 0x82, a, b, ..] => (4, usize::from(u16::from_be_bytes([a, b]))),
            _ => return None,
        };
        let content = self.0.get(head..head + length)?;
        let tag = self.0[0];
        self.0 = &self.0[head + length..];
        Some((tag, content))
    }

    /// The next element's content, if it has this tag; else stays.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let content = ahead.next().filter(|it| it.0 == tag)?.1;
        *self = ahead;
        Some(content)
    }

    fn enter(&mut self, tag: u8) -> Option<Der<'a>> {
        self.take(tag).map(Der)
    }

    fn with_head(&mut self, tag: u8) -> Option<&'a [u8]> {
        let before = self.0;
        self.take(tag)?;
        Some(&before[..before.len() - self.0.len()])
    }

    fn time(&mut self) -> Option<i64> {
        let (tag, text) = self.next()?;
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u16>().ok();
        let (year, rest) = match tag {
            UTC_TIME => {
                let year = number(text.get(..2)?)?;
                (if year < 50 { 2000 + year } else { 1900 + year }, &text[2..])
            }
            GENERALIZED_TIME => (number(text.get(..4)?)?, &text[4..]),
            _ => return None,
        };
        let [a, b, c, d, e, f, g, h, i, j, b'Z'] = *rest else { return None };
        let pair = |a: u8, b: u8| number(&[a, b]).map(i64::from);
        let (month, day) = (pair(a, b)?, pair(c, d)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        Some(
            days_since_1970(i64::from(year), month, day) * 86_400
                + pair(e, f)? * 3600
                + pair(g, h)? * 60
                + pair(i, j)?,
        )
    }
}

/// Proleptic Gregorian calendar, with the year begun in March so that the leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let month_from_march = (month + 9) % 12;
    year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (month_from_march * 153 + 2) / 5
        + day
        - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        let check = |(year, month, day), expected| assert_eq!(days_since_1970(year, month, day), expected);
        check((1970, 1, 1), 0);
        check((1970, 3, 1), 59);
        check((2000, 2, 29), 11_016);
        check((2024, 12, 31), 20_088);
        check((1969, 12, 31), -1);
    }

    #[test]
    fn names_with_wildcards() {
        let check = |name: &str, host: &str, expected: bool| {
            assert_eq!(matches(name.as_bytes(), host), expected, "{name} {host}");
        };
        check("db.example.com", "DB.example.com", true);
        check("*.example.com", "db.example.com", true);
        check("*.example.com", "a.db.example.com", false);
        check("*.example.com", ".example.com", false);
        check("*.example.com", "example.com", false);
        check("*", "localhost", false);
        check("*.", "localhost.", false);
        check("d*.example.com", "db.example.com", false);
        check("db\0.evil.com", "db", false);
    }

    fn fixture(name: &str) -> Vec<u8> {
        use rustls::pki_types::pem::PemObject;
        let path = format!("{}/tests/certs/{name}.crt", env!("CARGO_MANIFEST_DIR"));
        rustls::pki_types::CertificateDer::from_pem_file(path).unwrap().to_vec()
    }

    #[test]
    fn what_certificates_say() {
        let check = |name: &str, expected: &str| {
            let der = fixture(name);
            let it = Certificate::read(&der).unwrap();
            let common_name = it.common_name().map(|it| String::from_utf8_lossy(it).into_owned());
            let years = (it.not_after - it.not_before) / (365 * 86_400);
            let hash = Certificate::end_point(&der)
                .map(|it| it.iter().map(|it| format!("{it:02x}")).collect::<String>());
            let start = hash.as_deref().map_or("none", |it| &it[..8]);
            let shown = format!(
                "v{} {} authority {} {years} years, bound by {start} of {}",
                it.version,
                common_name.unwrap_or_default(),
                it.is_authority(),
                hash.as_ref().map_or(0, |it| it.len() * 4)
            );
            assert_eq!(shown, expected, "{name}");
        };
        // The hashes are those of `openssl x509 -outform der | sha256sum`, sha384sum, sha512sum.
        check("root", "v3 test root authority true 100 years, bound by 17584379 of 256");
        check("server", "v3 db.test authority false 100 years, bound by af039dc4 of 256");
        check("version1", "v1 db.test authority false 100 years, bound by 91f834d1 of 256");
        check("selfsigned", "v3 db.test authority true 100 years, bound by f8628e46 of 384");
        check("pss", "v3 pss authority true 100 years, bound by 4ae78ee7 of 512");
        check("ed25519", "v3 ed authority true 100 years, bound by none of 0");
    }

    #[test]
    fn damaged_certificates_do_no_harm() {
        for name in ["root", "server", "version1", "pss"] {
            let der = fixture(name);
            for at in 0..der.len() {
                for value in [0, 1, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xff] {
                    let mut damaged = der.clone();
                    damaged[at] = value;
                    Certificate::end_point(&damaged);
                    if let Some(it) = Certificate::read(&damaged) {
                        it.is_for("db.test");
                        it.is_authority();
                    }
                }
                assert!(Certificate::read(&der[..at]).is_none());
            }
        }
    }

    #[test]
    fn what_is_no_certificate() {
        for der in [
            &b""[..],
            b"\x30",
            b"\x30\x00",
            b"\x30\x82\xff\xff",
            b"\x30\x84\xff\xff\xff\xff",
            b"\x30\x03\x30\x01\x30",
        ] {
            assert!(Certificate::read(der).is_none());
            assert!(Certificate::end_point(der).is_none());
        }
    }
}
