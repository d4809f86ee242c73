//! Check of the built site: every link leads to an existing file, and every anchor in a link to an element of that
//! file.

use super::SiteError;
use crate::markdown::normalise;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Links of the site's pages that lead nowhere.
pub fn dead_links(site: &Path) -> Result<Vec<String>, SiteError> {
    let mut paths = BTreeSet::new();
    let mut pages = BTreeMap::new();
    let mut folders = vec![site.to_owned()];
    while let Some(folder) = folders.pop() {
        let failure = |error| SiteError::Io(folder.clone(), error);
        for entry in fs::read_dir(&folder).map_err(failure)? {
            let path = entry.map_err(failure)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(site).expect("found below the site").to_string_lossy().into_owned();
            // Skip toc.html, a frame for browsers without scripts. Every page contains the same links.
            if name.ends_with(".html") && !name.ends_with("toc.html") {
                let text = fs::read_to_string(&path).map_err(|error| SiteError::Io(path.clone(), error))?;
                pages.insert(name.clone(), text);
            }
            paths.insert(name);
        }
    }
    Ok(find_dead_links(&paths, &pages))
}

fn find_dead_links(paths: &BTreeSet<String>, pages: &BTreeMap<String, String>) -> Vec<String> {
    let ids: BTreeMap<&String, BTreeSet<String>> =
        pages.iter().map(|(page, text)| (page, attributes(text, "id").collect())).collect();
    let mut dead = Vec::new();
    for (page, text) in pages {
        for target in attributes(text, "href").chain(attributes(text, "src")) {
            if target.contains(':') || target.is_empty() {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let path = match (path, page.rsplit_once('/')) {
                ("", _) => page.clone(),
                (_, Some((folder, _))) => normalise(&format!("{folder}/{path}")),
                (_, None) => normalise(path),
            };
            let has_anchor = || ids.get(&path).is_none_or(|ids| ids.contains(anchor));
            if !paths.contains(&path) || !(anchor.is_empty() || has_anchor()) {
                dead.push(format!("{page}: `{target}` leads nowhere"));
            }
        }
    }
    dead
}

/// Decoded values of an attribute of all elements.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = String> + use<'a> {
    let start = format!(" {name}=\"");
    let positions: Vec<usize> = html.match_indices(&start).map(|(i, _)| i + start.len()).collect();
    positions.into_iter().filter_map(move |i| Some(decoded(&html[i..i + html[i..].find('"')?])))
}

/// Decodes `&amp;` and `%XX`.
fn decoded(text: &str) -> String {
    let text = text.replace("&amp;", "&");
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_dead_links_of_html() {
        let a = "<h1 id=\"пул\">x</h1> <a href=\"b/c.html#%D0%B0&amp;b\">x</a> <a href=\"#%D0%BF%D1%83%D0%BB\">x</a> \
                 <a href=\"#none\">x</a> <img src=\"none.png\"> <a href=\"https://x.y/\">x</a>";
        let c = "<p id=\"а&amp;b\">x</p> <a href=\"../a.html#пул\">x</a> <a href=\"a.html\">x</a>";
        let pages: BTreeMap<String, String> =
            [("a.html", a), ("b/c.html", c)].map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let paths = pages.keys().cloned().collect();
        assert_eq!(
            find_dead_links(&paths, &pages),
            [
                "a.html: `#none` leads nowhere",
                "a.html: `none.png` leads nowhere",
                "b/c.html: `a.html` leads nowhere",
            ]
        );
    }
}
