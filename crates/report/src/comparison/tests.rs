//! What comparisons say, in both languages.
