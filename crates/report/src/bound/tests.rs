use super::docx::to_docx;
use super::html::{PageNumbers, to_html};
use super::*;
use crate::lang::{self, Lang, english, russian};
use crate::page::tests::sample_runs;
use expect_test::expect_file;
use model::plan::{Goal, SpanStyle, TextBlock};
use model::run_result::RunState;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};

/// Runs of the sample kinds, in this order.
fn runs(kinds: &[&str]) -> Vec<RunResult> {
    let all = sample_runs();
    let run = |kind: &&str| {
        let found = all.iter().find(|it| it.0 == *kind).expect("a kind of run");
        let mut result = found.1.clone();
        // The synthetic runs share a name.
        result.experiment.name = found.0.replace(' ', "-");
        result
    };
    kinds.iter().map(run).collect()
}

fn paragraph(text: &str) -> Vec<TextBlock> {
    vec![TextBlock::Paragraph(vec![TextSpan::plain(text)])]
}

fn texts() -> DocumentTexts {
    let list =
        TextBlock::List { start: Some(1), items: vec![paragraph("первое"), paragraph("второе")] };
    let strong = TextSpan { text: "p99 < 1 s".into(), style: SpanStyle::Strong };
    DocumentTexts {
        title: Some("Приёмка сервиса".into()),
        goals: vec![list],
        method: [paragraph("steps"), vec![TextBlock::Code("SELECT 1;\n\tx".into())]].concat(),
        acceptance: vec![TextBlock::Paragraph(vec![strong])],
        conclusions: paragraph("accepted"),
        ..DocumentTexts::default()
    }
}

/// Headings with the kinds and captions of their elements.
fn outline(document: &BoundDocument) -> String {
    let mut out = format!("{}\n{}\n", document.title, document.contents);
    for chapter in &document.chapters {
        out += &format!("\n{}{}. {}\n", "  ".repeat(chapter.level - 1), chapter.number, chapter.heading);
        for element in &chapter.elements {
            let text = match element {
                Element::Paragraph { spans, tone } => {
                    let text: String = spans.iter().map(|it| it.text.as_str()).collect();
                    format!("{tone:?}: {text}")
                }
                Element::List { start, items } => format!("list of {} from {start:?}", items.len()),
                Element::Table(table) => {
                    format!("{} [{} × {}]", table.caption, table.rows.len(), table.columns.len())
                }
                Element::Figure(figure) => figure.caption.clone(),
                Element::Code { name, text } => format!("code {name}: {} lines", text.lines().count()),
            };
            out += &format!("    {text}\n");
        }
    }
    out
}

#[test]
fn binds_runs_in_both_languages() {
    let runs = runs(&["maximum", "confirm", "soak", "matrix"]);
    for lang in lang::all() {
        let document = bind(&runs, &texts(), lang);
        expect_file![format!("expected/{}.txt", lang.code())].assert_eq(&outline(&document));
    }
}

#[test]
fn numbers_follow_the_chapters_that_exist() {
    for kinds in [&["maximum", "confirm", "soak", "matrix"][..], &["one cell"], &["failover", "sweep"]] {
        for texts in [texts(), DocumentTexts::default()] {
            let document = bind(&runs(kinds), &texts, english());
            let (mut chapter, mut part) = (0, 0);
            for Chapter { id, number, level, elements, .. } in &document.chapters {
                if *level == 1 {
                    (chapter, part) = (chapter + 1, 0);
                    assert_eq!((number, id), (&format!("{chapter}"), &format!("s{chapter}")));
                } else {
                    part += 1;
                    assert_eq!((number, id), (&format!("{chapter}.{part}"), &format!("s{chapter}-{part}")));
                    assert!(!elements.is_empty(), "{kinds:?}: {number} is empty");
                }
            }
            assert!(chapter >= 5, "{kinds:?}: {chapter} chapters");
            let has = |heading: &str| document.chapters.iter().any(|it| it.heading == heading);
            assert_eq!(has("Goals"), !texts.goals.is_empty());
            if kinds.contains(&"maximum") {
                assert!(has("Search for the maximum") && has("Confirmation of the maximum"));
            }
            if kinds == ["one cell"] {
                assert!(!has("Search for the maximum") && !has("Comparison of settings"));
            }
            assert_eq!(has("Long-term load"), kinds.contains(&"soak"));
        }
    }
}

/// A reader must not take the figures of an incomplete or partly invalid run for those of the whole run.
#[test]
fn incomplete_runs_and_invalid_trials_are_named_where_their_figures_are() {
    let mut runs = runs(&["one cell"]);
    let sentence = |document: &BoundDocument, words: &str| {
        let parts = document.chapters.iter().filter(|it| it.level == 2 && !it.heading.contains(','));
        let is_named = |chapter: &&Chapter| {
            chapter.elements.iter().any(|element| match element {
                Element::Paragraph { spans, tone: Tone::Bad } => {
                    spans.iter().any(|it| it.text.contains(words))
                }
                _ => false,
            })
        };
        let total = parts.clone().count();
        (parts.filter(is_named).count(), total)
    };
    let complete = bind(&runs, &DocumentTexts::default(), english());
    assert_eq!(sentence(&complete, "not complete").0, 0);
    assert_eq!(sentence(&complete, "invalid").0, 0);
    runs[0].info.state = RunState::Interrupted;
    runs[0].trials[0].valid = false;
    for (lang, words) in [
        (english(), ["not complete", "1 trial of"]),
        (russian(), ["не завершён", "Недействительных измерений: 1"]),
    ] {
        let document = bind(&runs, &DocumentTexts::default(), lang);
        for words in words {
            let (named, total) = sentence(&document, words);
            // The environment and the caveats of a run have no figures, but the sentence is there, too, except in the
            // environment.
            assert!(named >= total - 1 && named > 3, "{words}: {named} of {total}");
        }
    }
}

#[test]
fn a_run_without_results_says_so() {
    let mut runs = runs(&["confirm"]);
    runs[0].trials.clear();
    runs[0].soaks.clear();
    runs[0].maxima.clear();
    assert!(matches!(runs[0].experiment.goal, Goal::Confirm(_)));
    runs[0].cells.iter_mut().for_each(|it| *it = model::run_result::CellResult::default());
    let document = bind(&runs, &DocumentTexts::default(), english());
    let shown = outline(&document);
    assert!(
        shown.contains("This run has no figures.") && shown.contains("No trial held the level"),
        "{shown}"
    );
}

#[test]
fn texts_come_from_the_first_run_that_has_them() {
    let mut runs = runs(&["one cell", "matrix"]);
    let goals = DocumentTexts { goals: paragraph("one"), ..DocumentTexts::default() };
    runs[0].experiment.document = Some(Box::new(goals));
    runs[1].experiment.document = Some(Box::new(texts()));
    let merged = merge_texts(runs.iter());
    assert_eq!(merged.goals, paragraph("one"));
    assert_eq!(merged.title.as_deref(), Some("Приёмка сервиса"));
    assert_eq!(merged.conclusions, paragraph("accepted"));
    assert_eq!(merge_texts([].iter()), DocumentTexts::default());
}

/// Number of elements of a kind, also in lists.
fn count(document: &BoundDocument, is_kind: fn(&Element) -> bool) -> usize {
    fn within(elements: &[Element], is_kind: fn(&Element) -> bool) -> usize {
        let inner = |element: &Element| match element {
            Element::List { items, .. } => items.iter().map(|it| within(it, is_kind)).sum(),
            _ => 0,
        };
        elements.iter().map(|it| usize::from(is_kind(it)) + inner(it)).sum()
    }
    document.chapters.iter().map(|chapter| within(&chapter.elements, is_kind)).sum()
}

#[test]
fn html_is_well_formed_and_inert() {
    for lang in lang::all() {
        let kinds: Vec<&str> = sample_runs().iter().map(|it| it.0).collect();
        let document = bind(&runs(&kinds), &texts(), lang);
        let text = to_html(&document, PageNumbers::None);
        for forbidden in ["<script", "<img", "javascript:y)\"", "\u{202e}", "\u{1b}", "style=\""] {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
        assert!(text.contains(&format!("<html lang=\"{}\">", lang.code())));
        // The body has the form of XML.
        let body = &text[text.find("<body>").expect("a body")..text.find("</html>").expect("an end")];
        let tree = roxmltree::Document::parse(body).unwrap_or_else(|error| panic!("{error}"));
        let number = |name: &str| tree.descendants().filter(|it| it.tag_name().name() == name).count();
        assert_eq!(number("table"), count(&document, |it| matches!(it, Element::Table(_))));
        assert_eq!(number("figure"), count(&document, |it| matches!(it, Element::Figure(_))));
        assert_eq!(number("svg"), number("figure"));
        let targets: BTreeSet<&str> = tree.descendants().filter_map(|it| it.attribute("id")).collect();
        let links: Vec<&str> = tree.descendants().filter_map(|it| it.attribute("href")).collect();
        assert_eq!(links.len(), document.chapters.len());
        assert!(links.iter().all(|it| targets.contains(it.trim_start_matches('#'))), "{links:?}");
    }
}

#[test]
fn contents_have_numbers_of_pages() {
    let document = bind(&runs(&["one cell"]), &DocumentTexts::default(), english());
    let known = BTreeMap::from([("s2".to_owned(), 17)]);
    assert_eq!(to_html(&document, PageNumbers::Known(&known)).matches("<b>17</b>").count(), 1);
    assert!(to_html(&document, PageNumbers::Placeholders).contains("<b>00</b>"));
    assert!(!to_html(&document, PageNumbers::None).contains("<b>"));
}

/// Parts of a DOCX file by name.
fn parts(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a DOCX file is a ZIP archive");
    let count = archive.len();
    let part = |index| {
        let mut file = archive.by_index(index).expect("a part");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("the part can be read");
        (file.name().expect("a name").into_owned(), content)
    };
    (0..count).map(part).collect()
}

fn check_docx(document: &BoundDocument, lang: &Lang) {
    let parts = parts(&to_docx(document));
    for (name, content) in parts.iter().filter(|it| it.0.ends_with(".xml") || it.0.ends_with(".rels")) {
        let text = std::str::from_utf8(content).expect("UTF-8");
        roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let part = |name: &str| &parts.iter().find(|it| it.0 == name).expect("the part").1;
    let text = std::str::from_utf8(part("word/document.xml")).expect("UTF-8");
    let tree = roxmltree::Document::parse(text).expect("XML");
    let elements = |name: &'static str| tree.descendants().filter(move |it| it.tag_name().name() == name);
    let content = |node: roxmltree::Node<'_, '_>| {
        let texts = node.descendants().filter(|it| it.tag_name().name() == "t");
        texts.filter_map(|it| it.text()).collect::<String>()
    };
    let styled = |style: &str| {
        let of_style = |node: &roxmltree::Node<'_, '_>| {
            node.descendants().any(|child| {
                child.tag_name().name() == "pStyle"
                    && child.attributes().any(|attribute| attribute.value() == style)
            })
        };
        elements("p").filter(of_style).map(content).collect::<Vec<String>>()
    };
    for level in [1, 2] {
        let headings = document.chapters.iter().filter(|it| it.level == level);
        let headings: Vec<String> =
            headings.map(|it| format!("{}. {}", it.number, crate::text::visible(&it.heading))).collect();
        assert_eq!(styled(&format!("Heading{level}")), headings, "{}", lang.code());
    }
    let tables = count(document, |it| matches!(it, Element::Table(_)));
    assert_eq!(elements("tbl").count(), tables);
    let headed = count(document, |element| match element {
        Element::Table(table) => table.columns.iter().any(|column| !column.heading.is_empty()),
        _ => false,
    });
    assert_eq!(elements("tblHeader").count(), headed);
    let figures = count(document, |it| matches!(it, Element::Figure(_)));
    let pictures: Vec<_> = elements("docPr").collect();
    let ids: BTreeSet<_> = pictures.iter().filter_map(|it| it.attribute("id")).collect();
    assert_eq!((pictures.len(), ids.len()), (figures, figures));
    assert!(pictures.iter().all(|it| it.attribute("descr").is_some_and(|text| !text.is_empty())));
    let media = parts.iter().filter(|it| it.0.ends_with(".png")).map(|it| &it.1);
    assert!(media.clone().all(|it| it.starts_with(b"\x89PNG")));
    assert!((1..=figures).contains(&media.count()));
    // Each entry of the contents refers to the bookmark of a heading.
    let name = |node: roxmltree::Node<'_, '_>, name: &str| {
        node.attributes().find(|it| it.name() == name).map(|it| it.value().to_owned())
    };
    let bookmarks: BTreeSet<String> = elements("bookmarkStart").filter_map(|it| name(it, "name")).collect();
    let anchors: Vec<String> = elements("hyperlink").filter_map(|it| name(it, "anchor")).collect();
    assert_eq!(anchors.len(), document.chapters.len());
    assert!(anchors.iter().all(|it| bookmarks.contains(it)), "{anchors:?}");
}

#[test]
fn docx_has_headings_tables_and_pictures() {
    let kinds: Vec<&str> = sample_runs().iter().map(|it| it.0).collect();
    for lang in lang::all() {
        check_docx(&bind(&runs(&kinds), &texts(), lang), lang);
        check_docx(&bind(&runs(&["one cell"]), &DocumentTexts::default(), lang), lang);
    }
}
