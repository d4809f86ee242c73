//! Figures that show the result of a run at a glance

use super::run_view::RunView;
use super::{Element, Figure, elements, graphs};
use crate::cells::cell_names;
use crate::lang::Lang;
use crate::page::representative_trials;
use model::chart::ChartKind;
use model::run_result::RunResult;

/// Charts of a trial, if the run neither searched nor compared.
const TRIAL_CHARTS: [ChartKind; 2] = [ChartKind::Rate, ChartKind::Response];

/// Graph of each search; otherwise the comparison of the cells; otherwise the rate and the response times of a trial.
pub fn key_figures(result: &RunResult, lang: &Lang) -> Vec<Figure> {
    let all = RunView::all(std::slice::from_ref(result), lang);
    all.iter().flat_map(of_view).filter_map(into_figure).collect()
}

fn of_view(view: &RunView<'_>) -> Vec<Element> {
    let names = cell_names(&view.result.matrix);
    let name = |cell: usize| names.get(cell).map_or("", String::as_str);
    let searches = view.result.maxima.iter().filter_map(|it| graphs::search(view, it, name(it.cell)));
    let searches: Vec<Element> = searches.collect();
    if !searches.is_empty() {
        return searches;
    }
    let picture = view.page.overview.as_ref().and_then(|it| it.picture.as_ref());
    if let Some(compared) = picture.and_then(|it| elements::figure(it, view.lang)) {
        return vec![compared];
    }
    let trial = representative_trials(view.result, view.lang).first().copied();
    let Some((charts, number)) = view.charts().zip(trial) else { return Vec::new() };
    let Some(trial) = crate::page::charted(view.result).nth(number) else { return Vec::new() };
    graphs::over_time(&charts.trials[number], &trial.charts, &TRIAL_CHARTS, view.lang)
}

fn into_figure(element: Element) -> Option<Figure> {
    match element {
        Element::Figure(figure) => Some(figure),
        _ => None,
    }
}
