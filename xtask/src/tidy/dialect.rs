//! Check of the wording in comments and documents: openings and phrases that a reader has to read twice.

use super::{Violation, tree::File, tree::Tree};

/// Words with which no doc comment begins, because its subject would be missing.
const OPENINGS: [&str; 7] = ["Of ", "What ", "Whatever ", "Who ", "Whom ", "Whose ", "The same "];

/// Phrases of the project's old dialect, with their replacements.
const PHRASES: [(&str, &str); 8] = [
    ("whoever", "name the subject, such as a client or a user"),
    ("is told", "\"is printed\", \"is reported\" or \"is returned\""),
    ("are told", "\"are printed\", \"are reported\" or \"are returned\""),
    ("woke its sleepers", "\"late timers\""),
    ("ordeal", "\"fault injection\""),
    ("inflict", "\"inject\""),
    ("nudge", "\"perturb\" or \"perturbation\""),
    ("stood still", "\"stalled\""),
];

/// Pages that record history and are not rewritten.
const HISTORY: [&str; 1] = ["CHANGELOG.md"];

pub fn dialect(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        openings(file, &mut all);
        let comments = file.text.lines().map(|line| line.split_once("//").map_or("", |(_, comment)| comment));
        phrases(file, comments, &mut all);
    }
    let is_page = |file: &&File| file.path.ends_with(".md") && !HISTORY.contains(&file.path.as_str());
    for file in tree.files.iter().filter(is_page) {
        let mut fenced = false;
        let prose = file.text.lines().map(|line| {
            fenced ^= line.trim_start().starts_with("```");
            if fenced || line.starts_with('>') { "" } else { line }
        });
        phrases(file, prose, &mut all);
    }
    all
}

/// The first lines of doc comments.
fn openings(file: &File, all: &mut Vec<Violation>) {
    let mut within = false;
    for (i, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        let text = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
        if let Some(text) = text.filter(|_| !within) {
            if let Some(opening) = OPENINGS.iter().find(|it| text.starts_with(**it)) {
                let what = format!("a doc comment begins with \"{}\"", opening.trim_end());
                all.push(Violation::new(&file.path, i + 1, what, "begin with the noun that it describes"));
            } else if line.starts_with("//! ") && text.ends_with('?') {
                let what = "a module is introduced by a question";
                all.push(Violation::new(&file.path, i + 1, what, "write a noun phrase"));
            }
        }
        within = line.starts_with("///") || line.starts_with("//!");
    }
}

fn phrases<'a>(file: &File, lines: impl Iterator<Item = &'a str>, all: &mut Vec<Violation>) {
    for (i, line) in lines.enumerate() {
        let line = line.to_lowercase();
        for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| line.contains(phrase)) {
            let todo = format!("write {instead}");
            all.push(Violation::new(&file.path, i + 1, format!("\"{phrase}\" is dialect"), todo));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        let all = dialect(&Tree::from_files(&[(path, text)]));
        all.iter().map(|it| format!("{}: {}", it.line, it.message)).collect()
    }

    #[test]
    fn finds_doc_comments_without_a_subject() {
        for opening in OPENINGS {
            let text = format!(
                "//! Shard.\n\n    /// {opening}a session.\n    /// What follows is free.\nfn f() {{}}\n"
            );
            let expected = format!("3: a doc comment begins with \"{}\"", opening.trim_end());
            assert_eq!(check("crates/load/src/a.rs", &text), [expected]);
        }
        let question = "//! How late is a thread woken?\n";
        assert_eq!(check("crates/load/src/a.rs", question), ["1: a module is introduced by a question"]);
        assert_eq!(check("crates/load/src/a.rs", "//! Timer jitter.\n/// Official name.\n"), [""; 0]);
    }

    #[test]
    fn finds_dialect_in_comments_and_pages_only() {
        for (phrase, _) in PHRASES {
            let comment = format!("// {phrase}\nlet a = \"{phrase}\";\n");
            let expected = check("docs/a.md", phrase);
            assert!(!expected.is_empty());
            assert_eq!(check("crates/load/src/a.rs", &comment), expected);
            assert_eq!(check("docs/a.md", &format!("```\n{phrase}\n```\n> {phrase}\n")), [""; 0]);
            assert_eq!(check("CHANGELOG.md", phrase), [""; 0]);
        }
    }
}
