//! Rules of libpq for X.509 certificates that differ from webpki's.
//!
//! `webpki` verifies chains and `x509_parser` reads DER. This module adds libpq's comparison of names and the hash for
//! channel binding. It also accepts two kinds of certificates that webpki rejects. The first kind has X.509 version 1,
//! as created by the recipe in the PostgreSQL manual. The second kind is self-signed with the authority flag.

use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use std::net::IpAddr;
use x509_parser::asn1_rs::{Any, BitString, FromDer, Oid, Tag, oid};
use x509_parser::certificate::{X509Certificate, X509CertificateParser};
use x509_parser::extensions::{BasicConstraints, GeneralName, SubjectAlternativeName};
use x509_parser::nom::Parser;
use x509_parser::oid_registry::{
    OID_HASH_SHA1, OID_NIST_HASH_SHA256, OID_NIST_HASH_SHA384, OID_NIST_HASH_SHA512, OID_PKCS1_MD5WITHRSAENC,
    OID_PKCS1_RSASSAPSS, OID_PKCS1_SHA1WITHRSA, OID_PKCS1_SHA224WITHRSA, OID_PKCS1_SHA256WITHRSA,
    OID_PKCS1_SHA384WITHRSA, OID_PKCS1_SHA512WITHRSA, OID_SIG_ECDSA_WITH_SHA224, OID_SIG_ECDSA_WITH_SHA256,
    OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ECDSA_WITH_SHA512, OID_X509_EXT_BASIC_CONSTRAINTS,
    OID_X509_EXT_SUBJECT_ALT_NAME,
};
use x509_parser::signature_algorithm::RsaSsaPssParams;
use x509_parser::x509::{AlgorithmIdentifier, AttributeTypeAndValue, SubjectPublicKeyInfo, X509Version};

/// Certificate whose extensions were checked for duplicates.
#[derive(Clone, Debug)]
pub struct Certificate<'a> {
    parsed: X509Certificate<'a>,
    /// Content of the subject's alternative names.
    alternative_names: Option<&'a [u8]>,
    /// True if the basic constraints allow the certificate to sign other certificates.
    is_authority: bool,
}

impl<'a> Certificate<'a> {
    /// Parses the DER encoding of exactly one certificate; `None` if it is invalid.
    pub fn read(der: &'a [u8]) -> Option<Certificate<'a>> {
        // webpki parses the other extensions and rejects damaged extensions.
        let mut parser = X509CertificateParser::new().with_deep_parse_extensions(false);
        let (rest, parsed) = parser.parse(der).ok()?;
        let has_whole_bytes = |bits: &BitString<'_>| bits.unused_bits == 0;
        if !rest.is_empty()
            || !has_whole_bytes(&parsed.signature_value)
            || !has_whole_bytes(&parsed.public_key().subject_public_key)
        {
            return None;
        }
        let extension = |id: &Oid<'_>| Some(parsed.get_extension_unique(id).ok()?.map(|found| found.value));
        let constraints = extension(&OID_X509_EXT_BASIC_CONSTRAINTS)?;
        let is_authority =
            constraints.is_some_and(|der| BasicConstraints::from_der(der).is_ok_and(|it| it.1.ca));
        let alternative_names = extension(&OID_X509_EXT_SUBJECT_ALT_NAME)?;
        Some(Certificate { parsed, alternative_names, is_authority })
    }

    /// True if webpki accepts the certificate for a server: version 3, and not an authority.
    pub fn is_end_entity(&self) -> bool {
        self.parsed.version() == X509Version::V3 && !self.is_authority
    }

    /// DER encoding of the signed part.
    pub fn signed_bytes(&self) -> &[u8] {
        self.parsed.tbs_certificate.as_ref()
    }

    /// Algorithm and bytes of the signature.
    pub fn signature(&self) -> (&AlgorithmIdentifier<'a>, &[u8]) {
        (&self.parsed.signature_algorithm, &self.parsed.signature_value.data)
    }

    /// Issuer's name in webpki's form, without tag and length of its sequence.
    pub fn issuer(&self) -> Option<&'a [u8]> {
        Any::from_der(self.parsed.issuer.as_raw()).ok().map(|it| it.1.data)
    }

    /// First and last second of the certificate's validity, in seconds since 1970.
    pub fn validity(&self) -> (i64, i64) {
        let validity = self.parsed.validity();
        (validity.not_before.timestamp(), validity.not_after.timestamp())
    }

    /// Public key; its `raw` bytes include tag and length.
    pub fn key(&self) -> &SubjectPublicKeyInfo<'a> {
        &self.parsed.subject_pki
    }

    /// True if the certificate is valid for `host` by libpq's rules for `sslmode=verify-full`.
    ///
    /// `host` is compared with the alternative names of its kind (DNS name or address), or with the common name if
    /// there are none. `*` matches one whole leftmost label. Unreadable alternative names match no host.
    ///
    /// Source: PostgreSQL 15, `fe-secure-common.c` and `fe-secure-openssl.c`.
    pub fn matches_host(&self, host: &str) -> bool {
        let address = match host.parse() {
            Ok(IpAddr::V4(address)) => Some(address.octets().to_vec()),
            Ok(IpAddr::V6(address)) => Some(address.octets().to_vec()),
            Err(_) => None,
        };
        let mut look_at_common_name = true;
        if let Some(der) = self.alternative_names {
            let Ok((_, names)) = SubjectAlternativeName::from_der(der) else { return false };
            for name in &names.general_names {
                match name {
                    GeneralName::DNSName(name) if matches_name(name.as_bytes(), host) => return true,
                    GeneralName::IPAddress(name) if Some(*name) == address.as_deref() => return true,
                    GeneralName::DNSName(_) | GeneralName::Invalid(Tag(2), _) => {
                        look_at_common_name &= address.is_some();
                    }
                    GeneralName::IPAddress(_) => look_at_common_name &= address.is_none(),
                    _ => {}
                }
            }
        }
        look_at_common_name && self.common_name().is_some_and(|name| matches_name(name, host))
    }

    /// Hash of the certificate for channel binding with `tls-server-end-point`; RFC 5929, section 4.1.
    ///
    /// `None` if the signature algorithm has no hash, as in Ed25519.
    pub fn channel_binding_hash(&self) -> Option<Vec<u8>> {
        binding_hash(&self.parsed.signature_algorithm, self.parsed.as_raw())
    }

    fn common_name(&self) -> Option<&[u8]> {
        self.parsed.subject().iter_common_name().next().map(AttributeTypeAndValue::as_slice)
    }
}

/// Hash of `der` by the hash function of a signature algorithm; SHA-256 replaces MD5 and SHA-1.
/// Source: RFC 5929, section 4.1.
fn binding_hash(algorithm: &AlgorithmIdentifier<'_>, der: &[u8]) -> Option<Vec<u8>> {
    const OID_SIG_ECDSA_WITH_SHA1: Oid<'static> = oid!(1.2.840.10045.4.1);
    const OID_NIST_HASH_SHA224: Oid<'static> = oid!(2.16.840.1.101.3.4.2.4);
    const SHA224: [Oid<'static>; 3] =
        [OID_PKCS1_SHA224WITHRSA, OID_SIG_ECDSA_WITH_SHA224, OID_NIST_HASH_SHA224];
    const SHA256: [Oid<'static>; 7] = [
        OID_PKCS1_MD5WITHRSAENC,
        OID_PKCS1_SHA1WITHRSA,
        OID_PKCS1_SHA256WITHRSA,
        OID_SIG_ECDSA_WITH_SHA1,
        OID_SIG_ECDSA_WITH_SHA256,
        OID_HASH_SHA1,
        OID_NIST_HASH_SHA256,
    ];
    const SHA384: [Oid<'static>; 3] =
        [OID_PKCS1_SHA384WITHRSA, OID_SIG_ECDSA_WITH_SHA384, OID_NIST_HASH_SHA384];
    const SHA512: [Oid<'static>; 3] =
        [OID_PKCS1_SHA512WITHRSA, OID_SIG_ECDSA_WITH_SHA512, OID_NIST_HASH_SHA512];
    let pss;
    // The parameters of RSASSA-PSS name its hash.
    let named = if algorithm.algorithm == OID_PKCS1_RSASSAPSS {
        pss = RsaSsaPssParams::try_from(algorithm.parameters()?).ok()?;
        pss.hash_algorithm_oid()
    } else {
        &algorithm.algorithm
    };
    match named {
        named if SHA224.contains(named) => Some(Sha224::digest(der).to_vec()),
        named if SHA256.contains(named) => Some(Sha256::digest(der).to_vec()),
        named if SHA384.contains(named) => Some(Sha384::digest(der).to_vec()),
        named if SHA512.contains(named) => Some(Sha512::digest(der).to_vec()),
        _ => None,
    }
}

/// Parses an algorithm identifier in webpki's form, without tag and length of its sequence.
pub(crate) fn algorithm(content: &[u8]) -> Option<AlgorithmIdentifier<'_>> {
    let (parameters, id) = Oid::from_der(content).ok()?;
    let parameters = if parameters.is_empty() { None } else { Some(Any::from_der(parameters).ok()?.1) };
    Some(AlgorithmIdentifier::new(id, parameters))
}

/// Parses a public key in webpki's form, without tag and length of its sequence.
pub(crate) fn public_key(content: &[u8]) -> Option<SubjectPublicKeyInfo<'_>> {
    let (bits, algorithm) = AlgorithmIdentifier::from_der(content).ok()?;
    let (_, subject_public_key) = BitString::from_der(bits).ok()?;
    Some(SubjectPublicKeyInfo { algorithm, subject_public_key, raw: content })
}

/// True if `name`, possibly with a wildcard, matches `host`; ASCII letters compare case-insensitively.
fn matches_name(name: &[u8], host: &str) -> bool {
    let host = host.as_bytes();
    if name.contains(&0) {
        return false; // CVE-2009-4034
    }
    let is_child = |parent: &[u8]| {
        let label = host.len().checked_sub(parent.len())?;
        (!host[..label].contains(&b'.') && label > 0 && host[label..].eq_ignore_ascii_case(parent))
            .then_some(())
    };
    let wildcard = name.strip_prefix(b"*").filter(|parent| parent.len() > 1 && parent[0] == b'.');
    name.eq_ignore_ascii_case(host) || wildcard.and_then(is_child).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_wildcard_names() {
        let check = |name: &str, host: &str, expected: bool| {
            assert_eq!(matches_name(name.as_bytes(), host), expected, "{name} {host}");
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
    fn reads_certificate_fields() {
        let check = |name: &str, expected: &str| {
            let der = fixture(name);
            let certificate = Certificate::read(&der).unwrap();
            let common_name = certificate.common_name().map(|it| String::from_utf8_lossy(it).into_owned());
            let years = (certificate.validity().1 - certificate.validity().0) / (365 * 86_400);
            let hash = certificate
                .channel_binding_hash()
                .map(|digest| digest.iter().map(|it| format!("{it:02x}")).collect::<String>());
            let start = hash.as_deref().map_or("none", |it| &it[..8]);
            let shown = format!(
                "v{} {} authority {} {years} years, bound by {start} of {}",
                certificate.parsed.version().0 + 1,
                common_name.unwrap_or_default(),
                certificate.is_authority,
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
    fn damaged_certificates_do_not_panic() {
        for name in ["root", "server", "version1", "pss"] {
            let der = fixture(name);
            for at in 0..der.len() {
                for value in [0, 1, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xff] {
                    let mut damaged = der.clone();
                    damaged[at] = value;
                    if let Some(certificate) = Certificate::read(&damaged) {
                        certificate.matches_host("db.test");
                        certificate.channel_binding_hash();
                    }
                }
                assert!(Certificate::read(&der[..at]).is_none());
            }
        }
    }

    #[test]
    fn rejects_non_certificates() {
        for der in [
            &b""[..],
            b"\x30",
            b"\x30\x00",
            b"\x30\x82\xff\xff",
            b"\x30\x84\xff\xff\xff\xff",
            b"\x30\x03\x30\x01\x30",
        ] {
            assert!(Certificate::read(der).is_none());
        }
        let followed = [fixture("server"), vec![0]].concat();
        assert!(Certificate::read(&followed).is_none(), "trailing bytes are rejected");
    }
}
