//! Check of the wording in comments and documents: openings and phrases that a reader has to read twice.

use super::{Violation, tree::File, tree::Tree};

/// Words with which a doc comment must not begin, because the subject would be missing.
const OPENINGS: [&str; 7] = ["Of ", "What ", "Whatever ", "Who ", "Whom ", "Whose ", "The same "];

/// Phrases of the project's old dialect, with their replacements.
const PHRASES: [(&str, &str); 23] = [
    ("whoever", "name the subject, such as a client or a user"),
    ("is told", "\"is printed\", \"is reported\" or \"is returned\""),
    ("are told", "\"are printed\", \"are reported\" or \"are returned\""),
    ("woke its sleepers", "\"late timers\""),
    ("ordeal", "\"fault injection\""),
    ("inflict", "\"inject\""),
    ("nudge", "\"perturb\" or \"perturbation\""),
    ("stood still", "\"stalled\""),
    ("told of", "\"notified of\""),
    ("tells of", "\"reports\""),
    ("lasting", "\"with the duration\""),
    ("anew", "\"again\""),
    ("beside it", "\"next to it\" or \"with it\""),
    ("beside the", "\"next to\", \"in addition to\" or \"compared with\""),
    ("beside that", "\"next to that\" or \"in addition\""),
    ("beside each", "\"next to each\""),
    ("besides the", "\"in addition to\" or \"except\""),
    ("for want of", "\"without\" or \"because of the lack of\""),
    ("likewise", "\"also\" or \"in the same way\""),
    ("what is there", "the name of the things"),
    ("goes on", "\"continues\""),
    ("so many", "the number"),
    ("somebody", "the subject, such as a user or a program"),
];

pub fn dialect(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        openings(file, &mut all);
        phrases(file, file.text.lines().map(comment), &mut all);
    }
    for file in tree.files.iter().filter(|file| is_text(&file.path)) {
        phrases(file, file.text.lines(), &mut all);
    }
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let mut fenced = false;
        let prose = file.text.lines().map(|line| {
            fenced ^= line.trim_start().starts_with("```");
            if fenced || line.starts_with('>') { "" } else { line }
        });
        phrases(file, prose, &mut all);
    }
    all
}

/// True for files with texts: message catalogues and YAML files, such as experiment files. Fixtures are excluded,
/// because they are not rewritten.
fn is_text(path: &str) -> bool {
    let is_fixture = path.split('/').any(|part| part == "fixtures");
    path == "x" || ([".ftl", ".yaml", ".yml"].iter().any(|end| path.ends_with(end)) && !is_fixture)
}

/// Comment at the end of a line of Rust; empty without a comment. The slashes in a URL do not begin a comment.
fn comment(line: &str) -> &str {
    let mut slashes = line.match_indices("//").filter(|(at, _)| !line[..*at].ends_with(':'));
    slashes.next().map_or("", |(at, _)| &line[at + 2..])
}

/// Reports doc comments that begin with one of [`OPENINGS`], and module comments that begin with a question.
fn openings(file: &File, all: &mut Vec<Violation>) {
    let mut within = false;
    for (i, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        let text = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
        if let Some(text) = text.filter(|_| !within) {
            if let Some(opening) = OPENINGS.iter().find(|it| text.starts_with(**it)) {
                let message = format!("a doc comment begins with \"{}\"", opening.trim_end());
                all.push(Violation::new(&file.path, i + 1, message, "begin with the noun that it describes"));
            } else if line.starts_with("//! ") && text.ends_with('?') {
                let message = "a module is introduced by a question";
                all.push(Violation::new(&file.path, i + 1, message, "write a noun phrase"));
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
    fn finds_dialect_in_comments_and_texts() {
        for (phrase, _) in PHRASES {
            let comment = format!("// {phrase}\nlet a = \"{phrase}\";\n");
            let expected = check("docs/a.md", phrase);
            assert!(!expected.is_empty());
            assert_eq!(check("crates/load/src/a.rs", &comment), expected);
            assert_eq!(check("docs/a.md", &format!("```\n{phrase}\n```\n> {phrase}\n")), [""; 0]);
            for text in ["CHANGELOG.md", "x", "crates/report/messages/en.ftl", "experiments/a.yaml"] {
                assert_eq!(check(text, phrase), expected, "{text}");
            }
            assert_eq!(check("fixtures/runs/a.yaml", phrase), [""; 0]);
            assert_eq!(check("crates/load/src/a.rs", &format!("f(\"http://{phrase}\")")), [""; 0]);
        }
    }
}
