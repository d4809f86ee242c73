//! Search for PostgreSQL installations on this machine

use model::message;
use model::message::Message;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Installed PostgreSQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// Directory that contains `postgres` and `initdb`.
    pub bin: PathBuf,
    pub version: Version,
    pub origin: Origin,
}

/// Version from `postgres --version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major version, such as 15 for 15.18.
    pub major: u32,
    /// Version as printed, with the packager's suffix, such as `15.18 (Debian 15.18-0+deb12u1)`.
    pub text: String,
}

/// Kind of place in which an installation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Directory given on the command line.
    Flag,
    /// Environment variable `PGDYNO_PG_BIN`.
    Variable,
    /// Directory that `pg_config --bindir` prints.
    PgConfig,
    Path,
    /// `/usr/lib/postgresql/*/bin`: Debian, Ubuntu.
    Debian,
    /// `/usr/pgsql-*/bin`: packages of the PostgreSQL project for the Red Hat family.
    RedHat,
    Homebrew,
    PostgresApp,
    /// Cache of downloaded servers, see [`crate::embedded`].
    Embedded,
}

/// Places to search, and the wanted version.
#[derive(Clone, Debug, Default)]
pub struct InstallationSearch {
    /// Directory from the command line; if set, no other place is searched.
    pub flag: Option<PathBuf>,
    /// Value of `PGDYNO_PG_BIN`; if set and there is no flag, no other place is searched.
    pub variable: Option<PathBuf>,
    /// Value of `PATH`.
    pub path: OsString,
    /// Parent of the packagers' directories: `/`, except in tests.
    pub root: PathBuf,
    /// Wanted major version; `None` means the newest.
    pub major: Option<u32>,
}

/// No usable server was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFoundError {
    pub major: Option<u32>,
    pub rejected: Vec<RejectedPlace>,
    /// Command that installs a server on this system.
    pub install: &'static str,
}

/// Place without a usable server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedPlace {
    pub origin: Origin,
    pub place: PathBuf,
    pub reason: Message,
}

impl Installation {
    /// True if a server can load this library, such as `pg_stat_statements`. Checks the library directories of Debian,
    /// of other packagers and of downloaded servers.
    pub fn has_library(&self, name: &str) -> bool {
        let file = format!("{name}.{}", if cfg!(target_os = "macos") { "dylib" } else { "so" });
        let lib = self.bin.join("../lib");
        ["", "postgresql"].iter().any(|it| lib.join(it).join(&file).exists())
    }
}

impl InstallationSearch {
    /// Creates a search of this machine, with this process's environment.
    pub fn from_environment(flag: Option<PathBuf>, major: Option<u32>) -> InstallationSearch {
        InstallationSearch {
            flag,
            variable: std::env::var_os("PGDYNO_PG_BIN").filter(|it| !it.is_empty()).map(PathBuf::from),
            path: std::env::var_os("PATH").unwrap_or_default(),
            root: PathBuf::from("/"),
            major,
        }
    }

    /// Finds the preferred installation.
    pub fn find_first(&self) -> Result<Installation, NotFoundError> {
        let (mut found, tried) = self.find_all();
        if found.is_empty() {
            return Err(NotFoundError {
                major: self.major,
                rejected: tried,
                install: install_command(&self.root),
            });
        }
        Ok(found.swap_remove(0))
    }

    /// Lists all installations in the order of preference, and the rejected places.
    pub fn find_all(&self) -> (Vec<Installation>, Vec<RejectedPlace>) {
        let (mut found, mut tried) = (Vec::<Installation>::new(), Vec::new());
        for (origin, place) in self.candidate_directories() {
            match server_version(&place) {
                Ok(version) if self.major.is_none_or(|it| it == version.major) => {
                    if found.iter().all(|it| !is_same_program(&it.bin, &place)) {
                        found.push(Installation { bin: place, version, origin });
                    }
                }
                Ok(version) => {
                    tried.push(RejectedPlace {
                        origin,
                        place,
                        reason: message!("server-other-version", version = version.text),
                    });
                }
                Err(reason) => tried.push(RejectedPlace { origin, place, reason: (&reason).into() }),
            }
        }
        (found, tried)
    }

    /// Lists directories to search, in the order of preference.
    fn candidate_directories(&self) -> Vec<(Origin, PathBuf)> {
        if let Some(directory) = &self.flag {
            return vec![(Origin::Flag, directory.clone())];
        }
        if let Some(directory) = &self.variable {
            return vec![(Origin::Variable, directory.clone())];
        }
        let mut places = Vec::new();
        let path: Vec<PathBuf> = std::env::split_paths(&self.path).filter(|it| it.is_absolute()).collect();
        if let Some(program) = path.iter().map(|it| it.join("pg_config")).find(|it| it.is_file()) {
            let answer = first_line(&program, "--bindir");
            places.extend(answer.map(|it| (Origin::PgConfig, PathBuf::from(it))));
        }
        places
            .extend(path.into_iter().filter(|it| it.join("postgres").exists()).map(|it| (Origin::Path, it)));
        for (origin, parent, prefix, bin) in PACKAGE_DIRECTORIES {
            let parent = self.root.join(parent);
            places
                .extend(versioned_directories(&parent, prefix).into_iter().map(|it| (*origin, it.join(bin))));
        }
        places
    }
}

/// Package directories: parent directory, prefix of a version's directory, and subdirectory of the programs.
const PACKAGE_DIRECTORIES: &[(Origin, &str, &str, &str)] = &[
    (Origin::Debian, "usr/lib/postgresql", "", "bin"),
    (Origin::RedHat, "usr", "pgsql-", "bin"),
    (Origin::Homebrew, "opt/homebrew/opt", "postgresql@", "bin"),
    (Origin::Homebrew, "usr/local/opt", "postgresql@", "bin"),
    (Origin::Homebrew, "home/linuxbrew/.linuxbrew/opt", "postgresql@", "bin"),
    (Origin::PostgresApp, "Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// Lists directories named `<prefix><number>` in `parent`, highest number first.
fn versioned_directories(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix(prefix)?.parse::<f32>().ok();
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<(f32, PathBuf)> =
        entries.filter_map(|it| Some((number(&it.path())?, it.path()))).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Reason why a directory contains no usable server. Messages print it after the path of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnusableServer {
    MissingProgram(&'static str),
    /// `postgres --version` fails.
    NoVersion,
    /// The output of `postgres --version`, quoted here, contains no version.
    UnknownVersion(String),
}

impl From<&UnusableServer> for Message {
    fn from(error: &UnusableServer) -> Message {
        match error {
            UnusableServer::MissingProgram(name) => message!("server-no-program", name = *name),
            UnusableServer::NoVersion => message!("server-no-version"),
            UnusableServer::UnknownVersion(line) => message!("server-unknown-version", line),
        }
    }
}

/// Reads the version of the server in `bin`.
pub(crate) fn server_version(bin: &Path) -> Result<Version, UnusableServer> {
    for program in ["postgres", "initdb"] {
        if !bin.join(program).is_file() {
            return Err(UnusableServer::MissingProgram(program));
        }
    }
    let line = first_line(&bin.join("postgres"), "--version").ok_or(UnusableServer::NoVersion)?;
    Version::parse(&line).ok_or(UnusableServer::UnknownVersion(line))
}

impl Version {
    /// Parses `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, also `17beta1` and `18devel`.
    fn parse(line: &str) -> Option<Version> {
        let text = line.split_once("(PostgreSQL)")?.1.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        Some(Version { major: text[..digits].parse().ok()?, text: text.to_owned() })
    }
}

fn first_line(program: &Path, argument: &str) -> Option<String> {
    let output =
        Command::new(program).arg(argument).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}

/// True if two directories contain the same program, possibly by links.
fn is_same_program(a: &Path, b: &Path) -> bool {
    let program = |it: &Path| it.join("postgres").canonicalize();
    a == b || matches!((program(a), program(b)), (Ok(a), Ok(b)) if a == b)
}

/// Command that installs a server on this system, according to `/etc/os-release`.
pub fn install_command(root: &Path) -> &'static str {
    let release = std::fs::read_to_string(root.join("etc/os-release")).unwrap_or_default();
    let families = release
        .lines()
        .filter_map(|it| it.strip_prefix("ID=").or_else(|| it.strip_prefix("ID_LIKE=")))
        .flat_map(|it| it.trim_matches('"').split(' '));
    for family in families {
        match family {
            "debian" | "ubuntu" => return "apt-get install postgresql postgresql-contrib",
            "fedora" | "rhel" | "centos" => return "dnf install postgresql-server postgresql-contrib",
            "alpine" => return "apk add postgresql postgresql-contrib",
            "arch" => return "pacman -S postgresql",
            "suse" | "opensuse" => return "zypper install postgresql-server postgresql-contrib",
            _ => {}
        }
    }
    if cfg!(target_os = "macos") { "brew install postgresql@17" } else { "see postgresql.org/download" }
}

impl From<Origin> for Message {
    fn from(origin: Origin) -> Message {
        match origin {
            Origin::Flag => message!("origin-flag"),
            Origin::Debian => message!("origin-debian"),
            Origin::RedHat => message!("origin-red-hat"),
            Origin::Variable => Message::text("PGDYNO_PG_BIN"),
            Origin::PgConfig => Message::text("pg_config"),
            Origin::Path => Message::text("PATH"),
            Origin::Homebrew => Message::text("Homebrew"),
            Origin::PostgresApp => Message::text("Postgres.app"),
            Origin::Embedded => message!("origin-embedded"),
        }
    }
}

impl From<&RejectedPlace> for Message {
    fn from(RejectedPlace { origin, place, reason }: &RejectedPlace) -> Message {
        message!(
            "server-rejected",
            origin = Message::from(*origin),
            place = place.display().to_string(),
            reason
        )
    }
}

impl From<&NotFoundError> for Message {
    fn from(NotFoundError { major, rejected, install }: &NotFoundError) -> Message {
        let rejected =
            rejected.iter().map(Message::from).reduce(|first, next| message!("error-lines", first, next));
        let rejected = rejected.unwrap_or_else(|| message!("server-places"));
        message!("server-not-found", major = major.map(|it| it.to_string()), rejected, install = *install)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Creates programs in a new directory: `place=version`, or `pg_config=bindir` if the value begins with `/`.
    fn create_programs(name: &str, programs: &[&str]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("pgdyno-find-{name}-{}", std::process::id()));
        let script = |path: PathBuf, prints: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, format!("#!/bin/sh\necho '{prints}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        std::fs::create_dir_all(&root).unwrap();
        for program in programs {
            let (place, value) = program.split_once('=').unwrap();
            if let Some(bindir) = value.strip_prefix('/') {
                script(root.join(place).join("pg_config"), &root.join(bindir).display().to_string());
            } else {
                script(root.join(place).join("postgres"), &format!("postgres (PostgreSQL) {value}"));
                script(root.join(place).join("initdb"), "");
            }
        }
        root
    }

    /// Searches for `major` (0: any) with `/on/path` as `PATH`; compares `directory origin version` of all results.
    fn check(name: &str, programs: &[&str], major: u32, flag: &str, variable: &str, expected: &str) {
        let root = create_programs(name, programs);
        let given = |it: &str| (!it.is_empty()).then(|| root.join(it));
        let search = InstallationSearch {
            flag: given(flag),
            variable: given(variable),
            path: root.join("on/path").into(),
            root: root.clone(),
            major: (major > 0).then_some(major),
        };
        let (found, tried) = search.find_all();
        let short = |path: &Path| path.strip_prefix(&root).unwrap_or(path).display().to_string();
        let found = found.iter().map(|it| format!("{} {:?} {}", short(&it.bin), it.origin, it.version.text));
        let tried = tried.iter().map(|it| format!("!{} {}", short(&it.place), it.reason.describe()));
        let got: Vec<String> = found.chain(tried).collect();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(got.join("; "), expected, "{name}");
    }

    #[test]
    fn finds_installations_in_order_of_preference() {
        let debian = &[
            "usr/lib/postgresql/9.6/bin=9.6.1",
            "usr/lib/postgresql/15/bin=15.2",
            "usr/lib/postgresql/17/bin=17.1",
        ];
        check("nothing", &[], 0, "", "", "");
        check(
            "newest-first",
            debian,
            0,
            "",
            "",
            "usr/lib/postgresql/17/bin Debian 17.1; usr/lib/postgresql/15/bin Debian 15.2; usr/lib/postgresql/9.6/bin Debian 9.6.1",
        );
        check(
            "by-version",
            debian,
            15,
            "",
            "",
            "usr/lib/postgresql/15/bin Debian 15.2; !usr/lib/postgresql/17/bin server-other-version(17.1); !usr/lib/postgresql/9.6/bin server-other-version(9.6.1)",
        );
        let mixed = &["usr/lib/postgresql/17/bin=17.1", "on/path=16.3", "own=18beta1"];
        check(
            "path-before-packages",
            mixed,
            0,
            "",
            "",
            "on/path Path 16.3; usr/lib/postgresql/17/bin Debian 17.1",
        );
        check("variable", mixed, 0, "", "own", "own Variable 18beta1");
        check("flag-before-variable", mixed, 0, "on/path", "own", "on/path Flag 16.3");
        check(
            "wrong-flag-is-not-passed-over",
            mixed,
            0,
            "nowhere",
            "",
            "!nowhere server-no-program(postgres)",
        );
        let config = &["on/path=/usr/lib/postgresql/15/bin", "usr/lib/postgresql/15/bin=15.2"];
        check("pg-config-once", config, 0, "", "", "usr/lib/postgresql/15/bin PgConfig 15.2");
        let rejected = &[
            "opt/homebrew/opt/postgresql@16/bin=16.1",
            "Applications/Postgres.app/Contents/Versions/17/bin=17.2",
        ];
        check(
            "macos",
            rejected,
            0,
            "",
            "",
            "opt/homebrew/opt/postgresql@16/bin Homebrew 16.1; Applications/Postgres.app/Contents/Versions/17/bin PostgresApp 17.2",
        );
    }

    #[test]
    fn parses_server_versions() {
        let check = |line: &str, expected: Option<(u32, &str)>| {
            let got = Version::parse(line);
            assert_eq!(got.as_ref().map(|it| (it.major, it.text.as_str())), expected, "{line}");
        };
        check(
            "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)",
            Some((15, "15.18 (Debian 15.18-0+deb12u1)")),
        );
        check("postgres (PostgreSQL) 18beta1", Some((18, "18beta1")));
        check("postgres (PostgreSQL) ", None);
        check("psql 15", None);
    }
}
