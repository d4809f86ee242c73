//! Chapters of a bound document: their order, their contents and their numbers

use super::elements::{from_text, list, paragraph, plain};
use super::run_view::RunView;
use super::{BoundDocument, Chapter, Element, elements, graphs, profile};
use crate::cells::cell_names;
use crate::lang::Lang;
use crate::page::{charted, representative_trials};
use crate::say;
use crate::view::{Block, Column, LargeFigure, Row, Table, Tone};
use model::chart::ChartKind;
use model::plan::{DocumentTexts, Goal, SpanStyle, TextSpan};
use model::run_result::RunResult;
use model::search::StepPurpose;

/// Charts of a confirmed level.
const CONFIRM_CHARTS: [ChartKind; 4] =
    [ChartKind::Rate, ChartKind::Response, ChartKind::Failures, ChartKind::Processors];
/// Charts of a soak: its load, and what may leak or drift.
const SOAK_CHARTS: [ChartKind; 9] = [
    ChartKind::Rate,
    ChartKind::Response,
    ChartKind::Failures,
    ChartKind::ServicePools,
    ChartKind::Connections,
    ChartKind::Processors,
    ChartKind::ServiceMetrics,
    ChartKind::ReplicationLag,
    ChartKind::Memory,
];
/// Charts of a compared setting.
const GRID_CHARTS: [ChartKind; 2] = [ChartKind::Rate, ChartKind::Response];

/// Builds the document. `texts` are the user's sections. Sections without data are left out, and the numbers follow.
pub fn bind(runs: &[RunResult], texts: &DocumentTexts, lang: &'static Lang) -> BoundDocument {
    let views = RunView::all(runs, lang);
    let mut builder = Builder::default();
    builder.text(say!(lang, "document-goals"), from_text(&texts.goals));
    builder.text(say!(lang, "document-method"), from_text(&texts.method));
    builder.text(say!(lang, "document-acceptance"), from_text(&texts.acceptance));
    builder.runs(say!(lang, "document-results"), &views, results);
    builder.runs(say!(lang, "document-profile"), &views, load_profile);
    builder.runs(say!(lang, "document-search"), &views, search);
    builder.runs(say!(lang, "document-confirmation"), &views, |view| held(view, StepPurpose::Confirm));
    builder.runs(say!(lang, "document-soak"), &views, |view| held(view, StepPurpose::Soak));
    builder.runs(say!(lang, "document-grid"), &views, grid);
    builder.section("failover", &views);
    builder.section("freshness", &views);
    builder.section("results", &views);
    builder.section("stack", &views);
    builder.section("findings", &views);
    builder.section("statements", &views);
    builder.section("tables", &views);
    builder.section("states", &views);
    builder.section("logs", &views);
    let is_plans = |block: &Block| matches!(block, Block::Details { .. });
    builder.runs(say!(lang, "document-plans"), &views, |view| view.part("advice", is_plans));
    builder.runs(say!(lang, "document-advice"), &views, |view| view.part("advice", |it| !is_plans(it)));
    builder.section("doubts", &views);
    builder.environments(say!(lang, "page-environment"), &views);
    builder.text(say!(lang, "document-conclusions"), from_text(&texts.conclusions));
    builder.runs(say!(lang, "document-annex"), &views, annex);
    let names = || views.iter().map(|view| view.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut document = BoundDocument {
        lang: lang.code(),
        title: texts.title.clone().filter(|it| !it.is_empty()).unwrap_or_else(names),
        subtitle: views.iter().map(|view| view.page.facts.join(" · ")).collect(),
        contents: say!(lang, "document-contents"),
        chapters: builder.chapters,
    };
    number_captions(&mut document, lang);
    document
}

#[derive(Default)]
struct Builder {
    chapters: Vec<Chapter>,
    /// Number of the last chapter, and of its last part.
    number: (usize, usize),
}

impl Builder {
    fn chapter(&mut self, heading: String, elements: Vec<Element>) {
        self.number = (self.number.0 + 1, 0);
        let (number, id) = (self.number.0.to_string(), format!("s{}", self.number.0));
        self.chapters.push(Chapter { id, number, level: 1, heading, elements });
    }

    fn part(&mut self, heading: String, elements: Vec<Element>) {
        self.number.1 += 1;
        let (chapter, part) = self.number;
        let (number, id) = (format!("{chapter}.{part}"), format!("s{chapter}-{part}"));
        self.chapters.push(Chapter { id, number, level: 2, heading, elements });
    }

    /// Adds a chapter of the user's text.
    fn text(&mut self, heading: String, elements: Vec<Element>) {
        if !elements.is_empty() {
            self.chapter(heading, elements);
        }
    }

    /// Adds a chapter with a part for each run that has elements.
    fn runs<'a>(
        &mut self,
        heading: String,
        views: &[RunView<'a>],
        elements: impl Fn(&RunView<'a>) -> Vec<Element>,
    ) {
        let parts = views.iter().map(|view| (view.name.clone(), view.qualifications(), elements(view)));
        let parts: Vec<_> = parts.filter(|it| !it.2.is_empty()).collect();
        if parts.is_empty() {
            return;
        }
        self.chapter(heading, Vec::new());
        for (name, qualifications, elements) in parts {
            self.part(name, [qualifications, elements].concat());
        }
    }

    /// Adds a chapter with a section of each run's page.
    fn section(&mut self, section: &str, views: &[RunView<'_>]) {
        if let Some(heading) = views.iter().find_map(|view| view.heading(section)) {
            self.runs(heading.to_owned(), views, |view| view.section(section));
        }
    }

    /// Adds the chapter on the environment. Runs with the same environment share a part.
    fn environments(&mut self, heading: String, views: &[RunView<'_>]) {
        let mut groups: Vec<(String, Vec<Element>)> = Vec::new();
        for view in views {
            let elements = view.part("stand", |block| !matches!(block, Block::Code { .. }));
            match groups.iter_mut().find(|group| group.1 == elements) {
                Some(group) => group.0 += &format!(", {}", view.name),
                None => groups.push((view.name.clone(), elements)),
            }
        }
        groups.retain(|group| !group.1.is_empty());
        if !groups.is_empty() {
            self.chapter(heading, Vec::new());
            groups.into_iter().for_each(|(name, elements)| self.part(name, elements));
        }
    }
}

/// Question, answer, figures and objectives of a run.
fn results(view: &RunView<'_>) -> Vec<Element> {
    let (lang, page) = (view.lang, &view.page);
    let question = vec![TextSpan { text: page.question.clone(), style: SpanStyle::Emphasis }];
    let answer = vec![TextSpan { text: page.answer.text.clone(), style: SpanStyle::Strong }];
    let mut elements = vec![
        Element::Paragraph { spans: question, tone: Tone::Plain },
        Element::Paragraph { spans: answer, tone: page.answer.tone },
    ];
    match &page.overview {
        Some(overview) => {
            let row = |figure: &LargeFigure| Row {
                cells: vec![figure.label.clone(), figure.value.clone(), figure.detail.clone()],
                tone: figure.tone,
                baseline: false,
            };
            let text = |heading| Column { heading, ..Column::default() };
            let columns = vec![
                text(say!(lang, "document-figure-name")),
                text(say!(lang, "document-figure-value")),
                text(say!(lang, "document-figure-detail")),
            ];
            let rows = overview.figures.iter().map(row).collect();
            elements.push(Element::Table(Table { columns, rows, ..Table::default() }));
            if !overview.doubts.is_empty() {
                elements.push(list(&overview.doubts));
            }
        }
        None => elements.push(plain(say!(lang, "document-nothing-measured"))),
    }
    elements.extend(view.part("goals", |block| matches!(block, Block::List { .. })));
    elements
}

fn load_profile(view: &RunView<'_>) -> Vec<Element> {
    let mut elements = view.part("goals", |block| matches!(block, Block::Facts { .. }));
    elements.extend(profile::tables(view));
    elements
}

/// Answer, limiter, steps and graph of each search of a run.
fn search(view: &RunView<'_>) -> Vec<Element> {
    let mut elements = view.section("maximum");
    let names = cell_names(&view.result.matrix);
    let figures = view.result.maxima.iter().filter_map(|maximum| {
        graphs::search(view, maximum, names.get(maximum.cell).map_or("", String::as_str))
    });
    elements.extend(figures);
    elements.extend(view.section("scalability"));
    elements
}

/// Result of a held level, with the charts of its trials. Empty if the run has another goal.
fn held(view: &RunView<'_>, purpose: StepPurpose) -> Vec<Element> {
    let kinds: &[ChartKind] = match (&view.result.experiment.goal, purpose) {
        (Goal::Confirm(_), StepPurpose::Confirm) => &CONFIRM_CHARTS,
        (Goal::Soak(_), StepPurpose::Soak) => &SOAK_CHARTS,
        _ => return Vec::new(),
    };
    let mut elements = view.section("endured");
    if elements.is_empty() {
        elements.push(paragraph(&crate::view::Line {
            text: say!(view.lang, "document-level-not-held"),
            tone: Tone::Bad,
        }));
    }
    if let Some(charts) = view.charts() {
        for (number, trial) in view.charted_trials(purpose) {
            elements.extend(graphs::over_time(&charts.trials[number], &trial.charts, kinds, view.lang));
        }
    }
    elements
}

/// Comparison of the cells of a run: table, grid, picture, and charts of the cells that its page shows in full.
fn grid(view: &RunView<'_>) -> Vec<Element> {
    if view.result.experiment.cells.len() < 2 {
        return Vec::new();
    }
    let mut elements = view.section("plateau");
    let is_search = view.result.experiment.goal.max_search().is_some();
    let picture = view.page.overview.as_ref().and_then(|it| it.picture.as_ref());
    elements.extend(picture.filter(|_| !is_search).and_then(|it| elements::figure(it, view.lang)));
    elements.extend(view.section("matrix"));
    if let (Goal::Once | Goal::Sweep(_), Some(charts)) = (&view.result.experiment.goal, view.charts()) {
        let trials: Vec<_> = charted(view.result).collect();
        for number in representative_trials(view.result, view.lang) {
            let (trial, charts) = (&charts.trials[number], &trials[number].charts);
            elements.extend(graphs::over_time(trial, charts, &GRID_CHARTS, view.lang));
        }
    }
    elements
}

/// Command, experiment file and configurations.
fn annex(view: &RunView<'_>) -> Vec<Element> {
    let mut elements = view.section("repeat");
    elements.extend(view.part("stand", |block| matches!(block, Block::Code { .. })));
    elements
}

/// Numbers the captions of tables and figures in the order of the document.
fn number_captions(document: &mut BoundDocument, lang: &Lang) {
    let (mut tables, mut figures) = (0, 0);
    let elements = document.chapters.iter_mut().flat_map(|it| &mut it.elements);
    for element in elements {
        match element {
            Element::Table(table) => {
                tables += 1;
                let caption = Some(std::mem::take(&mut table.caption)).filter(|it| !it.is_empty());
                table.caption = say!(lang, "document-table", number = tables.to_string(), caption);
            }
            Element::Figure(figure) => {
                figures += 1;
                let caption = &figure.caption;
                figure.caption = say!(lang, "document-figure", number = figures.to_string(), caption);
            }
            Element::Paragraph { .. } | Element::List { .. } | Element::Code { .. } => {}
        }
    }
}
