//! Reader of JSON lines, one object per line

use crate::bounds::{MAX_ROW_BYTES, check_columns, check_nul, row_too_long};
use crate::diagnostic::{Diagnostic, excerpt};
use crate::pack::PackedWriter;
use model::message;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{BufRead, Read, Write};

/// Writes each object as a row. Strings are decoded, null becomes an empty field, and other values keep their text.
///
/// Without `columns`, the columns are the members of the first object, in the object's order.
pub fn read<W: Write>(
    columns: Option<&[String]>,
    source: &mut dyn BufRead,
    out: W,
) -> Result<PackedWriter<W>, Diagnostic> {
    let (mut out, mut packing) = (Some(out), None);
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let read = (&mut *source).take(MAX_ROW_BYTES + 1).read_until(b'\n', &mut text);
        match read.map_err(|it| Diagnostic::from_io_error(line, &it))? as u64 {
            0 => break,
            1..=MAX_ROW_BYTES => {}
            _ => return Err(Diagnostic::from_io_error(line, &row_too_long())),
        }
        let trimmed = text.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        let object: HashMap<String, &RawValue> = serde_json::from_slice(trimmed)
            .map_err(|_| Diagnostic::new(line, message!("feed-no-object", found = excerpt(trimmed))))?;
        if let Some(out) = out.take() {
            let columns = columns.map_or_else(|| member_names(&object), <[String]>::to_vec);
            check_columns(&columns)?;
            packing = Some(PackedWriter::new(out, columns));
        }
        let packing = packing.as_mut().expect("the first object created it");
        let missing = packing.columns().iter().find(|it| !object.contains_key(it.as_str()));
        if let Some(name) = missing {
            return Err(Diagnostic::new(line, message!("feed-no-member", name)));
        }
        let values: Vec<Vec<u8>> = packing.columns().iter().map(|it| unquote(object[it.as_str()])).collect();
        check_nul(line, values.iter().map(Vec::as_slice), packing.columns())?;
        packing.push(values.iter().map(Vec::as_slice)).map_err(|it| Diagnostic::from_io_error(line, &it))?;
    }
    packing.ok_or_else(|| Diagnostic::new(0, message!("feed-empty")))
}

/// Names of the object's members in the order of the text. The values point into the text, so their addresses have the
/// same order.
fn member_names(object: &HashMap<String, &RawValue>) -> Vec<String> {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|it| it.1.get().as_ptr());
    members.into_iter().map(|it| it.0.clone()).collect()
}

fn unquote(value: &RawValue) -> Vec<u8> {
    match value.get() {
        "null" => Vec::new(),
        text if text.starts_with('"') => {
            serde_json::from_str::<String>(text).map_or_else(|_| text.as_bytes().to_vec(), String::into_bytes)
        }
        text => text.as_bytes().to_vec(),
    }
}
