//! Check for markers of unfinished work.

use super::{Violation, tree::Tree};

/// Words that mark unfinished work, split so that this file does not match itself.
const LEFTOVERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "ignore"),
];

const EXTENSIONS: [&str; 10] = ["rs", "md", "sh", "toml", "yml", "yaml", "sql", "py", "ts", "css"];

pub fn leftovers(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in &tree.files {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let searched = name.rsplit_once('.').is_none_or(|(_, kind)| EXTENSIONS.contains(&kind));
        for (i, line) in file.text.lines().enumerate().filter(|_| searched) {
            for word in LEFTOVERS.iter().filter(|word| contains_word(line, word)) {
                let todo = "do it now, or open an issue and delete the line";
                all.push(Violation::new(&file.path, i + 1, format!("`{word}` is left here"), todo));
            }
        }
    }
    all
}

/// True if the line contains the word as a whole word.
fn contains_word(line: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(i, _)| {
        let free = |c: Option<char>| !c.is_some_and(letter);
        let ends_free = !word.ends_with(letter) || free(line[i + word.len()..].chars().next());
        ends_free && (!word.starts_with(letter) || free(line[..i].chars().next_back()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn finds_leftovers() {
        for (i, word) in LEFTOVERS.iter().enumerate() {
            let text = format!("one\n// {word} {i}\n");
            let wanted = [format!("a/b.rs:2: `{word}` is left here")];
            assert_eq!(violations(leftovers, &[("a/b.rs", &text)]), wanted);
        }
        let harmless = format!("mktemp /tmp/x.{0}{0}\nLAST{1}\n", LEFTOVERS[2], LEFTOVERS[0]);
        assert_eq!(violations(leftovers, &[("x", &harmless), ("capture.bin", LEFTOVERS[0])]), [""; 0]);
        assert_eq!(violations(leftovers, &[("x", &format!("# {}: y\n", LEFTOVERS[0]))]).len(), 1);
    }
}
