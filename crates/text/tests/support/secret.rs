//! A secret, in the forms in which models and servers repeat it.

/// The value.
pub(crate) const SECRET: &str = r#"sk-pa"ss/word"#;

/// The value as it is, in JSON, in JSON inside of JSON, in Markdown, in a URL and in Base64.
pub(crate) const FORMS: [&str; 6] = [
    SECRET,
    r#"sk-pa\"ss\/word"#,
    r#"sk-pa\\\"ss/word"#,
    r#"sk\-pa\"ss\/word"#,
    "sk-pa%22ss%2Fword",
    "c2stcGEic3Mvd29yZA",
];

/// Checks that a text shows nothing of the secret, in no form.
pub(crate) fn assert_hidden(text: &str) {
    for part in ["sk-pa", r"sk\-", "ss/", "ss%2F", r"ss\/", "c2st", "29yZ"] {
        assert!(!text.contains(part), "{part} shows in {text}");
    }
}
