//! Search index of books that are not in English.
//!
//! mdBook's index omits every character except ASCII letters and digits, so the index of a Russian book is empty. This
//! module indexes the stored texts again, in the format of elasticlunr 0.9, with a stemmer that removes endings.

use super::SiteError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Name of the stemmer in the index's pipeline.
const STEMMER: &str = "pgdynoStemmer";

/// Endings of Russian nouns, adjectives and verbs. The longest ending that fits is removed.
const ENDINGS: &str = "иями ями ами ием иях ией иям ого его ому ему ыми ими ует уют ить ать ять еть ишь ет ют ут ат ят ит \
                       ая яя ое ее ые ие ий ый ой ей ую юю ия ью ию ах ях ом ем ам ям ов ев ы и а я о е у ю ь й";

/// Length of the shortest stem, in characters.
const SHORTEST: usize = 3;

const PREFIX: &str = "window.search = Object.assign(window.search, JSON.parse('";
const SUFFIX: &str = "'));";

/// Replaces the index of the book in this directory.
pub fn rebuild(book: &Path) -> Result<(), SiteError> {
    let failure = |error| SiteError::Io(book.to_owned(), error);
    for entry in fs::read_dir(book).map_err(failure)? {
        let path = entry.map_err(failure)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("searchindex") && name.ends_with(".js") {
            let text = fs::read_to_string(&path).map_err(failure)?;
            let problem = |problem: &str| SiteError::SearchIndex(path.clone(), problem.to_owned());
            let rebuilt =
                rebuilt(&text).ok_or_else(|| problem("this version of mdBook has another search index"))?;
            return fs::write(&path, rebuilt).map_err(failure);
        }
    }
    Err(SiteError::SearchIndex(book.to_owned(), "mdBook wrote no search index".to_owned()))
}

/// mdBook's index file, with a new index of the stored texts. `None` if the file's format is unknown.
fn rebuilt(file: &str) -> Option<String> {
    let quoted = file.trim_end().strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let mut search: Value = serde_json::from_str(&quoted.replace("\\'", "'").replace("\\\\", "\\")).ok()?;
    let index = search.get_mut("index")?.as_object_mut()?;
    let fields: Vec<String> = index
        .get("fields")?
        .as_array()?
        .iter()
        .filter_map(|field| Some(field.as_str()?.to_owned()))
        .collect();
    let documents = index.get("documentStore")?.get("docs")?.as_object()?.clone();
    let mut lengths = Map::new();
    let mut tries = Map::new();
    for field in &fields {
        let mut root = Node::default();
        for (id, document) in &documents {
            let words = words(document.get(field).and_then(Value::as_str).unwrap_or(""));
            let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
            words.iter().for_each(|word| *counts.entry(word).or_default() += 1);
            for (word, count) in counts {
                root.insert(word, id, f64::from(count).sqrt());
            }
            let entry = lengths.entry(id.clone()).or_insert_with(|| json!({}));
            entry[field.as_str()] = words.len().into();
        }
        tries.insert(field.clone(), json!({ "root": root.to_json() }));
    }
    index.insert("index".to_owned(), Value::Object(tries));
    index.get_mut("documentStore")?.as_object_mut()?.insert("docInfo".to_owned(), Value::Object(lengths));
    index.insert("pipeline".to_owned(), json!([STEMMER]));
    let text = search.to_string().replace('\\', "\\\\").replace('\'', "\\'");
    Some(format!("{PREFIX}{text}{SUFFIX}"))
}

/// Stemmed words of a text. A compound such as `load.clients` is indexed as a whole and by its parts.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for token in text.to_lowercase().split(|c: char| c.is_whitespace() || c == '-') {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric());
        let parts: Vec<&str> =
            token.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
        if parts.len() > 1 {
            words.extend(parts.iter().map(|part| stem(part).to_owned()));
        }
        if !token.is_empty() {
            words.push(stem(token).to_owned());
        }
    }
    words
}

/// The word without its ending.
fn stem(word: &str) -> &str {
    let endings = ENDINGS.split(' ').filter(|ending| !ending.is_empty());
    let stems = endings.filter_map(|ending| word.strip_suffix(ending));
    stems.filter(|stem| stem.chars().count() >= SHORTEST).min_by_key(|stem| stem.len()).unwrap_or(word)
}

/// Script with the same stemmer, which the browser applies to the words of a query.
pub fn stemmer_script() -> String {
    let endings = ENDINGS.split(' ').filter(|ending| !ending.is_empty()).collect::<Vec<_>>().join(" ");
    format!(
        "elasticlunr.Pipeline.registerFunction(word => {{\n  \
           const stems = '{endings}'.split(' ').filter(ending => word.endsWith(ending))\n    \
             .map(ending => word.slice(0, word.length - ending.length)).filter(stem => stem.length >= {SHORTEST});\n  \
           return stems.sort((a, b) => a.length - b.length)[0] ?? word;\n\
         }}, '{STEMMER}');\n"
    )
}

/// Node of the index tree. The path from the root spells a word; `documents` are the documents that contain this word.
#[derive(Default)]
struct Node {
    documents: Map<String, Value>,
    children: BTreeMap<char, Node>,
}

impl Node {
    fn insert(&mut self, word: &str, document: &str, frequency: f64) {
        let node = word.chars().fold(self, |node, c| node.children.entry(c).or_default());
        node.documents.insert(document.to_owned(), json!({ "tf": frequency }));
    }

    fn to_json(&self) -> Value {
        let mut node = json!({ "docs": self.documents, "df": self.documents.len() });
        for (c, child) in &self.children {
            node[c.to_string()] = child.to_json();
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_russian_words() {
        for (word, expected) in [
            ("пулер", "пулер"),
            ("пулером", "пулер"),
            ("пулеры", "пулер"),
            ("нагрузку", "нагрузк"),
            ("нагрузка", "нагрузк"),
            ("измерения", "измерен"),
            ("измерением", "измерен"),
            ("она", "она"),
            ("p99", "p99"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn indexes_words_and_parts_of_compounds() {
        assert_eq!(
            words("Пулер, `load.clients`: p99.9 — два-три"),
            ["пулер", "load", "clients", "load.clients", "p99", "9", "p99.9", "два", "три"]
        );
    }

    #[test]
    fn rebuilds_an_index() {
        let store =
            json!({ "docInfo": {}, "docs": { "0": { "title": "Пул\\'", "body": "пула пул пулы пулом" } } });
        let index = json!({ "fields": ["title", "body"], "documentStore": store, "index": {}, "pipeline": ["trimmer"] });
        let quoted = json!({ "index": index }).to_string().replace('\\', "\\\\").replace('\'', "\\'");
        let text = rebuilt(&format!("{PREFIX}{quoted}{SUFFIX}")).expect("the format is known");
        let quoted =
            text.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)).expect("same format");
        let search: Value =
            serde_json::from_str(&quoted.replace("\\'", "'").replace("\\\\", "\\")).expect("JSON");
        let index = &search["index"];
        assert_eq!(index["pipeline"], json!([STEMMER]));
        assert_eq!(index["documentStore"]["docs"]["0"]["title"], "Пул\\'");
        assert_eq!(index["documentStore"]["docInfo"]["0"], json!({ "title": 1, "body": 4 }));
        assert_eq!(index["index"]["body"]["root"]["п"]["у"]["л"]["df"], 1);
        assert_eq!(index["index"]["body"]["root"]["п"]["у"]["л"]["docs"]["0"]["tf"], 2.0);
        assert_eq!(rebuilt("window.search = {}"), None);
    }
}
