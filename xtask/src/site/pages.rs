//! Pages of the site: their paths, tables of contents and links.

use super::Book;
use crate::markdown::{links, resolve, sections};
use crate::tidy::tree::Tree;
use std::collections::BTreeMap;

/// Pages of all books, by path from the project's root.
pub struct Plan<'a> {
    tree: &'a Tree,
    books: &'a [Book],
    pages: BTreeMap<String, Page>,
}

#[derive(Debug)]
struct Page {
    book: Book,
    /// Place in the book's directory `src`, such as `run.md`.
    place: String,
}

/// File of a book's directory `src`.
pub struct BookFile {
    pub book: Book,
    pub place: String,
    pub content: Content,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// Path from the project's root.
    Copy(String),
}

impl<'a> Plan<'a> {
    pub fn new(tree: &'a Tree, books: &'a [Book]) -> Plan<'a> {
        let mut pages = BTreeMap::new();
        for book in books {
            let folder = folder(book.index);
            let listed = tree.get(book.index).map_or(Vec::new(), |file| sections(&file.text));
            let targets = listed.iter().flat_map(|section| &section.pages).map(|page| page.target);
            for path in
                std::iter::once(book.index.to_owned()).chain(targets.map(|it| resolve(book.index, it)))
            {
                // The Russian index also lists English pages, which belong to the English book.
                let is_inside = book.place.is_empty() || path.starts_with(&format!("{folder}/"));
                if is_inside {
                    let place = place(folder, &path);
                    pages.entry(path).or_insert(Page { book: *book, place });
                }
            }
        }
        Plan { tree, books, pages }
    }

    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// All files of the books, or the links that lead nowhere.
    pub fn files(&self) -> Result<Vec<BookFile>, Vec<String>> {
        let mut files = Vec::new();
        let mut copies: BTreeMap<String, Book> = BTreeMap::new();
        let mut dead = Vec::new();
        for book in self.books {
            let place = "SUMMARY.md".to_owned();
            files.push(BookFile { book: *book, place, content: Content::Text(self.summary(book)) });
        }
        for (path, page) in &self.pages {
            match self.tree.get(path) {
                Some(file) => {
                    let text = self.with_site_links(path, page, &file.text, &mut copies, &mut dead);
                    files.push(BookFile {
                        book: page.book,
                        place: page.place.clone(),
                        content: Content::Text(text),
                    });
                }
                None => dead.push(format!("{path} is listed but does not exist")),
            }
        }
        for (path, book) in copies {
            let place = place("docs", &path);
            files.push(BookFile { book, place, content: Content::Copy(path) });
        }
        if dead.is_empty() { Ok(files) } else { Err(dead) }
    }

    /// mdBook's table of contents, from the tables of the index.
    fn summary(&self, book: &Book) -> String {
        let Some(index) = self.tree.get(book.index) else { return String::new() };
        let title = index.text.lines().next().unwrap_or("").trim_start_matches('#').trim();
        let mut text = format!("# Summary\n\n[{title}](index.md)\n");
        for section in sections(&index.text) {
            let mut rows = Vec::new();
            for row in &section.pages {
                let path = resolve(book.index, row.target);
                let page = self.pages.get(&path).filter(|page| page.book == *book);
                if let Some(page) = page.filter(|_| path != book.index) {
                    rows.push(format!("- [{}]({})\n", row.title, page.place));
                }
            }
            if !rows.is_empty() {
                text += &format!("\n# {}\n\n{}", section.title, rows.concat());
            }
        }
        text
    }

    /// The page's text, with links adapted to the site. Files that are no pages are copied into the English book.
    fn with_site_links(
        &self,
        path: &str,
        page: &Page,
        text: &str,
        copies: &mut BTreeMap<String, Book>,
        dead: &mut Vec<String>,
    ) -> String {
        let mut result = String::new();
        let mut end = 0;
        for link in links(text) {
            let target = &text[link.target.clone()];
            if target.starts_with('#') || target.contains(':') {
                continue;
            }
            let anchor = target.split_once('#').map_or(String::new(), |(_, anchor)| format!("#{anchor}"));
            match self.destination(&resolve(path, target), copies) {
                Destination::Place(place) => {
                    let place = relative(&format!("{}{}", page.book.place, page.place), &place);
                    result += &format!("{}{place}{anchor}", &text[end..link.target.start]);
                    end = link.target.end;
                }
                Destination::Directory => {
                    result += &text[end..link.whole.start];
                    result += &text[link.text];
                    end = link.whole.end;
                }
                Destination::Nowhere => {
                    let index = self.books[0].index;
                    dead.push(format!("{path}: `{target}` is not on the site; list the page in {index}"));
                }
            }
        }
        result + &text[end..]
    }

    /// Path on the site of a file of the project.
    fn destination(&self, path: &str, copies: &mut BTreeMap<String, Book>) -> Destination {
        if let Some(page) = self.pages.get(path) {
            let stem = page.place.strip_suffix(".md").unwrap_or(&page.place);
            return Destination::Place(format!("{}{stem}.html", page.book.place));
        }
        if self.tree.get(path).is_some() && !path.ends_with(".md") {
            copies.insert(path.to_owned(), self.books[0]);
            return Destination::Place(place("docs", path));
        }
        let readme = format!("{path}/README.md");
        if self.pages.contains_key(&readme) {
            return self.destination(&readme, copies);
        }
        match self.tree.files.iter().any(|file| file.path.starts_with(&format!("{path}/"))) {
            true => Destination::Directory,
            false => Destination::Nowhere,
        }
    }
}

/// Target of a link, on the site.
enum Destination {
    Place(String),
    /// Directory without a page. The link is replaced by its text.
    Directory,
    /// Markdown file that no index lists.
    Nowhere,
}

/// Directory of a path.
fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Path of a file within a book whose pages are in `folder`. A `README.md` becomes the `index.md` of its directory.
fn place(folder: &str, path: &str) -> String {
    let path = path.strip_prefix(&format!("{folder}/")).unwrap_or(path);
    match path.strip_suffix("README.md") {
        Some(rest) if rest.is_empty() || rest.ends_with('/') => format!("{rest}index.md"),
        _ => path.to_owned(),
    }
}

/// Relative path between two files of the site.
fn relative(from: &str, to: &str) -> String {
    let mut from: Vec<&str> = folder(from).split('/').filter(|part| !part.is_empty()).collect();
    let mut parts: Vec<&str> = to.split('/').collect();
    while parts.len() > 1 && from.first() == parts.first() {
        from.remove(0);
        parts.remove(0);
    }
    format!("{}{}", "../".repeat(from.len()), parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::BOOKS;
    use super::*;

    fn files(files: &[(&str, &str)]) -> Result<Vec<(String, Content)>, Vec<String>> {
        let tree = Tree::from_files(files);
        let files = Plan::new(&tree, &BOOKS).files()?;
        Ok(files
            .into_iter()
            .map(|file| (format!("{}/{}", file.book.language, file.place), file.content))
            .collect())
    }

    const INDEX: &str = "# Manual\n[ru](ru/README.md)\n## Tasks\n| [Run](run.md) | [set](../a/README.md) |\n\
                         ## Examples\n| [A](../a/README.md) | |\n";
    const RUSSIAN: &str = "# По-русски\n## Уроки\n| [Урок](lesson.md) | |\n## Ещё\n| [Run](../run.md) | |\n";

    #[test]
    fn places_pages_and_rewrites_their_links() {
        let run = "# Run\n[a](../a/README.md#b) ![i](img/i.png) [f](../a/x.yaml) [g](../a) [d](img) [h](#run) [w](http://x.y/z.md)\n\
                   ```\n[code](../a/README.md)\n```\n";
        let tree = [
            ("docs/README.md", INDEX),
            ("docs/run.md", run),
            ("docs/img/i.png", ""),
            ("docs/ru/README.md", RUSSIAN),
            ("docs/ru/lesson.md", "[run](../run.md#run) [up](README.md)"),
            ("a/README.md", "[up](../docs/run.md)\n"),
            ("a/x.yaml", "b: 1\n"),
            ("a/none.md", ""),
        ];
        let text = |place: &str, text: &str| (place.to_owned(), Content::Text(text.to_owned()));
        let copy = |place: &str, path: &str| (place.to_owned(), Content::Copy(path.to_owned()));
        let run = "# Run\n[a](a/index.html#b) ![i](img/i.png) [f](a/x.yaml) [g](a/index.html) d [h](#run) [w](http://x.y/z.md)\n\
                   ```\n[code](../a/README.md)\n```\n";
        let index = INDEX.replace("ru/README.md", "ru/index.html").replace("run.md", "run.html");
        let russian = RUSSIAN.replace("lesson.md", "lesson.html").replace("run.md", "run.html");
        let expected = [
            text(
                "en/SUMMARY.md",
                "# Summary\n\n[Manual](index.md)\n\n# Tasks\n\n- [Run](run.md)\n\n# Examples\n\n- [A](a/index.md)\n",
            ),
            text("ru/SUMMARY.md", "# Summary\n\n[По-русски](index.md)\n\n# Уроки\n\n- [Урок](lesson.md)\n"),
            text("en/a/index.md", "[up](../run.html)\n"),
            text("en/index.md", &index.replace("../a/README.md", "a/index.html")),
            text("ru/index.md", &russian),
            text("ru/lesson.md", "[run](../run.html#run) [up](index.html)"),
            text("en/run.md", run),
            copy("en/a/x.yaml", "a/x.yaml"),
            copy("en/img/i.png", "docs/img/i.png"),
        ];
        assert_eq!(files(&tree).expect("all links lead to a page"), expected);
    }

    #[test]
    fn rejects_links_to_pages_that_are_not_listed() {
        let tree = [
            ("docs/README.md", INDEX),
            ("docs/run.md", "[n](../a/none.md)"),
            ("docs/ru/README.md", ""),
            ("a/none.md", ""),
        ];
        let expected = [
            "a/README.md is listed but does not exist",
            "docs/run.md: `../a/none.md` is not on the site; list the page in docs/README.md",
        ];
        assert_eq!(files(&tree).expect_err("a link is dead"), expected);
    }

    #[test]
    fn finds_relative_paths() {
        for (from, to, path) in [
            ("run.html", "a/index.html", "a/index.html"),
            ("a/index.html", "run.html", "../run.html"),
            ("a/b/c.html", "a/d/e.html", "../d/e.html"),
            ("ru/a.html", "ru/b.html", "b.html"),
        ] {
            assert_eq!(relative(from, to), path, "{from} to {to}");
        }
    }
}
