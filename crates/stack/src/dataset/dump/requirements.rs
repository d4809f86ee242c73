//! Roles and extensions that a dump requires

use super::quoting::Open;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names as they are written in the dump, with their quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    pub roles: BTreeSet<String>,
    pub extensions: BTreeSet<String>,
    /// Number of the first line that connects to another database.
    pub other_database: Option<u64>,
}

/// Requirements of an archive, from the definitions that `pg_restore` prints.
pub(super) fn of_archive(pg_restore: &Path, archive: &Path) -> io::Result<Requirements> {
    let mut command = Command::new(pg_restore);
    command.args(["--schema-only", "--file=-"]).arg(archive);
    of_output(command)
}

/// Requirements of an SQL file. If `decompressor` is given, it decompresses the file.
pub(super) fn of_sql(decompressor: Option<&Path>, file: &Path) -> io::Result<Requirements> {
    let Some(decompressor) = decompressor else { return scan(BufReader::new(File::open(file)?)) };
    let mut command = Command::new(decompressor);
    command.arg("-dc").arg("--").arg(file);
    of_output(command)
}

fn of_output(mut command: Command) -> io::Result<Requirements> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    // A failing program prints only a few lines to its standard error, which fit into the pipe.
    let scanned = scan(BufReader::new(stdout));
    let mut error = String::new();
    stderr.by_ref().take(4096).read_to_string(&mut error)?;
    let status = child.wait()?;
    let scanned = scanned?;
    match status.success() {
        true => Ok(scanned),
        false => Err(io::Error::other(error.trim().to_owned())),
    }
}

fn scan(mut text: impl BufRead) -> io::Result<Requirements> {
    let mut found = Requirements::default();
    let mut created = BTreeSet::new();
    let (mut line, mut number, mut in_copy, mut open) = (Vec::new(), 0, false, Open::Nothing);
    loop {
        line.clear();
        number += 1;
        // Data may contain lines of any length; statements that name roles are short.
        if (&mut text).take(LINE_MAX).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if in_copy {
            in_copy = line.trim_ascii_end() != b"\\.";
            continue;
        }
        // A line within a text is no statement, whatever its words are.
        let is_within = open != Open::Nothing;
        open = open.after(&line);
        if is_within {
            continue;
        }
        let Ok(statement) = str::from_utf8(line.trim_ascii()) else { continue };
        in_copy = statement.starts_with("COPY ") && statement.ends_with("FROM stdin;");
        if statement.starts_with("\\connect") && found.other_database.is_none() {
            found.other_database = Some(number);
        }
        if let Some(name) = statement.strip_prefix("CREATE ROLE ") {
            created.extend(identifiers(name).into_iter().next());
        }
        if let Some(name) = statement.strip_prefix("CREATE EXTENSION ") {
            let name = name.strip_prefix("IF NOT EXISTS ").unwrap_or(name);
            found.extensions.extend(identifiers(name).into_iter().next());
        }
        found.roles.extend(roles(statement));
    }
    found.roles.retain(|role| !created.contains(role));
    Ok(found)
}

/// Maximum length of a line that is examined, bytes. The rest of a longer line is examined as further lines.
const LINE_MAX: u64 = 1 << 20;

/// Roles that a statement names.
fn roles(statement: &str) -> Vec<String> {
    let after = |keyword: &str| statement.split_once(keyword).map(|it| identifiers(it.1));
    let owner = || after(" OWNER TO ").map(first);
    let default = || after("ALTER DEFAULT PRIVILEGES FOR ROLE ").map(first);
    let mut all = match statement.split(' ').next() {
        Some("ALTER") => owner().into_iter().chain(default()).flatten().collect(),
        Some("SET") => {
            after("SET SESSION AUTHORIZATION ").or_else(|| after("SET ROLE ")).map(first).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    if statement.starts_with("GRANT ")
        || statement.starts_with("ALTER DEFAULT")
        || statement.starts_with("CREATE POLICY")
    {
        all.extend(after(" TO ").unwrap_or_default());
    }
    if statement.starts_with("REVOKE ") {
        all.extend(after(" FROM ").unwrap_or_default());
    }
    let special = ["PUBLIC", "CURRENT_USER", "SESSION_USER", "CURRENT_ROLE", "DEFAULT"];
    all.retain(|name| !special.contains(&name.as_str()));
    all
}

fn first(mut names: Vec<String>) -> Vec<String> {
    names.truncate(1);
    names
}

/// Identifiers at the beginning of a text, separated by commas, with their quotes. A string literal counts as an
/// identifier, as in `SET SESSION AUTHORIZATION 'shop'`.
fn identifiers(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let quote = rest.chars().next().filter(|it| ['"', '\''].contains(it));
        let end = match quote {
            Some(quote) => rest[1..].find(quote).map(|at| at + 2),
            None => rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).or(Some(rest.len())),
        };
        let Some(end) = end.filter(|it| *it > 0) else { return names };
        let name = rest[..end].trim_matches('\'');
        names.extend((!name.is_empty()).then(|| name.to_owned()));
        rest = match rest[end..].trim_start().strip_prefix(',') {
            Some(more) => more.trim_start(),
            None => return names,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_roles_and_extensions() {
        let check = |text: &str, roles: &[&str], extensions: &[&str]| {
            let found = scan(text.as_bytes()).expect("memory can be read");
            assert_eq!(found.roles.iter().collect::<Vec<_>>(), roles, "{text}");
            assert_eq!(found.extensions.iter().collect::<Vec<_>>(), extensions, "{text}");
        };
        check("ALTER TABLE public.goods OWNER TO shop;\n", &["shop"], &[]);
        check("ALTER TABLE public.goods OWNER TO \"Shop Owner\";\n", &["\"Shop Owner\""], &[]);
        check(
            "GRANT SELECT ON TABLE public.goods TO reader, writer WITH GRANT OPTION;\n",
            &["reader", "writer"],
            &[],
        );
        check("GRANT USAGE ON SCHEMA shop TO PUBLIC;\n", &[], &[]);
        check("REVOKE ALL ON TABLE a FROM b;\n", &["b"], &[]);
        check("SET SESSION AUTHORIZATION 'shop';\n", &["shop"], &[]);
        check(
            "ALTER DEFAULT PRIVILEGES FOR ROLE shop GRANT SELECT ON TABLES TO reader;\n",
            &["reader", "shop"],
            &[],
        );
        check("CREATE ROLE shop;\nALTER TABLE a OWNER TO shop;\n", &[], &[]);
        check("CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;\n", &[], &["pg_trgm"]);
        check("CREATE EXTENSION \"uuid-ossp\";\n", &[], &["\"uuid-ossp\""]);
        check("SET standard_conforming_strings = on;\n", &[], &[]);
        // Rows are not statements.
        check(
            "COPY public.notes (text) FROM stdin;\nGRANT ALL ON a TO b;\n\\.\nGRANT x TO y;\n",
            &["y"],
            &[],
        );
        check("ALTER TABLE a OWNER TO", &[], &[]);
        check("GRANT a TO \"unfinished", &[], &[]);
        check("\u{fffd}\n", &[], &[]);
        check("GRANT a TO '';\n", &[], &[]);
        // Texts are not statements.
        let text = "'To monitor it:\nGRANT pg_monitor TO '''';\nCREATE EXTENSION x;\n'";
        check(&format!("INSERT INTO notes VALUES ({text});\nGRANT a TO b;\n"), &["b"], &[]);
    }

    #[test]
    fn finds_the_line_that_connects_elsewhere() {
        let check = |text: &str, expected: Option<u64>| {
            let found = scan(text.as_bytes()).expect("memory can be read");
            assert_eq!(found.other_database, expected, "{text}");
        };
        check("-- a dump\n\\connect shop\n\\connect other\n", Some(2));
        check("COPY a FROM stdin;\n\\connect shop\n\\.\n", None);
    }

    #[test]
    fn reports_errors_of_programs() {
        let error = of_sql(Some(Path::new("/bin/false")), Path::new("/dev/null")).unwrap_err();
        assert_eq!(error.to_string(), "");
        let missing = of_archive(Path::new("/nonexistent/pg_restore"), Path::new("/dev/null"));
        assert!(missing.is_err());
    }
}
