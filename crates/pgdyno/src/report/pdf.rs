//! Prints a bound document to PDF with Chromium
//!
//! Chromium prints twice: the first PDF tells on which page each chapter begins, and the second has these numbers in its
//! contents. CSS has no means for this that Chromium implements.

use crate::cli::CommandError;
use model::message;
use model::message::Message;
use report::bound::BoundDocument;
use report::bound::html::{PageNumbers, to_html};
use stack::component::program::Programs;
use stack::supervisor::{KeeperProgram, Launch, NodeError, Supervisor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Programs that print a page, in the order of preference.
const PROGRAMS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge"];
/// Environment variable with the path of a browser.
const VARIABLE: &str = "PGDYNO_CHROMIUM";
/// Time limit of one print.
const TIMEOUT: Duration = Duration::from_secs(120);

/// PDF of the document. Fails if there is no browser, or if it cannot print.
pub fn print(document: &BoundDocument) -> Result<Vec<u8>, CommandError> {
    let program = find()?;
    let supervisor = Supervisor::start(&KeeperProgram::ourselves());
    let mut supervisor = supervisor.map_err(|it| CommandError::new(&it))?;
    let failed = |error: Message| {
        CommandError::new(message!("bind-print-failed", program = program.display().to_string(), error))
    };
    let mut print = |name: &str, pages: PageNumbers<'_>| -> Result<Vec<u8>, CommandError> {
        let page = supervisor.private_file(format!("{name}.html"), to_html(document, pages).as_bytes())?;
        let pdf = supervisor.home().join(format!("{name}.pdf"));
        // The sandbox needs rights that containers often withhold. The page has no script and no address, so that it is
        // safe without.
        let sandboxed = run(&mut supervisor, &program, &page, &pdf, None);
        sandboxed
            .or_else(|_| run(&mut supervisor, &program, &page, &pdf, Some("--no-sandbox")))
            .map_err(|error| failed((&error).into()))?;
        std::fs::read(&pdf).map_err(|error| failed(Message::of_file(&pdf, &error)))
    };
    let first = print("first", PageNumbers::Placeholders)?;
    let pages = chapter_pages(&first);
    if pages.is_empty() {
        // A browser with another form of PDF: contents without numbers.
        return print("plain", PageNumbers::None);
    }
    print("second", PageNumbers::Known(&pages))
}

fn find() -> Result<PathBuf, CommandError> {
    let programs = Programs::from_environment();
    let chosen = (programs.env_var)(VARIABLE).map(|it| it.to_string_lossy().into_owned());
    let names: Vec<&str> = chosen.as_deref().map_or_else(|| PROGRAMS.to_vec(), |it| vec![it]);
    let found = names.iter().find_map(|name| programs.locate(name));
    found.ok_or_else(|| CommandError::new(message!("bind-no-browser", programs = names.join(", "))))
}

fn run(
    supervisor: &mut Supervisor,
    program: &Path,
    page: &Path,
    pdf: &Path,
    option: Option<&str>,
) -> Result<(), NodeError> {
    let home = supervisor.home();
    let launch = Launch::new("chromium", program, &home)
        .args(["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--no-pdf-header-footer", "--generate-pdf-document-outline"])
        .args(option)
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", page.display()))
        .as_user(supervisor.user());
    supervisor.run(launch, TIMEOUT)
}

/// Page on which each chapter begins, by its identifier, from a PDF as Chromium writes it. Empty for other PDFs.
///
/// The named destinations are the link targets, and refer to page objects. The tree of pages has their order.
fn chapter_pages(pdf: &[u8]) -> BTreeMap<String, u32> {
    // Streams are not text, so each byte becomes a character.
    let text: String = pdf.iter().map(|byte| char::from(*byte)).collect();
    let pdf = PdfText(&text);
    let mut order = Vec::new();
    if let Some(root) = pdf.reference("/Pages ") {
        pdf.list_pages(root, &mut order, 0);
    }
    let Some(destinations) = pdf.reference("/Dests ").and_then(|it| pdf.object(it)) else {
        return BTreeMap::new();
    };
    let page = |entry: &str| {
        let (name, target) = entry.split_once(" [")?;
        let object: u32 = target.split(' ').next()?.parse().ok()?;
        let number = order.iter().position(|it| *it == object)?;
        Some((name.trim().to_owned(), number as u32 + 1))
    };
    destinations.split('/').filter(|it| it.contains(" [")).filter_map(page).collect()
}

/// Characters of a PDF whose objects are not compressed.
struct PdfText<'a>(&'a str);

impl<'a> PdfText<'a> {
    /// Number of the object to which the last occurrence of `key` refers.
    fn reference(&self, key: &str) -> Option<u32> {
        let mut rest = self.0;
        while let Some(at) = rest.rfind(key) {
            let value = self.0[at + key.len()..].split(' ').next().and_then(|it| it.parse().ok());
            if value.is_some() {
                return value;
            }
            rest = &self.0[..at];
        }
        None
    }

    fn object(&self, number: u32) -> Option<&'a str> {
        let begin = self.0.find(&format!("\n{number} 0 obj"))?;
        let rest = &self.0[begin..];
        Some(&rest[..rest.find("endobj")?])
    }

    /// Adds the page objects below a node of the tree of pages.
    fn list_pages(&self, node: u32, order: &mut Vec<u32>, depth: u32) {
        // A tree that contains itself is not a tree.
        if depth > 20 {
            return;
        }
        let kids = self.object(node).and_then(|object| object.split_once("/Kids ["));
        let Some((_, kids)) = kids else {
            order.push(node);
            return;
        };
        let kids = kids.split(']').next().unwrap_or_default();
        for kid in kids.split(" 0 R").filter_map(|it| it.trim().parse().ok()) {
            self.list_pages(kid, order, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_pages_of_destinations() {
        let pdf = "%PDF-1.4\n2 0 obj\n<</Type /Page>>\nendobj\n9 0 obj\n<</Type /Page>>\nendobj\n\
                   5 0 obj\n<</Type /Page>>\nendobj\n\
                   13 0 obj\n<</Type /Pages\n/Count 2\n/Kids [2 0 R 9 0 R]>>\nendobj\n\
                   14 0 obj\n<</Type /Pages\n/Count 3\n/Kids [13 0 R 5 0 R]>>\nendobj\n\
                   15 0 obj\n<</s1 [9 0 R /XYZ 6 826.17 0]\n/s1-1 [9 0 R /XYZ 6 700 0]\n/s2 [5 0 R /XYZ 6 8 0]>>\nendobj\n\
                   16 0 obj\n<</Type /Catalog\n/Pages 14 0 R\n/Dests 15 0 R>>\nendobj\n";
        let pages = chapter_pages(pdf.as_bytes());
        let expected = [("s1", 2), ("s1-1", 2), ("s2", 3)].map(|(id, page)| (id.to_owned(), page));
        assert_eq!(pages, BTreeMap::from(expected));
    }

    #[test]
    fn other_pdfs_have_no_known_pages() {
        for text in ["", "%PDF-1.7\n/Dests x", "\n1 0 obj\n/Pages 1 0 R /Dests 1 0 R /Kids [1 0 R]\nendobj"] {
            assert_eq!(chapter_pages(text.as_bytes()), BTreeMap::new(), "{text:?}");
        }
    }
}
