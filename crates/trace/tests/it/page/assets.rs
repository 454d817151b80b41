//! The script and the style of a page.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{element, header, html, page, record};

const VENDOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page/assets/vendor");

fn empty() -> String {
    html(&page(&record(&header(), [])))
}

#[test]
fn match_the_policy_which_allows_nothing_else() {
    let html = empty();
    let script = element(&html, "<script>", "</script>");
    let style = element(&html, "<style>", "</style>");
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));

    let policy = element(&html, "Content-Security-Policy\" content=\"", "\"");
    let expected = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        digest(script),
        digest(style)
    );
    assert_eq!(policy, expected);
}

#[test]
fn never_read_text_as_markup_or_code() {
    let html = empty();
    let script = element(&html, "<script>", "</script>");

    let forbidden = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
        "createContextualFragment",
        "srcdoc",
        "<!--",
        "<script",
    ];
    for name in forbidden {
        assert!(!script.contains(name), "{name}");
    }
}

#[test]
fn refer_to_nothing_outside_the_page() {
    let html = empty();
    let markup = html.replace(element(&html, "<script>", "</script>"), "");

    for name in ["src=", "url(", "@import", "http:", "https:", "<link"] {
        assert!(!markup.contains(name), "{name}");
    }
}

#[test]
fn are_the_pinned_versions() {
    let checksums = fs::read_to_string(format!("{VENDOR}/checksums")).unwrap();

    for line in checksums.lines() {
        let (expected, name) = line.split_once("  ").unwrap();
        let digest = Sha256::digest(fs::read(format!("{VENDOR}/{name}")).unwrap());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, expected, "{name}");
    }
}
