//! What do the first lines of a feed's file tell?

use crate::voice::plain;
use experiment::Columns;
use feed::Form;
use model::plan::FeedForm;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Of a line; longer ones are not looked at.
const LONGEST: u64 = 1 << 20;

/// What a file of this name most likely is.
pub fn form(name: &str) -> Option<FeedForm> {
    Form::of_name(name).map(|it| match it {
        Form::Csv => FeedForm::Csv,
        Form::Tsv => FeedForm::Tsv,
        Form::JsonLines => FeedForm::JsonLines,
        Form::Uri => FeedForm::Uri,
        Form::UriPost => FeedForm::UriPost,
        Form::Raw => FeedForm::Raw,
        Form::Access => FeedForm::Access,
    })
}

/// The columns of a file, or why there are none. Only its first line that is not empty is read.
pub fn columns(path: &Path, form: FeedForm, given: Option<&[String]>) -> Columns {
    let unreadable = |error: io::Error| format!("it cannot be read: {}", plain(&error));
    let file = File::open(path).map_err(unreadable)?;
    let mut text = feed::plain(BufReader::new(file)).map_err(|it| it.to_string())?;
    let mut line = Vec::new();
    while line.trim_ascii().is_empty() {
        line.clear();
        if (&mut text).take(LONGEST).read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Err("it holds no row".to_owned());
        }
    }
    let form = match form {
        FeedForm::Csv => Form::Csv,
        FeedForm::Tsv => Form::Tsv,
        FeedForm::JsonLines => Form::JsonLines,
        FeedForm::Uri | FeedForm::UriPost | FeedForm::Raw | FeedForm::Access => {
            return Ok(feed::AMMO.map(str::to_owned).to_vec());
        }
    };
    if form != Form::JsonLines && given.is_none() {
        // The line of names, and itself for a row.
        let again = line.clone();
        line.extend((!again.ends_with(b"\n")).then_some(b'\n'));
        line.extend(again);
    }
    let packing = feed::pack(form, given, &mut line.as_slice(), io::sink()).map_err(|it| it.to_string())?;
    Ok(packing.columns().to_vec())
}
