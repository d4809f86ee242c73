//! Pages of synthetic runs, for the browser tests of `web/`

use crate::comparison;
use crate::document::{PageDocument, document};
use crate::html::{HtmlShell, to_html};
use crate::json_document::to_json_line;
use crate::lang;
use crate::page::page;
use crate::page::tests::sample_runs;
use crate::view::Page;
use model::chart::Charts;
use model::run_result::RunResult;
use std::path::Path;

/// Number of points of each chart. The synthetic runs have only a few, which are repeated.
const POINTS: usize = 90;

/// Writes one page for each kind of run, a comparison and a history into an ignored folder.
#[test]
fn write_pages_for_the_browser() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/test/out/pages");
    std::fs::create_dir_all(&folder).expect("the folder can be created");
    let write = |name: &str, pages: &[Page], document: &str| {
        let shell = HtmlShell { lang: "en", title: &pages[0].title, no_script: "", live: false };
        let path = folder.join(format!("{}.html", name.replace(' ', "-")));
        std::fs::write(&path, to_html(shell, document)).expect("the page can be written");
    };
    // Skip the hostile run, because its names do not fit into a page. Another browser test checks that they do no harm.
    for (name, mut result) in sample_runs().into_iter().filter(|run| run.0 != "hostile") {
        stretch(&mut result);
        let pages: Vec<Page> = lang::all().iter().map(|lang| page(&result, lang)).collect();
        write(name, &pages, &document(&result, &pages, "en", None));
    }
    let without_charts = |name: &str, pages: Vec<Page>| {
        let document = PageDocument { lang: "en", pages: &pages, data: Vec::new(), live: None };
        write(name, &pages, &to_json_line(&document));
    };
    let compared = comparison::tests::comparison();
    without_charts("compare", lang::all().iter().map(|lang| comparison::page(&compared, lang)).collect());
    let history = comparison::tests::test_history();
    without_charts("history", lang::all().iter().map(|lang| comparison::history(&history, lang)).collect());
}

/// Repeats the points of all charts.
fn stretch(result: &mut RunResult) {
    let all = result.trials.iter_mut().map(|trial| &mut trial.charts);
    for Charts { times, charts, .. } in all.filter(|charts| !charts.times.is_empty()) {
        *times = (0..POINTS).map(|second| second as f64).collect();
        for series in charts.iter_mut().flat_map(|chart| &mut chart.series) {
            series.values = series.values.iter().copied().cycle().take(POINTS).collect();
        }
    }
}
