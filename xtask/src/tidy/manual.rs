//! Checks of the manual: its index lists every page, and its translations follow their originals.

use super::{Violation, tree::File, tree::Tree};
use crate::markdown::{headings, resolve, sections};

/// Directories of the manual. The file README.md of each is its index.
const FOLDERS: [&str; 2] = ["docs", "docs/ru"];
const TRANSLATIONS: &str = "docs/ru";
/// Translated page outside the manual.
const TRANSLATED_README: &str = "README.ru.md";

/// Pages of a directory, without its index.
fn pages<'a>(tree: &'a Tree, folder: &'a str) -> impl Iterator<Item = &'a File> {
    tree.files.iter().filter(move |file| {
        let name = file.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or("");
        name.ends_with(".md") && !name.contains('/') && name != "README.md"
    })
}

/// Reports pages that their index does not list exactly once.
pub fn index(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for folder in FOLDERS {
        let path = format!("{folder}/README.md");
        let Some(index) = tree.get(&path) else {
            all.push(Violation::new(&path, 1, "the index of the manual is missing", "write it"));
            continue;
        };
        let sections = sections(&index.text);
        let rows = || sections.iter().flat_map(|section| &section.pages);
        for page in pages(tree, folder) {
            let mut listed = rows().filter(|row| resolve(&path, row.target) == page.path);
            if listed.next().is_none() {
                let message = format!("{} is not listed", page.path);
                all.push(Violation::new(&path, 1, message, "add its row to a table"));
            }
            for row in listed {
                let message = format!("{} is listed twice", page.path);
                all.push(Violation::new(&path, row.line, message, "delete one of the rows"));
            }
        }
    }
    all
}

/// Beginning of the comment in which a translation lists the headings of its original, one per line.
const MARK: &str = "<!-- translation of ";

/// Reports translations whose original's headings have changed since the translation was made.
pub fn translations(tree: &Tree) -> Vec<Violation> {
    pages(tree, TRANSLATIONS)
        .chain(tree.get(TRANSLATED_README))
        .filter_map(|page| stale(tree, page))
        .collect()
}

fn stale(tree: &Tree, page: &File) -> Option<Violation> {
    let violation = |line, message: String, fix: String| Some(Violation::new(&page.path, line, message, fix));
    let Some((text, comment)) = page.text.split_once(MARK) else {
        let fix = format!("end it with `{MARK}PAGE`, the page's headings on lines of their own, and `-->`");
        return violation(1, "the translation does not name its original".to_owned(), fix);
    };
    let first = text.lines().count() + 1;
    let mut lines = comment.lines().map(str::trim);
    let target = lines.next().unwrap_or("");
    let Some(original) = tree.get(&resolve(&page.path, target)) else {
        return violation(
            first,
            format!("its original `{target}` does not exist"),
            "mend the path".to_owned(),
        );
    };
    let mut recorded = lines.take_while(|line| *line != "-->");
    let mut translations = headings(text);
    for (line, heading) in headings(&original.text) {
        let place = format!("{}:{line}", original.path);
        if recorded.next() != Some(heading) {
            let message = format!("the translation does not know the heading `{heading}` of {place}");
            return violation(first, message, "translate what changed, then record the heading".to_owned());
        }
        let level = |heading: &str| heading.chars().take_while(|c| *c == '#').count();
        match translations.next() {
            Some((_, translated)) if level(translated) == level(heading) => {}
            Some((line, _)) => {
                let message = format!("the heading has another level than `{heading}` of {place}");
                return violation(line, message, "give both the same level".to_owned());
            }
            None => {
                let message = format!("the heading `{heading}` of {place} is not translated");
                return violation(first, message, "translate it".to_owned());
            }
        }
    }
    if let Some(heading) = recorded.next() {
        let message = format!("{} no longer has the heading `{heading}`", original.path);
        return violation(first, message, "delete what was translated, then the record".to_owned());
    }
    let (line, _) = translations.next()?;
    violation(line, format!("{} has no such heading", original.path), "delete it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn finds_pages_that_are_not_listed_once() {
        let russian = ("docs/ru/README.md", "## A\n| [a](../a.md) | |\n");
        let text = "# Index\n[b](b.md)\n\n## Tasks\n\n| [a](a.md#x) | text [c](c.md) |\n| [a](a.md) | |\n";
        let files =
            [("docs/README.md", text), russian, ("docs/a.md", ""), ("docs/b.md", ""), ("docs/c.md", "")];
        assert_eq!(
            violations(index, &files),
            [
                "docs/README.md:1: docs/b.md is not listed",
                "docs/README.md:1: docs/c.md is not listed",
                "docs/README.md:7: docs/a.md is listed twice",
            ]
        );
        let missing = "docs/ru/README.md:1: the index of the manual is missing";
        assert_eq!(violations(index, &[("docs/README.md", "")]), [missing]);
    }

    #[test]
    fn finds_stale_translations() {
        let comment = "\n<!-- translation of ../a.md\n  # Title\n  ## Use\n-->\n";
        let check = |original: &str, text: &str, expected: &[&str]| {
            let files = [("docs/a.md", original), ("docs/ru/a.md", text)];
            assert_eq!(violations(translations, &files), expected, "{original:?}, {text:?}");
        };
        let page = format!("# Имя\n## Применение{comment}");
        check("# Title\ntext\n## Use\n", &page, &[]);
        check(
            "# Title\n## Uses\n",
            &page,
            &["docs/ru/a.md:3: the translation does not know the heading `## Uses` of docs/a.md:2"],
        );
        check("# Title\n", &page, &["docs/ru/a.md:3: docs/a.md no longer has the heading `## Use`"]);
        let short = format!("# Имя{comment}");
        check(
            "# Title\n## Use\n",
            &short,
            &["docs/ru/a.md:2: the heading `## Use` of docs/a.md:2 is not translated"],
        );
        let long = format!("# Имя\n## Применение\n## Ещё{comment}");
        check("# Title\n## Use\n", &long, &["docs/ru/a.md:3: docs/a.md has no such heading"]);
        let deeper = format!("# Имя\n### Применение{comment}");
        check(
            "# Title\n## Use\n",
            &deeper,
            &["docs/ru/a.md:2: the heading has another level than `## Use` of docs/a.md:2"],
        );
        check("# Title\n", "# Имя\n", &["docs/ru/a.md:1: the translation does not name its original"]);
        let files =
            [("README.md", "# Title\n"), ("README.ru.md", "# Имя\n<!-- translation of README.md\n-->\n")];
        let unknown = "README.ru.md:2: the translation does not know the heading `# Title` of README.md:1";
        assert_eq!(violations(translations, &files), [unknown]);
        let lost = "# Имя\n<!-- translation of b.md\n-->\n";
        check("# Title\n", lost, &["docs/ru/a.md:2: its original `b.md` does not exist"]);
    }
}
