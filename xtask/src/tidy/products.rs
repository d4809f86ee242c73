//! Check that only the product table and the components know poolers and balancers.

use super::tree::{File, Tree};
use super::{Violation, tree};

/// Crates whose rules and sentences must hold for every product.
const NEUTRAL: [&str; 6] = ["analysis", "report", "load", "store", "feed", "pgdyno"];
/// File that calls `product("Name", "key", Role::…)` for each product.
const TABLE: &str = "crates/model/src/product.rs";
/// Folder of the log formats, which are those of products.
const LOG_FORMATS: &str = "crates/feed/src/access/";
/// Product keys that are ordinary words.
const WORDS: [&str; 1] = ["balancer"];

/// Reports names of poolers and balancers in crates that work for every product, comments included.
pub fn products(tree: &Tree) -> Vec<Violation> {
    let keys = tree.get(TABLE).map_or(Vec::new(), |it| keys(&it.text));
    let test_modules = tree.test_modules();
    let neutral = |file: &&File| {
        file.krate().is_some_and(|name| NEUTRAL.contains(&name))
            && !tree::is_within(&file.path, &test_modules)
            && !file.path.starts_with(LOG_FORMATS)
    };
    let mut all = Vec::new();
    for file in tree.rust_files().filter(neutral) {
        let code = file.text.lines().take_while(|it| !it.trim_start().starts_with("#[cfg(test)]"));
        for (index, line) in code.enumerate() {
            let lower = line.to_lowercase();
            let named = keys.iter().filter(|it| lower.contains(**it));
            all.extend(named.map(|key| {
                let message = format!("this line names the product `{key}`");
                let fix = "use the series of `model::series` or a property of `model::product`";
                Violation::new(&file.path, index + 1, message, fix)
            }));
        }
    }
    all
}

/// Keys of the poolers and balancers in the product table.
fn keys(table: &str) -> Vec<&str> {
    let entries = table.split("product(\"").skip(1);
    let entries = entries.filter_map(|it| it.split_once("\", \"")?.1.split_once("\", Role::"));
    let chosen = entries.filter(|(_, role)| role.starts_with("Pooler") || role.starts_with("Balancer"));
    chosen.map(|it| it.0).filter(|it| !WORDS.contains(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    const PRODUCTS: &str = "..product(\"PgBouncer\", \"pgbouncer\", Role::Pooler)\n\
        = product(\"balancer\", \"balancer\", Role::Balancer)\n..product(\"Etcd\", \"etcd\", Role::Manager)";

    #[test]
    fn finds_product_names_outside_the_table() {
        let check = |file: &str, text: &str, expected: &[&str]| {
            assert_eq!(violations(products, &[(TABLE, PRODUCTS), (file, text)]), expected, "{file} {text}");
        };
        let rule = "crates/analysis/src/explain/rule.rs";
        let found = "crates/analysis/src/explain/rule.rs:2: this line names the product `pgbouncer`";
        check(rule, "fn f() {\n    NodeKind::PgBouncer(_) => 1\n}", &[found]);
        check(rule, "fn f() {\n    \"pgbouncer_cl_waiting\"\n}", &[found]);
        check(rule, "\n// PgBouncer counts these.", &[found]);
        check(rule, "fn f() {}\n#[cfg(test)]\nmod tests {\n    const A: &str = \"pgbouncer\";\n}", &[]);
        check(rule, "// A balancer before etcd.", &[]);
        check("crates/report/src/page/tests.rs", "// PgBouncer", &[]);
        check("crates/stack/src/component.rs", "// PgBouncer", &[]);
        check("crates/feed/src/access/format.rs", "// PgBouncer", &[]);
        for krate in NEUTRAL {
            let path = format!("crates/{krate}/src/a.rs");
            check(&path, "// PgBouncer", &[&format!("{path}:1: this line names the product `pgbouncer`")]);
        }
        let declared = [
            (TABLE, PRODUCTS),
            ("crates/load/src/a.rs", "#[cfg(test)]\nmod generated;"),
            ("crates/load/src/a/generated.rs", "// PgBouncer"),
            ("crates/load/src/a/generated/trial.rs", "// PgBouncer"),
        ];
        assert_eq!(violations(products, &declared), [""; 0]);
        check(
            "crates/report/src/page.rs",
            "// PgBouncer",
            &["crates/report/src/page.rs:1: this line names the product `pgbouncer`"],
        );
    }
}
