//! Texts about features that the machine lacks

use report::lang::Lang;
use report::say;
use stack::features::{Feature, MissingItem};
use stack::find::Installation;

/// Items that each feature lacks with this server; empty without a server.
pub fn missing_items(server: Option<&Installation>) -> Vec<(Feature, Vec<MissingItem>)> {
    let server = server.into_iter();
    server.flat_map(|server| Feature::ALL.map(|feature| (feature, feature.missing(server)))).collect()
}

/// Purpose of a feature, as the end of a text that begins with "needed for".
pub fn feature_purpose(feature: Feature, lang: &Lang) -> String {
    match feature {
        Feature::Replicas => say!(lang, "doctor-purpose-replicas"),
        Feature::Networks => say!(lang, "doctor-purpose-networks"),
        Feature::Disks => say!(lang, "doctor-purpose-disks"),
        Feature::Clocks => say!(lang, "doctor-purpose-clocks"),
        Feature::StatementStatistics => say!(lang, "doctor-purpose-statements"),
        Feature::HypotheticalIndexes => say!(lang, "doctor-purpose-indexes"),
    }
}

/// Item that a feature lacks, as the end of a text that begins with "lacks".
pub fn missing_text(item: &MissingItem, lang: &Lang) -> String {
    match item {
        MissingItem::ServerProgram(name) => say!(lang, "doctor-missing-program", name = *name),
        MissingItem::SystemProgram { name, package } | MissingItem::SystemLibrary { name, package } => {
            say!(lang, "doctor-missing-package", name = *name, package = *package)
        }
        MissingItem::Library(name) => say!(lang, "doctor-missing-library", name = *name),
        MissingItem::Namespaces(error) => say!(lang, "doctor-missing-namespaces", error),
    }
}
