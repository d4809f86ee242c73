//! Names of cells

use model::matrix::{Matrix, Row};

/// Names of the cells, made of their values on each axis, such as `session/200`.
pub(crate) fn cell_names(matrix: &Matrix) -> Vec<String> {
    let name = |row: &Row| row.label.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join("/");
    matrix.rows.iter().map(name).collect()
}
