//! Text for a bug report: `pgdyno doctor --report`

use crate::version;
use std::path::Path;

/// Markdown text with places for the description, the version and the machine. It contains no statement, address or
/// environment variable, and `~` instead of the home directory, whose name is often that of a person.
pub fn bug_report(machine: &str, home: Option<&Path>) -> String {
    let home = home.and_then(Path::to_str).map(|it| it.trim_end_matches('/')).filter(|it| !it.is_empty());
    let machine = home.map_or(machine.to_owned(), |it| machine.replace(it, "~"));
    let version = version::describe(false);
    format!(
        "# Bug report\n\n## What I did\n\nThe command and, if you may share them, the experiment file and the run file.\n\n\
         ## What I expected\n\n## What happened\n\nThe whole output.\n\n## Version\n\n```text\n{}\n```\n\n\
         ## Machine\n\n```text\n{}\n```\n",
        version.trim_end(),
        machine.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_the_home_directory() {
        let machine = "PostgreSQL\n  17  /home/alice/pg/bin\n";
        for (home, expected) in [
            (Some("/home/alice"), "~/pg/bin"),
            (Some("/home/alice/"), "~/pg/bin"),
            (Some("/"), "/home/alice/pg/bin"),
            (None, "/home/alice/pg/bin"),
        ] {
            let text = bug_report(machine, home.map(Path::new));
            assert!(text.contains(&format!("  17  {expected}\n```")), "{text}");
            assert!(text.contains("## Version\n\n```text\npgdyno "), "{text}");
        }
    }
}
