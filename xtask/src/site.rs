//! The manual as a web site: pages for mdBook, built from the index of the manual.
//!
//! docs/README.md and docs/ru/README.md are the only indexes. The English book contains the pages that docs/README.md
//! lists, wherever they are in the project. The Russian book contains the pages of docs/ru.

mod check;
mod pages;
mod search_index;

use crate::tidy::tree::Tree;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fmt, fs, io};

/// Terminal output in the manual has up to 113 columns.
const STYLE: &str = ":root { --content-max-width: 1040px; }
.other-language { position: absolute; right: 20px; top: 14px; z-index: 102; font-size: 1.5rem; color: var(--links); }
";

/// One of the two books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Book {
    language: &'static str,
    title: &'static str,
    /// Index page, from the project's root.
    index: &'static str,
    /// Directory of the book on the site; empty or with a slash at its end.
    place: &'static str,
    /// Text and target of the link to the other book. The target is relative to the book's root.
    other: (&'static str, &'static str),
}

const BOOKS: [Book; 2] = [
    Book {
        language: "en",
        title: "pgdyno",
        index: "docs/README.md",
        place: "",
        other: ("По-русски", "ru/index.html"),
    },
    Book {
        language: "ru",
        title: "pgdyno по-русски",
        index: "docs/ru/README.md",
        place: "ru/",
        other: ("In English", "../index.html"),
    },
];

/// Reason why the site was not built.
#[derive(Debug)]
enum SiteError {
    Io(PathBuf, io::Error),
    /// mdBook could not be started.
    NoProgram(io::Error),
    /// mdBook failed for the book in this language.
    Build(&'static str),
    /// Links of pages, or of the built site, that lead nowhere.
    Links(Vec<String>),
    SearchIndex(PathBuf, String),
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SiteError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            SiteError::NoProgram(error) => write!(f, "mdbook cannot be started: {error}; type  ./x site"),
            SiteError::Build(language) => write!(f, "mdbook failed for the book in language {language}"),
            SiteError::Links(links) => write!(f, "{}", links.join("\n")),
            SiteError::SearchIndex(path, problem) => write!(f, "{}: {problem}", path.display()),
        }
    }
}

/// Builds the site in `target/site` with the program `mdbook`, and checks its links.
pub fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project's root");
    match build(root, &root.join("target/site-source"), &root.join("target/site")) {
        Ok(count) => {
            println!("site: {count} pages in target/site; open target/site/index.html");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("site: {error}");
            ExitCode::from(1)
        }
    }
}

/// Builds both books in `site`, and returns the number of pages. `source` receives mdBook's input files.
fn build(root: &Path, source: &Path, site: &Path) -> Result<usize, SiteError> {
    let tree = Tree::read(root).map_err(|error| SiteError::Io(root.to_owned(), error))?;
    let plan = pages::Plan::new(&tree, &BOOKS);
    let files = plan.files().map_err(SiteError::Links)?;
    if source.exists() {
        fs::remove_dir_all(source).map_err(|error| SiteError::Io(source.to_owned(), error))?;
    }
    for file in &files {
        let path = source.join(file.book.language).join("src").join(&file.place);
        match &file.content {
            pages::Content::Text(text) => write(&path, text.as_bytes())?,
            pages::Content::Copy(from) => {
                let from = root.join(from);
                write(&path, &fs::read(&from).map_err(|error| SiteError::Io(from, error))?)?;
            }
        }
    }
    for book in BOOKS {
        let folder = source.join(book.language);
        write(&folder.join("book.toml"), configuration(book).as_bytes())?;
        write(&folder.join("theme/header.hbs"), header(book).as_bytes())?;
        write(&folder.join("site.css"), STYLE.as_bytes())?;
        write(&folder.join("search.js"), search_index::stemmer_script().as_bytes())?;
        let destination = site.join(book.place);
        let status = Command::new("mdbook")
            .arg("build")
            .arg("--dest-dir")
            .arg(&destination)
            .arg(&folder)
            .env("MDBOOK_LOG", "warn")
            .status()
            .map_err(SiteError::NoProgram)?;
        if !status.success() {
            return Err(SiteError::Build(book.language));
        }
        if book.language != "en" {
            search_index::rebuild(&destination)?;
        }
    }
    let dead = check::dead_links(site)?;
    if !dead.is_empty() {
        return Err(SiteError::Links(dead));
    }
    Ok(plan.page_count())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), SiteError> {
    let folder = path.parent().expect("files of the site are in a directory");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| SiteError::Io(path.to_owned(), error))
}

fn configuration(book: Book) -> String {
    let Book { language, title, .. } = book;
    // mdBook's search index contains no Cyrillic words, so the Russian book has its own index and stemmer.
    let script = if language == "en" { "" } else { "additional-js = [\"search.js\"]\n" };
    format!(
        "[book]\ntitle = \"{title}\"\nlanguage = \"{language}\"\nsrc = \"src\"\n\n\
         [build]\ncreate-missing = false\n\n\
         [output.html]\nsmart-punctuation = false\ninput-404 = \"\"\nno-section-label = true\n\
         additional-css = [\"site.css\"]\n{script}\n\
         [output.html.print]\nenable = false\n\n\
         [output.html.search]\nlimit-results = 30\n"
    )
}

/// Link to the other book, at the top of every page.
fn header(book: Book) -> String {
    let (text, target) = book.other;
    format!(
        "<p style=\"text-align: right; margin: 0\"><a href=\"{{{{ path_to_root }}}}{target}\">{text}</a></p>\n"
    )
}
