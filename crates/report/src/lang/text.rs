//! Names and shortened texts in sentences

/// Name of the cell with this index.
pub(super) fn cell_name(names: &[String], cell: usize) -> &str {
    names.get(cell).map_or("?", String::as_str)
}

/// Names of these cells, separated by commas.
pub(super) fn cell_list(names: &[String], cells: &[usize]) -> String {
    cells.iter().map(|it| cell_name(names, *it)).collect::<Vec<_>>().join(", ")
}

/// Name of an operation, with the name of the step if the operation has several steps.
pub(super) fn request(operation: &str, step: Option<&str>) -> String {
    step.map_or(operation.to_owned(), |step| format!("{operation}, {step}"))
}

/// The beginning of a statement, in one line.
pub(super) fn short(text: &str) -> String {
    crate::text::truncate(text, 80)
}
