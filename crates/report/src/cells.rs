//! Names of cells

use model::matrix::{Matrix, Row};

/// Name of the baseline. A single baseline has the name of its cell. Several baselines share a name: the axis values in
/// which they differ from the cells compared with them. `None` without a baseline.
pub(crate) fn baseline_name(matrix: &Matrix) -> Option<String> {
    if let Some(baseline) = matrix.baseline {
        return cell_names(matrix).get(baseline).cloned();
    }
    let row = matrix.rows.iter().find(|row| row.baseline.is_some())?;
    let baseline = matrix.rows.get(row.baseline?)?;
    let differing = baseline.label.iter().filter(|it| !row.label.contains(it));
    Some(differing.map(|it| it.1.as_str()).collect::<Vec<_>>().join("/"))
}

/// Names of the cells: the values on all axes, such as `session/200`.
pub(crate) fn cell_names(matrix: &Matrix) -> Vec<String> {
    let name = |row: &Row| row.label.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join("/");
    matrix.rows.iter().map(name).collect()
}
