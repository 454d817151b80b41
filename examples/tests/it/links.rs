//! Every link in README and the documents that points into the repository leads somewhere.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
        .map(|name| root.join(name))
        .into();
    for folder in ["docs", "docs/guide"] {
        let files = fs::read_dir(root.join(folder)).expect("the folder can be read");
        found.extend(files.map(|file| file.expect("the file can be seen").path()));
    }

    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found
}

/// The targets of `[text](target)`, without the anchor.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter_map(|target| target.split('#').next())
}

#[test]
fn the_readme_links_to_every_guide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).expect("the file can be read");
    let linked: Vec<&str> = targets(&readme).collect();

    for guide in fs::read_dir(root.join("docs/guide")).expect("the folder can be read") {
        let name = guide.expect("the file can be seen").file_name();
        let target = format!("docs/guide/{}", name.to_string_lossy());
        assert!(linked.contains(&target.as_str()), "{target} isn't linked");
    }
}

#[test]
fn links_into_the_repository_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut checked = 0;
    for document in documents(&root) {
        let text = fs::read_to_string(&document).expect("the document can be read");
        for target in targets(&text).filter(|target| !target.is_empty() && !target.contains("://"))
        {
            let path = document
                .parent()
                .expect("a file is in a folder")
                .join(target);
            assert!(
                path.exists(),
                "{}: `{target}` leads nowhere",
                document.display()
            );

            checked += 1;
        }
    }

    assert!(checked > 20, "only {checked} links were found");
}
