//! Encryption of assignments: X25519, HKDF-SHA-256 and ChaCha20-Poly1305
//!
//! An assignment contains passwords. NATS servers and everybody who may subscribe to their subjects would see them, so
//! the coordinator encrypts an assignment for each agent. Each lease has a key of its own; its secret parts exist in
//! memory only. This protects from listeners. That no impostor answers as an agent is the task of NATS accounts.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::SystemRandom;
use std::fmt;

/// Half of a key agreement, which serves one lease.
pub struct KeyHalf {
    private: EphemeralPrivateKey,
    public: Vec<u8>,
}

/// Key that both sides of a lease know.
pub struct LeaseKey(LessSafeKey);

/// Error: no random numbers, a wrong public key, or bytes that were not encrypted with this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealError;

impl From<ring::error::Unspecified> for SealError {
    fn from(_: ring::error::Unspecified) -> SealError {
        SealError
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the encrypted assignment cannot be read")
    }
}

impl std::error::Error for SealError {}

impl fmt::Debug for KeyHalf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHalf")
    }
}

impl fmt::Debug for LeaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseKey")
    }
}

impl KeyHalf {
    pub fn new() -> Result<KeyHalf, SealError> {
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new())?;
        let public = private.compute_public_key()?.as_ref().to_vec();
        Ok(KeyHalf { private, public })
    }

    /// Public part, for the other side.
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// Agrees on the key with the other side's public part. `lease` identifies the lease, and is the same on both sides.
    pub fn agree(self, other: &[u8], lease: &[u8]) -> Result<LeaseKey, SealError> {
        // Both sides put the two public keys in the same order.
        let mut publics = [self.public.clone(), other.to_vec()];
        publics.sort_unstable();
        let other = UnparsedPublicKey::new(&X25519, other);
        agree_ephemeral(self.private, &other, |secret| {
            let extracted = Salt::new(HKDF_SHA256, &publics.concat()).extract(secret);
            let info = [b"pgdyno lease".as_slice(), lease];
            let key = UnboundKey::from(extracted.expand(&info, &CHACHA20_POLY1305)?);
            Ok(LeaseKey(LessSafeKey::new(key)))
        })?
    }
}

impl LeaseKey {
    /// Encrypts chunk `chunk` of document `document`. A number may only be used for the same bytes again.
    pub fn seal(&self, document: u32, chunk: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>, SealError> {
        self.0.seal_in_place_append_tag(nonce(document, chunk), Aad::empty(), &mut bytes)?;
        Ok(bytes)
    }

    /// Decrypts what [`LeaseKey::seal`] returned for the same document and chunk.
    pub fn open(&self, document: u32, chunk: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>, SealError> {
        let length = self.0.open_in_place(nonce(document, chunk), Aad::empty(), &mut bytes)?.len();
        bytes.truncate(length);
        Ok(bytes)
    }
}

fn nonce(document: u32, chunk: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..4].copy_from_slice(&document.to_be_bytes());
    bytes[4..].copy_from_slice(&chunk.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(lease: &[u8], other_lease: &[u8]) -> (LeaseKey, LeaseKey) {
        let (one, other) = (KeyHalf::new().expect("random"), KeyHalf::new().expect("random"));
        let (public, other_public) = (one.public().to_vec(), other.public().to_vec());
        let one = one.agree(&other_public, lease).expect("a public key");
        (one, other.agree(&public, other_lease).expect("a public key"))
    }

    #[test]
    fn only_the_same_lease_document_and_chunk_opens() {
        let secret = b"password=hunter2".to_vec();
        let (one, other) = pair(b"lease", b"lease");
        let sealed = one.seal(7, 3, secret.clone()).expect("sealed");
        assert!(!sealed.windows(7).any(|it| it == b"hunter2"));
        assert_eq!(other.open(7, 3, sealed.clone()), Ok(secret));
        assert_eq!(other.open(7, 4, sealed.clone()), Err(SealError));
        assert_eq!(other.open(8, 3, sealed.clone()), Err(SealError));
        let mut damaged = sealed.clone();
        damaged[0] ^= 1;
        assert_eq!(other.open(7, 3, damaged), Err(SealError));
        assert_eq!(pair(b"lease", b"lease").1.open(7, 3, sealed), Err(SealError));
        let (one, other) = pair(b"lease", b"other");
        let sealed = one.seal(0, 0, b"it".to_vec()).expect("sealed");
        assert_eq!(other.open(0, 0, sealed), Err(SealError));
    }

    #[test]
    fn rejects_bytes_that_are_no_key() {
        for bytes in [&b""[..], b"short", &[0; 32]] {
            assert_eq!(KeyHalf::new().expect("random").agree(bytes, b"").err(), Some(SealError));
        }
    }
}
