use super::*;
use crate::document::document;
use crate::junit::junit;
use crate::lang::{self, english, russian};
use crate::markdown::to_markdown;
use crate::style::TerminalStyle;
use expect_test::expect_file;
use invent::{HOSTILE, account, hostile_account};
use model::matrix::{ChangeVerdict, TrialStatus};
use model::plan::{HttpStep, OperationKind};
use model::validity::InvalidReason;
use model::{SizeFigures, SplitMix64, StatementKind, StatementRows};

mod failover;
mod freshness;
mod invent;
mod logs;
mod overview;
mod search;
mod states;

/// Name and result of an invented run of each kind.
pub fn sample_runs() -> Vec<(&'static str, RunResult)> {
    overview::kinds().into_iter().map(|(name, result, _)| (name, result)).collect()
}

/// Compares `got` with a file of `expected/`; `UPDATE_EXPECT=1` rewrites it.
fn golden(name: &str, got: &str) {
    expect_file![format!("expected/{name}")].assert_eq(got);
}

#[test]
fn renders_a_page_in_both_languages() {
    for lang in lang::all() {
        let page = page(&account(), lang);
        golden(&format!("{}.md", lang.code()), &to_markdown(&page));
        let data = serde_json::to_string_pretty(&page).expect("the page can be serialised") + "\n";
        golden(&format!("{}.json", lang.code()), &data);
    }
    let result = account();
    golden("junit.xml", &junit(&result, &page(&result, english()).answer.text, english()));
}

#[test]
fn sizes_of_answers_are_in_the_page_and_in_the_terminal() {
    let mut result = account();
    let style = TerminalStyle { width: 100, colour: false, ..TerminalStyle::default() };
    assert_eq!(crate::sizes::text(&result, style, english()), "");
    let figures = SizeFigures { count: 12_345, mean: 2000.5, p50: Some(2048), p99: None, max: 40_960 };
    result.cells[0].operations[0].sizes = Some(figures);
    let named = |name: &str| name.replace(['\u{202f}', '\u{a0}'], " ");
    for (lang, median) in [(english() as &Lang, "size p50"), (russian(), "размер, p50")] {
        let shown = named(&to_markdown(&page(&result, lang)));
        assert!(shown.contains(median) && shown.contains(&named(&lang.bytes(2048.0))), "{shown}");
    }
    let shown = named(&crate::sizes::text(&result, style, english()));
    let rows: Vec<Vec<&str>> =
        shown.lines().skip(1).map(|it| it.split("  ").map(str::trim).collect()).collect();
    let cells = |row: usize| rows[row].iter().copied().filter(|it| !it.is_empty()).collect::<Vec<_>>();
    assert_eq!(rows.len(), 2, "{shown}");
    assert_eq!(cells(1), ["direct: read", "12345", "2 KiB", "40 KiB"], "{shown}");
}

#[test]
fn rows_of_statements_are_in_the_page() {
    let mut result = account();
    let rows = SizeFigures { count: 12_345, mean: 0.04, p50: Some(0), p99: Some(1), max: 7 };
    let (operation, command, statement) = (0, 4, StatementKind::Update);
    let statement = StatementRows { operation, command, statement, empty: 0.955, rows };
    result.cells[0].operations[0].rows = vec![statement];
    for (lang, without, share) in
        [(english() as &Lang, "without rows", "95.5"), (russian(), "без строк", "95,5")]
    {
        let shown = to_markdown(&page(&result, lang)).replace('\u{a0}', " ");
        let row = shown.lines().find(|it| it.contains("5. UPDATE")).unwrap_or_else(|| panic!("{shown}"));
        assert!(shown.contains(without) && row.contains(share) && row.contains("read"), "{shown}");
    }
}

#[test]
fn sections_are_ordered_and_not_empty() {
    let ids = |page: &Page| page.sections.iter().map(|section| section.id).collect::<Vec<_>>();
    let all_ids = [
        "goals",
        "stack",
        "results",
        "matrix",
        "charts",
        "statements",
        "findings",
        "doubts",
        "stand",
        "repeat",
        "terms",
    ];
    for lang in lang::all() {
        let rendered = page(&account(), lang);
        assert_eq!(ids(&rendered), all_ids);
        for section in &rendered.sections {
            assert!(!section.blocks.is_empty() && !section.heading.is_empty(), "{}", section.id);
        }
    }
    let mut bare = account();
    bare.trials.clear();
    bare.findings.clear();
    bare.environment = model::run_result::Environment::default();
    bare.info.text.clear();
    bare.info.command.clear();
    bare.cells.iter_mut().for_each(|it| *it = model::run_result::CellResult::default());
    bare.matrix.rows.iter_mut().for_each(|it| (it.figures, it.unapplied_limits) = (Vec::new(), Vec::new()));
    let bare_page = page(&bare, english());
    assert_eq!(ids(&bare_page), ["goals", "matrix", "terms"]);
    assert_eq!(bare_page.answer.text, "No answer yet: no trial has ended.");
}

/// Without a valid trial, the headline contains no number.
#[test]
fn does_not_headline_an_invalid_trial() {
    let mut result = account();
    for trial in &mut result.trials {
        trial.valid = false;
        trial.reasons = vec![InvalidReason::Saturated { thread: 0, busy: 0.97 }];
    }
    let answers: Vec<Line> = lang::all().iter().map(|lang| page(&result, lang).answer).collect();
    assert_eq!(
        answers[0].text,
        "No answer: none of 4 trials counts: the generator was saturated: thread 1 was busy 97 % of the time; use more \
         threads (-j) or less load."
    );
    assert!(answers[1].text.starts_with("Ответа нет: ни одно измерение из 4"), "{}", answers[1].text);
    assert!(answers.iter().all(|it| it.tone == Tone::Bad));
    result.trials.iter_mut().for_each(|trial| {
        trial.reasons.clear();
        trial.status = Some(TrialStatus::Skipped { reason: "Odyssey is not installed".into() });
    });
    assert_eq!(
        page(&result, english()).answer.text,
        "No answer: none of 4 trials counts: skipped: Odyssey is not installed."
    );
}

#[test]
fn a_single_cell_has_one_sentence() {
    let one = |change: &dyn Fn(&mut RunResult), lang: &Lang| {
        let mut result = invent::single_cell_account();
        change(&mut result);
        let page = page(&result, lang);
        (page.question, page.answer.text.replace(['\u{202f}', '\u{a0}'], " "), page.answer.tone)
    };
    let (question, answer, tone) = one(&|_| {}, english());
    assert_eq!(question, "What throughput does PostgreSQL sustain with 8 clients?");
    assert_eq!(
        answer,
        "Sustains 21570 transactions per second (95 % CI 21400 to 21700, 5 trials), p99 12.3 ms; its objective is met; \
         all trials are valid."
    );
    assert_eq!(tone, Tone::Good);
    let (question, answer, _) = one(&|_| {}, russian());
    assert_eq!(question, "Какую нагрузку выдерживает PostgreSQL при 8 клиентах?");
    assert_eq!(
        answer,
        "Выдерживает 21 570 транзакций в секунду (95 %: от 21 400 до 21 700, 5 измерений), p99 12,3 мс; цель \
         соблюдена; все измерения достоверны."
    );
    let (_, answer, tone) = one(&|it| it.trials[1].valid = false, english());
    assert!(answer.ends_with("; 1 of 2 trials are valid."), "{answer}");
    assert_eq!(tone, Tone::Doubt);
    let broken = |it: &mut RunResult| it.matrix.objectives[0].violated = 1;
    let (_, answer, tone) = one(&broken, english());
    assert!(answer.contains("; its objective is VIOLATED;"), "{answer}");
    assert_eq!(tone, Tone::Bad);
}

#[test]
fn names_pairs_of_cells_with_their_own_baselines() {
    let answer = |pairs: usize, lang: &Lang| {
        let page = page(&invent::paired_account(pairs), lang);
        (page.question, page.answer.text.replace(['\u{202f}', '\u{a0}'], " "))
    };
    let (question, text) = answer(2, english());
    assert_eq!(question, "How does throughput depend on way and clients, compared with direct?");
    assert_eq!(
        text,
        "pooled/2 sustains 20000 transactions per second compared with 10000 of direct/2: ratio 2.000 (95 % CI 1.900 \
         to 2.100), higher, p99 12.3 ms compared with 12.3 ms (5 trials); pooled/1 sustains 5000 transactions per \
         second compared with 10000 of direct/1: ratio 0.500 (95 % CI 0.475 to 0.525), lower, p99 12.3 ms compared \
         with 12.3 ms (5 trials); its objective is met; all trials are valid."
    );
    let (_, text) = answer(2, russian());
    assert!(
        text.starts_with(
            "pooled/2 выдерживает 20 000 транзакций в секунду, direct/2 — 10 000: отношение 2,000"
        )
    );
    let (_, text) = answer(6, english());
    assert!(text.contains("pooled/3 sustains") && !text.contains("pooled/2 sustains"), "{text}");
    assert!(text.contains("; and 2 more pairs; "), "{text}");
}

#[test]
fn pairs_without_evidence_of_a_difference_are_summed_up() {
    let mut result = invent::paired_account(4);
    let changes = |result: &mut RunResult, pairs: usize| {
        let figures = result.matrix.rows.iter_mut().rev().take(2 * pairs).flat_map(|row| &mut row.figures);
        figures
            .filter_map(|it| it.vs_baseline.as_mut())
            .for_each(|it| it.verdict = ChangeVerdict::NoEvidence);
    };
    changes(&mut result, 1);
    let text = page(&result, english()).answer.text;
    assert!(text.contains("pooled/4 sustains") && !text.contains("pairs"), "{text}");
    changes(&mut result, 3);
    let text = page(&result, english()).answer.text;
    assert!(text.starts_with("pooled/1 sustains") && !text.contains("pooled/2"), "{text}");
    assert!(text.contains("; no evidence of a difference in throughput in 3 pairs; "), "{text}");
}

/// A ratio is not evidence if there are too few trials, or if one of the cells is excluded from comparisons.
#[test]
fn heat_map_colours_only_evidence() {
    let shades = |change: &dyn Fn(&mut RunResult)| {
        let mut result = account();
        change(&mut result);
        let blocks = page(&result, english()).sections.into_iter().flat_map(|section| section.blocks);
        let map =
            blocks.filter_map(|block| if let Block::HeatMap(map) = block { Some(map) } else { None }).next();
        map.expect("a heat map").layers[0].cells.iter().map(|cell| cell.shade).collect::<Vec<_>>()
    };
    let verdict = |verdict: ChangeVerdict| {
        move |result: &mut RunResult| {
            let change = result.matrix.rows[1].figures[0].vs_baseline.as_mut().expect("a change");
            change.verdict = verdict;
        }
    };
    assert_eq!(shades(&|_| {})[1], Some(-0.25));
    assert_eq!(shades(&verdict(ChangeVerdict::NoEvidence))[1], Some(0.0));
    assert_eq!(shades(&verdict(ChangeVerdict::TooFewRuns))[1], None);
    let excluded = |result: &mut RunResult| {
        let reason = model::finding::IncomparableReason::ClientsStarved;
        result.findings.push(model::finding::Finding::NotCompared { cell: 1, reason });
    };
    assert_eq!(shades(&excluded)[1], None);
}

/// At least three quarters of the headings of columns of figures contain a defined term.
#[test]
fn terms_of_the_page_are_defined() {
    for lang in lang::all() {
        let page = page(&account(), lang);
        let terms = page.sections.iter().find(|section| section.id == "terms").expect("terms");
        let [Block::Facts { facts }] = terms.blocks.as_slice() else { panic!("{terms:?}") };
        let headings =
            page.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
                Block::Table(table) => Some(table.columns.iter().filter(|column| column.numeric)),
                _ => None,
            });
        let headings: Vec<String> = headings.flatten().map(|column| column.heading.to_lowercase()).collect();
        let defined =
            |heading: &&String| facts.iter().any(|(term, _)| heading.contains(&term.to_lowercase()));
        let defined_count = headings.iter().filter(defined).count();
        assert!(
            defined_count * 4 >= headings.len() * 3,
            "{defined_count} of {}: {headings:?}",
            headings.len()
        );
        for (term, text) in facts {
            assert!(!term.is_empty() && text.ends_with('.'), "{term}: {text}");
        }
        let words = if lang.code() == "en" {
            ["goodput", "service"]
        } else {
            ["goodput", "обслуживание"]
        };
        for word in words {
            assert!(facts.iter().any(|(term, _)| term == word), "{word}: {facts:?}");
        }
    }
}

#[test]
fn names_cells_that_have_no_measured_counterpart() {
    let answer = |unmeasured: &[usize]| {
        let mut result = invent::paired_account(2);
        for &cell in unmeasured {
            result.matrix.rows[cell].figures.clear();
            result.cells[cell].total = None;
        }
        page(&result, english()).answer.text
    };
    // Leave out the baseline of the first pair, then the pair's other cell.
    for cell in [0, 1] {
        let text = answer(&[cell]);
        assert!(text.starts_with("pooled/2 sustains 20000") && !text.contains("pooled/1"), "{text}");
        assert!(text.contains("; 1 cell has no measured baseline, or was not measured itself; "), "{text}");
    }
    let text = answer(&[0, 3]);
    assert!(!text.contains("none of") && text.contains("pooled/1"), "{text}");
    let text = answer(&[1, 3]);
    assert!(!text.contains("none of") && text.contains("direct/1"), "{text}");
}

/// In the open model, the schedule determines the throughput, so open-model cells are neither best nor worst, and have
/// no ratio.
#[test]
fn describes_open_cells_by_offered_load() {
    use model::plan::LoadModel;
    let open = |offered: f64, lang: &Lang| {
        let mut result = account();
        result.experiment.cells[1].setup.load.model = LoadModel::Open {
            schedule: "const(1, 1s)".into(),
            arrivals: model::Spacing::Poisson,
            max_in_flight: 8,
        };
        result.cells[1].total.as_mut().expect("the cell was measured").offered = model::PerSecond(offered);
        let page = page(&result, lang);
        let heat = page.sections.iter().flat_map(|it| &it.blocks).find_map(|block| match block {
            Block::HeatMap(heat_map) => Some(heat_map.layers[0].cells[1].shade),
            _ => None,
        });
        (page.answer.text.replace(['\u{202f}', '\u{a0}'], " "), heat.expect("a heat map"))
    };
    for (offered, english, russian) in [
        (
            18_200.0,
            "; pooled keeps up with the offered load: 18120 of 18200 (",
            "; с предложенной нагрузкой справляется pooled — 18 120 из 18 200 (",
        ),
        (
            20_000.0,
            "; pooled does not keep up with the offered load: 18120 of 20000 (",
            "; с предложенной нагрузкой не справляется pooled — 18 120 из 20 000 (",
        ),
    ] {
        for (lang, expected) in [(lang::english() as &Lang, english), (lang::russian(), russian)] {
            let (answer, shade) = open(offered, lang);
            assert!(answer.contains(expected), "{answer}");
            assert!(!answer.contains("of the baseline") && !answer.contains("от базы"), "{answer}");
            assert_eq!(shade, None);
        }
    }
}

/// Stored data match the page's charts, in the same order.
#[test]
fn chart_numbers_match_the_charts() {
    let result = account();
    let pages: Vec<Page> = lang::all().iter().map(|lang| page(&result, lang)).collect();
    let text = document(&result, &pages, "ru", None);
    let actual: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&actual["format"], &actual["version"]), (&"pgdyno.page".into(), &1.into()));
    assert_eq!((&actual["lang"], &actual["live"]), (&"ru".into(), &().into()));
    for page in &pages {
        let Some(charts) = page.sections.iter().flat_map(|it| &it.blocks).find_map(|block| match block {
            Block::Charts(charts) => Some(charts),
            _ => None,
        }) else {
            panic!("a page without charts")
        };
        let data = actual["data"].as_array().expect("the value is a list");
        assert_eq!(data.len(), charts.trials.len());
        for (trial, numbers) in charts.trials.iter().zip(data) {
            let points = numbers["times_s"].as_array().expect("the value is a list").len();
            let columns = numbers["charts"].as_array().expect("the value is a list");
            assert_eq!(columns.len(), trial.charts.len());
            for (chart, tracks) in trial.charts.iter().zip(columns) {
                let tracks = tracks.as_array().expect("the value is a list");
                assert_eq!(tracks.len(), chart.tracks.len(), "{}", chart.title);
                assert!(
                    tracks.iter().all(|track| track.as_array().is_some_and(|values| values.len() == points))
                );
            }
        }
    }
    // A value that was not measured is `null`, not zero.
    assert_eq!(actual["data"][0]["charts"][0][1][1], serde_json::Value::Null);
    let live = document(&result, &pages, "en", Some("/runs/x/events"));
    assert!(live.ends_with("\"live\":{\"events\":\"/runs/x/events\"}}"));
}

#[test]
fn evidence_links_resolve() {
    let result = account();
    let page = page(&result, english());
    let ids: Vec<&str> = page.sections.iter().map(|it| it.id).collect();
    let mut links = Vec::new();
    let mut charts = None;
    for block in page.sections.iter().flat_map(|it| &it.blocks) {
        match block {
            Block::Findings { findings } => links.extend(findings.iter().flat_map(|it| &it.evidence)),
            Block::Charts(it) => charts = Some(it),
            _ => {}
        }
    }
    let charts = charts.expect("charts");
    assert!(links.len() >= 3);
    for link in links {
        assert!(ids.contains(&link.section), "{link:?}");
        if let (Some(trial), Some(chart)) = (link.trial, link.chart) {
            assert!(charts.trials[trial].charts.iter().any(|it| it.id == chart), "{link:?}");
        }
    }
}

/// Finds markup or control sequences that no reader may interpret.
fn unsafe_markup(text: &str) -> Option<String> {
    let tags = ["<script", "</script", "<img", "onerror=\""];
    let lower = text.to_ascii_lowercase();
    if let Some(tag) = tags.iter().find(|it| lower.contains(*it)) {
        return Some((*tag).to_owned());
    }
    let steers = |character: &char| {
        matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || (character.is_control() && *character != '\n')
    };
    text.chars().find(steers).map(|it| it.escape_unicode().to_string())
}

#[test]
fn escapes_hostile_text_in_every_format() {
    assert!(unsafe_markup(HOSTILE).is_some(), "the test must detect unsafe markup");
    let result = hostile_account();
    for lang in lang::all() {
        let page = page(&result, lang);
        let terminal =
            crate::matrix::render(&result.matrix, &result.findings, TerminalStyle::default(), lang);
        let xml = junit(&result, &page.answer.text, lang);
        // Fenced text is literal, and its fence is longer than any fence within.
        let markdown: String = to_markdown(&page).split("\n```").step_by(2).collect();
        for (form, text) in [("markdown", markdown), ("junit", xml)] {
            assert_eq!(unsafe_markup(&text), None, "{form}\n{text}");
            assert!(text.contains("alert(1)"), "{form} lost it");
        }
        // A terminal does not interpret tags.
        let steers = |it: char| it.is_control() && it != '\n' || ('\u{202a}'..='\u{202e}').contains(&it);
        assert!(!terminal.contains(steers), "{terminal}");
        let document = document(&result, std::slice::from_ref(&page), lang.code(), None);
        let shell =
            crate::html::HtmlShell { lang: lang.code(), title: &page.title, no_script: "", live: false };
        let html = crate::html::to_html(shell, &document);
        let body = &html[html.find("<body>").expect("the page has a body")..];
        assert!(!html.contains("alert(1)</") && !body.contains("onerror=alert"), "HTML");
        // JSON contains the original text.
        let data: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        let statement = &data["pages"][0]["sections"];
        assert!(statement.to_string().contains("onerror=alert"), "the document lacks the text");
    }
}

#[test]
fn folds_three_axes_into_two() {
    let mut result = account();
    for (row, values) in
        result.matrix.rows.iter_mut().zip([["a", "1", "x"], ["a", "2", "y"], ["b", "1", "x"]])
    {
        let axes = ["one", "two", "three"].into_iter().zip(values);
        row.label = axes.map(|(axis, value)| (axis.to_owned(), value.to_owned())).collect();
    }
    let page = page(&result, english());
    let heat = page.sections.iter().flat_map(|it| &it.blocks).find_map(|block| match block {
        Block::HeatMap(heat_map) => Some(heat_map),
        _ => None,
    });
    let heat = heat.expect("a heat map");
    assert_eq!(heat.across, ("three".to_owned(), vec!["x".to_owned(), "y".to_owned()]));
    assert_eq!(heat.down.0, "one / two");
    assert_eq!(heat.down.1, ["a / 1", "a / 2", "b / 1"]);
    let names: Vec<&str> = heat.layers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["tps", "p99, ms"]);
    let texts: Vec<&str> = heat.layers[0].cells.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["21570", "", "", "18120", "", ""]);
    assert_eq!(heat.layers[0].cells[3].shade, Some(-0.25));
}

/// Run with the given numbers of points and operations. Its noisy values compress worse than real ones.
fn long(points: usize, operations: usize) -> RunResult {
    use model::chart::{Annotation, Chart, ChartKind, ChartSeries, ChartSeriesKind, Charts};
    let mut result = invent::single_cell_account();
    let mut rng = SplitMix64(42);
    let mut noise = |mean: f64| Some(mean * (1.0 + 0.1 * rng.uniform()));
    let track = |kind, label: Option<String>, values| ChartSeries { kind, node: None, label, values };
    let chart = |kind, count: usize, mean: f64, noise: &mut dyn FnMut(f64) -> Option<f64>| Chart {
        kind,
        series: (0..count)
            .map(|n| {
                let values = (0..points).map(|_| noise(mean)).collect();
                track(ChartSeriesKind::Delivered, Some(format!("operation-{n}")), values)
            })
            .collect(),
    };
    let charts = [
        (ChartKind::Rate, 1 + operations, 500.0),
        (ChartKind::Response, 5, 0.012),
        (ChartKind::ResponseByOperation, 2 * operations, 0.012),
        (ChartKind::Failures, 3, 2.0),
        (ChartKind::InFlight, 2, 40.0),
        (ChartKind::Pooler, 5, 17.0),
        (ChartKind::Connections, 5, 12.0),
        (ChartKind::Processors, 6, 0.6),
        (ChartKind::Disk, 4, 4e6),
        (ChartKind::Waits, 8, 3.0),
        (ChartKind::ReplicationLag, 2, 1e5),
        (ChartKind::SendLag, 2, 2e-6),
    ];
    let charts = charts.map(|(kind, count, mean)| chart(kind, count, mean, &mut noise)).to_vec();
    let mark = |n: usize| Annotation {
        at: n as f64,
        node: "postgres".into(),
        kind: model::EventKind::SlowStatement,
        count: 1,
        text: format!("duration: {n}.{n} ms  statement: SELECT {n}"),
    };
    result.trials.truncate(1);
    result.trials[0].charts = Charts {
        bin: 1,
        times: (0..points).map(|it| it as f64).collect(),
        charts,
        annotations: (0..2000).map(mark).collect(),
    };
    result
}

/// Measures the whole file, in all languages.
#[test]
fn html_files_stay_below_the_mail_limit() {
    for (name, points, operations, most) in
        [("an hour", 3600, 1, 1_000_000), ("six hours", 7200, 7, 5_000_000)]
    {
        let result = long(points, operations);
        let pages: Vec<Page> = lang::all().iter().map(|lang| page(&result, lang)).collect();
        let document = document(&result, &pages, "en", None);
        let shell = crate::html::HtmlShell { lang: "en", title: "x", no_script: "x", live: false };
        let file = crate::html::to_html(shell, &document);
        println!("{name}: document of {} bytes, file of {}", document.len(), file.len());
        assert!(file.len() <= most, "{name}: {} bytes", file.len());
    }
}

/// Lines of the page that contain any of these words.
fn lines_with(page: &str, words: &[&str]) -> Vec<String> {
    // PostgreSQL itself names a lock `transactionid`.
    let text = |line: &str| line.to_lowercase().replace("lock/transactionid", "");
    let contains = |line: &&str| words.iter().any(|word| text(line).contains(word));
    page.lines().filter(contains).map(str::to_owned).collect()
}

#[test]
fn http_runs_speak_of_requests() {
    let mut result = invent::single_cell_account();
    let step = HttpStep::new("GET", "/books");
    for cell in &mut result.experiment.cells {
        cell.setup.operations.truncate(1);
        cell.setup.operations[0].kind = OperationKind::Http(vec![step.clone()]);
    }
    let words = ["transaction", "tps", "simple protocol", "транзак", "транз/с", "простой протокол"];
    for lang in lang::all() {
        let text = to_markdown(&page(&result, lang));
        assert_eq!(lines_with(&text, &words), [""; 0], "{text}");
    }
    // An operation of several requests is not one request.
    result.experiment.cells[0].setup.operations[0].kind = OperationKind::Http(vec![step.clone(), step]);
    assert!(std::ptr::eq(english().for_experiment(&result.experiment), english()));
}
