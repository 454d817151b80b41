//! Every link in README and the documents that points into the repository leads somewhere.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file can be read")
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
        .map(|name| root.join(name))
        .into();
    found.push(root.join("examples/README.md"));
    for folder in ["docs", "docs/guide"] {
        let files = fs::read_dir(root.join(folder)).expect("the folder can be read");
        found.extend(files.map(|file| file.expect("the file can be seen").path()));
    }

    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found
}

/// The targets of `[text](target)`.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

/// Returns the anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect()
}

fn has_heading(document: &str, wanted: &str) -> bool {
    document
        .lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

#[test]
fn the_readme_links_to_every_guide() {
    let root = root();
    let readme = read(&root.join("README.md"));
    let linked: Vec<&str> = targets(&readme).collect();

    for guide in fs::read_dir(root.join("docs/guide")).expect("the folder can be read") {
        let name = guide.expect("the file can be seen").file_name();
        let target = format!("docs/guide/{}", name.to_string_lossy());
        assert!(linked.contains(&target.as_str()), "{target} isn't linked");
    }
}

#[test]
fn links_into_the_repository_lead_somewhere() {
    let mut checked = 0;
    for document in documents(&root()) {
        let text = read(&document);
        let folder = document.parent().expect("a file is in a folder");

        for target in targets(&text).filter(|target| !target.contains("://")) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = match path {
                "" => document.clone(),
                path => folder.join(path),
            };

            let place = document.display();
            assert!(linked.exists(), "{place}: `{target}` leads nowhere");
            assert!(
                heading.is_empty() || has_heading(&read(&linked), heading),
                "{place}: `{target}` has no such heading"
            );
            checked += 1;
        }
    }

    assert!(checked > 20, "only {checked} links were found");
}
