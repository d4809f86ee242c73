//! Tables that an experiment file declares

use super::generator::{ValueContext, ValueGenerator, column_seed as seed_of, sql_type};
use super::row_rng::row_rng;
use super::table_spec::{CopyFormat, TableSpec};
use super::{TableDiagnostic, quote_identifier};
use model::message;
use model::message::Message;
use model::plan::{Column, Table};

/// Specifications of all tables, or all errors in them.
pub(super) fn table_specs(tables: &[Table], seed: u64) -> Result<Vec<TableSpec>, Vec<TableDiagnostic>> {
    let mut mistakes = Vec::new();
    let mut specs = Vec::new();
    if tables.is_empty() {
        let message = message!("dataset-no-table");
        mistakes.push(TableDiagnostic { table: String::new(), column: None, message });
    }
    for (at, table) in tables.iter().enumerate() {
        if tables[..at].iter().any(|it| it.name == table.name) {
            let message = message!("dataset-table-twice");
            mistakes.push(TableDiagnostic { table: table.name.clone(), column: None, message });
        }
        specs.extend(table_spec(table, seed, &mut mistakes));
    }
    if mistakes.is_empty() { Ok(specs) } else { Err(mistakes) }
}

/// Column that is prepared for generating values.
struct PreparedColumn {
    draw: ValueGenerator,
    /// Seed of the column's random numbers.
    seed: u64,
    /// Threshold for NULL: a value is NULL if a 32-bit random number is below it.
    nulls: u64,
}

fn table_spec(table: &Table, seed: u64, mistakes: &mut Vec<TableDiagnostic>) -> Option<TableSpec> {
    let before = mistakes.len();
    let mut wrong = |column: Option<&str>, message: Message| {
        mistakes.push(TableDiagnostic {
            table: table.name.clone(),
            column: column.map(str::to_owned),
            message,
        });
    };
    let (schema, name) = match table.name.split_once('.') {
        Some((schema, name)) => (Some(schema.to_owned()), name.to_owned()),
        None => (None, table.name.clone()),
    };
    if name.is_empty() || schema.as_deref() == Some("") {
        wrong(None, message!("dataset-table-no-name"));
    }
    if schema.as_deref() == Some("pgdyno") {
        wrong(None, message!("dataset-reserved-schema"));
    }
    if table.columns.is_empty() {
        wrong(None, message!("dataset-no-columns"));
    }
    let mut ready = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        if column.name.is_empty() {
            wrong(None, message!("dataset-column-no-name"));
        }
        if table.columns[..at].iter().any(|it| it.name == column.name) {
            wrong(Some(&column.name), message!("dataset-column-twice"));
        }
        if !(0.0..=1.0).contains(&column.null_fraction) {
            wrong(
                Some(&column.name),
                message!("dataset-null-share", share = column.null_fraction.to_string()),
            );
        }
        match ValueGenerator::new(&column.generator, ValueContext::CopyField) {
            Ok(draw) => ready.push(PreparedColumn {
                draw,
                seed: seed_of(seed, &table.name, &column.name),
                nulls: (column.null_fraction * 4_294_967_296.0) as u64,
            }),
            Err(error) => wrong(Some(&column.name), (&error).into()),
        }
    }
    for key in &table.primary_key {
        match table.columns.iter().find(|it| it.name == *key) {
            None => wrong(Some(key), message!("dataset-key-no-column")),
            Some(column) if column.null_fraction > 0.0 => {
                wrong(Some(key), message!("dataset-key-nulls"));
            }
            Some(_) => {}
        }
    }
    if mistakes.len() > before {
        return None;
    }
    let mut spec = TableSpec {
        schema,
        name,
        rows: table.rows,
        create: String::new(),
        form: CopyFormat::Text,
        write: Box::new(move |row, out| write_row(&ready, row, out)),
        post_load_statements: Vec::new(),
    };
    let identifier = spec.identifier();
    let columns: Vec<String> = table.columns.iter().map(column_definition).collect();
    spec.create = format!("create table {identifier}({})", columns.join(", "));
    if !table.primary_key.is_empty() {
        let key: Vec<String> = table.primary_key.iter().map(|it| quote_identifier(it)).collect();
        spec.post_load_statements
            .push(format!("alter table {identifier} add primary key ({})", key.join(", ")));
    }
    spec.post_load_statements
        .extend(table.indexes.iter().map(|it| format!("create index on {identifier} ({it})")));
    Some(spec)
}

fn column_definition(column: &Column) -> String {
    let kind = column.sql_type.as_deref().unwrap_or_else(|| sql_type(&column.generator));
    let not_null = if column.null_fraction > 0.0 { "" } else { " not null" };
    format!("{} {kind}{not_null}", quote_identifier(&column.name))
}

fn write_row(columns: &[PreparedColumn], row: u64, out: &mut Vec<u8>) {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        let mut chance = row_rng(column.seed, row);
        if column.nulls > 0 && chance.below(1 << 32) < column.nulls {
            out.extend_from_slice(b"\\N");
        } else {
            column.draw.write(row, &mut chance, ValueContext::CopyField, out);
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::ColumnGenerator;

    fn column(name: &str, generator: ColumnGenerator) -> Column {
        Column { name: name.to_owned(), sql_type: None, generator, null_fraction: 0.0 }
    }

    fn table(columns: Vec<Column>) -> Table {
        let (primary_key, indexes) = (Vec::new(), Vec::new());
        Table { name: "t".to_owned(), rows: 1000, columns, primary_key, indexes }
    }

    /// Returns rows in the format in which they are sent.
    fn rows(columns: Vec<Column>, seed: u64, rows: std::ops::Range<u64>) -> Vec<String> {
        let specs = table_specs(&[table(columns)], seed).unwrap();
        let row = |row| {
            let mut out = Vec::new();
            (specs[0].write)(row, &mut out);
            String::from_utf8(out).unwrap().trim_end_matches('\n').to_owned()
        };
        rows.map(row).collect()
    }

    #[test]
    fn golden_rows() {
        let check = |generator: ColumnGenerator, expected: [&str; 3]| {
            let shown = rows(vec![column("c", generator.clone())], 42, 0..3);
            assert_eq!(shown, expected, "{generator:?}");
        };
        let text = |it: &str| it.to_owned();
        check(ColumnGenerator::Serial, ["1", "2", "3"]);
        check(ColumnGenerator::Uniform { min: -5, max: 1000 }, ["42", "919", "690"]);
        check(
            ColumnGenerator::Uniform { min: i64::MIN, max: i64::MAX },
            ["-8346198995883008076", "7731082063137807499", "3537647793624361429"],
        );
        check(ColumnGenerator::Zipfian { min: 10, max: 1000, s: 1.2 }, ["472", "10", "11"]);
        check(
            ColumnGenerator::RussianName,
            ["Попов Георгий Михайлович", "Осипов Василий Артёмович", "Виноградова Надежда Петровна"],
        );
        check(ColumnGenerator::EnglishName, ["Patricia Cooper", "Jacob Thomas", "George Richardson"]);
        check(ColumnGenerator::Words { min: 0, max: 3 }, ["", "church fire double", "town tower"]);
        check(ColumnGenerator::Text { length: 10 }, ["bgdtyzoxtz", "xxidxyfeee", "rzqrdzqhxn"]);
        check(
            ColumnGenerator::Timestamp { from: text("2024-01-01"), to: text("2024-12-31") },
            ["2024-01-18 08:33:08+00", "2024-12-01 11:20:26+00", "2024-09-09 11:57:37+00"],
        );
        check(
            ColumnGenerator::Point { from: (-1.0, 50.0), to: (1.0, 60.0) },
            ["(-0.904897,57.691691)", "(0.838206,51.609766)", "(0.383553,59.044043)"],
        );
        check(ColumnGenerator::Constant(text("a\tb\\c\n")), [r"a\tb\\c\n"; 3]);
        check(ColumnGenerator::OneOf(vec![text("red"), text("green")]), ["red", "green", "green"]);
        let json = ColumnGenerator::Json(vec![
            (text("n\"1"), ColumnGenerator::Serial),
            (text("name"), ColumnGenerator::EnglishName),
            (text("at"), ColumnGenerator::Point { from: (0.0, 0.0), to: (1.0, 1.0) }),
            (text("is"), ColumnGenerator::Constant(text("say \"x\"\n"))),
            (
                text("in"),
                ColumnGenerator::Json(vec![(text("z"), ColumnGenerator::Uniform { min: 1, max: 9 })]),
            ),
        ]);
        check(
            json,
            [
                "{\"n\\\\\"1\": 1, \"name\": \"Dorothy Robinson\", \"at\": [0.285432, 0.952904], \"is\": \"say \\\\\"x\\\\\"\\\\n\", \"in\": {\"z\": 4}}",
                "{\"n\\\\\"1\": 2, \"name\": \"Richard Green\", \"at\": [0.426791, 0.451950], \"is\": \"say \\\\\"x\\\\\"\\\\n\", \"in\": {\"z\": 3}}",
                "{\"n\\\\\"1\": 3, \"name\": \"Kevin Jones\", \"at\": [0.523970, 0.281384], \"is\": \"say \\\\\"x\\\\\"\\\\n\", \"in\": {\"z\": 8}}",
            ],
        );
    }

    #[test]
    fn columns_are_independent() {
        let b = column("b", ColumnGenerator::Text { length: 20 });
        let single = rows(vec![b.clone()], 1, 0..100);
        let with_other = rows(vec![column("a", ColumnGenerator::EnglishName), b.clone()], 1, 0..100);
        let with_other: Vec<&str> = with_other.iter().filter_map(|it| Some(it.split_once('\t')?.1)).collect();
        assert_eq!(single, with_other);
        assert_ne!(single, rows(vec![b], 2, 0..100));
        assert_ne!(single, rows(vec![column("c", ColumnGenerator::Text { length: 20 })], 1, 0..100));
    }

    /// Asserts with a χ² test that all classes are equally frequent, at the 0.999 quantile by Wilson and Hilferty.
    fn assert_uniform(counts: &[u64], name: &str) {
        let (classes, total) = (counts.len() as f64, counts.iter().sum::<u64>() as f64);
        let expected = total / classes;
        let chi2: f64 = counts.iter().map(|&it| (it as f64 - expected).powi(2) / expected).sum();
        let free = classes - 1.0;
        let bound = free * (1.0 - 2.0 / (9.0 * free) + 3.09 * (2.0 / (9.0 * free)).sqrt()).powi(3);
        assert!(chi2 < bound, "{name}: χ² {chi2:.1}, at most {bound:.1}: {counts:?}");
    }

    #[test]
    fn uniform_values_are_evenly_distributed() {
        for seed in 1..=3 {
            let mut counts = vec![0; 50];
            for value in
                rows(vec![column("c", ColumnGenerator::Uniform { min: -10, max: 39 })], seed, 0..50_000)
            {
                counts[(value.parse::<i64>().unwrap() + 10) as usize] += 1;
            }
            assert_uniform(&counts, &format!("numbers, seed {seed}"));
            let mut counts = vec![0; 26];
            for value in rows(vec![column("c", ColumnGenerator::Text { length: 9 })], seed, 0..10_000) {
                value.bytes().for_each(|it| counts[usize::from(it - b'a')] += 1);
            }
            assert_uniform(&counts, &format!("letters, seed {seed}"));
        }
    }

    #[test]
    fn zipfian_share_of_first_value() {
        let zipf = ColumnGenerator::Zipfian { min: 1, max: 100_000, s: 1.2 };
        let values = rows(vec![column("c", zipf)], 5, 0..50_000);
        let share = values.iter().filter(|it| *it == "1").count() as f64 / 50_000.0;
        // 1 ÷ Σ k^−1.2 over 1..=100,000 is 0.1952; four standard deviations are 0.0071.
        assert!((share - 0.1952).abs() < 0.0071, "{share}");
    }

    #[test]
    fn respects_share_of_nulls() {
        let some = Column { null_fraction: 0.25, ..column("c", ColumnGenerator::Serial) };
        let count = rows(vec![some], 3, 0..40_000).iter().filter(|it| *it == "\\N").count();
        assert!((9_654..=10_346).contains(&count), "{count}: beyond four standard deviations");
        let all = Column { null_fraction: 1.0, ..column("c", ColumnGenerator::Serial) };
        assert!(rows(vec![all], 3, 0..1000).iter().all(|it| it == "\\N"));
    }

    #[test]
    fn builds_table_statements() {
        let mut declared = table(vec![
            column("id", ColumnGenerator::Serial),
            Column { null_fraction: 0.5, ..column("so \"called\"", ColumnGenerator::RussianName) },
            Column { sql_type: Some("numeric(10)".to_owned()), ..column("price", ColumnGenerator::Serial) },
            column("big", ColumnGenerator::Uniform { min: 0, max: 1 << 40 }),
            column("small", ColumnGenerator::Zipfian { min: 0, max: 1 << 20, s: 1.1 }),
            column("at", ColumnGenerator::Point { from: (0.0, 0.0), to: (1.0, 1.0) }),
        ]);
        declared.name = "Shop.goods".to_owned();
        declared.primary_key = vec!["id".to_owned(), "price".to_owned()];
        declared.indexes = vec!["big, (small % 10)".to_owned()];
        let spec = &table_specs(&[declared], 1).unwrap()[0];
        assert_eq!(
            spec.create,
            "create table \"Shop\".\"goods\"(\"id\" bigint not null, \"so \"\"called\"\"\" text, \
             \"price\" numeric(10) not null, \"big\" bigint not null, \"small\" integer not null, \"at\" point not null)"
        );
        assert_eq!(
            spec.post_load_statements,
            [
                "alter table \"Shop\".\"goods\" add primary key (\"id\", \"price\")",
                "create index on \"Shop\".\"goods\" (big, (small % 10))"
            ]
        );
        assert_eq!(spec.copy_statement(true), "copy \"Shop\".\"goods\" from stdin with (freeze on)");
    }

    #[test]
    fn reports_all_diagnostics_at_once() {
        let mut declared = table(vec![
            column("a", ColumnGenerator::Uniform { min: 2, max: 1 }),
            column("a", ColumnGenerator::Zipfian { min: 1, max: 2, s: 1.0 }),
            column(
                "b",
                ColumnGenerator::Timestamp { from: "yesterday".to_owned(), to: "2024-01-01".to_owned() },
            ),
            Column { null_fraction: 1.5, ..column("c", ColumnGenerator::Serial) },
            column("d", ColumnGenerator::Json(vec![("x".to_owned(), ColumnGenerator::OneOf(Vec::new()))])),
        ]);
        declared.primary_key = vec!["e".to_owned(), "c".to_owned()];
        declared.name = "pgdyno.t".to_owned();
        let shown: Vec<String> =
            table_specs(&[declared], 1).unwrap_err().iter().map(|it| Message::from(it).describe()).collect();
        assert_eq!(
            shown,
            [
                "dataset-table(pgdyno.t, none, dataset-reserved-schema)",
                "dataset-table(pgdyno.t, a, dataset-empty-range(2, 1))",
                "dataset-table(pgdyno.t, a, dataset-column-twice)",
                "dataset-table(pgdyno.t, a, dataset-exponent(1))",
                "dataset-table(pgdyno.t, b, dataset-timestamp(yesterday))",
                "dataset-table(pgdyno.t, c, dataset-null-share(1.5))",
                "dataset-table(pgdyno.t, d, dataset-field(x, dataset-no-value))",
                "dataset-table(pgdyno.t, e, dataset-key-no-column)",
                "dataset-table(pgdyno.t, c, dataset-key-nulls)",
            ]
        );
        assert_eq!(table_specs(&[], 1).unwrap_err().len(), 1);
    }
}
