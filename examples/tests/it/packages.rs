//! Every published package has what crates.io and docs.rs show, and what a user needs to build it.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]
#![expect(
    clippy::indexing_slicing,
    reason = "an index that is missing in JSON is null"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");

    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

fn packages(arguments: &[&str]) -> Vec<Value> {
    let metadata = cargo(
        &[
            &["metadata", "--format-version", "1", "--offline"],
            arguments,
        ]
        .concat(),
    );

    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes JSON");

    metadata["packages"]
        .as_array()
        .expect("there are packages")
        .clone()
}

/// The packages of this workspace that can be published.
fn published() -> Vec<Value> {
    let mut packages = packages(&["--no-deps"]);
    packages.retain(|package| package["publish"].is_null());

    assert!(
        packages.len() > 10,
        "only {} packages were found",
        packages.len()
    );

    packages
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a package has a name")
}

fn folder(package: &Value) -> &Path {
    let manifest = Path::new(
        package["manifest_path"]
            .as_str()
            .expect("a package has a manifest"),
    );

    manifest.parent().expect("a file is in a folder")
}

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn is_library(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();

    targets
        .flat_map(|target| texts(&target["kind"]))
        .any(|kind| kind == "lib")
}

#[test]
fn exactly_what_is_under_crates_can_be_published() {
    for package in packages(&["--no-deps"]) {
        let is_published = package["publish"].is_null();
        let is_under_crates = folder(&package)
            .parent()
            .is_some_and(|parent| parent.ends_with("crates"));

        assert_eq!(is_published, is_under_crates, "{}", name(&package));
    }
}

#[test]
fn packages_can_be_found_and_looked_up() {
    for package in published() {
        let name = name(&package);
        let keywords = texts(&package["keywords"]);
        let categories = texts(&package["categories"]);

        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(
            keywords.iter().all(|keyword| keyword.len() <= 20),
            "{name}: {keywords:?}"
        );
        assert!(
            (1..=5).contains(&categories.len()),
            "{name}: {categories:?}"
        );
        assert!(
            package["description"].is_string(),
            "{name} has no description"
        );

        let documentation = package["documentation"].as_str().expect(name);
        assert!(
            documentation.starts_with("https://docs.rs/"),
            "{name}: {documentation}"
        );
        assert!(documentation.ends_with(name), "{name}: {documentation}");
    }
}

#[test]
fn docs_rs_shows_every_feature_and_says_what_needs_it() {
    for package in published().iter().filter(|package| is_library(package)) {
        let settings = &package["metadata"]["docs"]["rs"];
        let library = fs::read_to_string(folder(package).join("src/lib.rs"))
            .expect("the library can be read");

        assert_eq!(settings["all-features"], true, "{}", name(package));
        assert_eq!(
            texts(&settings["rustdoc-args"]),
            ["--cfg", "docsrs"],
            "{}",
            name(package)
        );

        assert!(
            library.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"),
            "{}",
            name(package)
        );
    }
}

#[test]
fn readmes_tell_name_features_rust_version_and_licence() {
    for package in published() {
        let name = name(&package);
        let readme = fs::read_to_string(folder(&package).join("README.md")).expect(name);
        let rust_version = package["rust_version"].as_str().expect(name);

        assert_eq!(package["readme"], "README.md", "{name}");
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}");
        assert!(
            readme.contains(&format!("Rust {rust_version}.")),
            "{name} needs Rust {rust_version}"
        );
        assert!(
            readme.contains("(LICENSE-APACHE)") && readme.contains("(LICENSE-MIT)"),
            "{name}"
        );
        assert_eq!(features_told(&readme), features(&package), "{name}");
    }
}

/// Each feature, and whether it is on by default.
fn features(package: &Value) -> BTreeMap<String, bool> {
    let features = package["features"]
        .as_object()
        .expect("a package has features");
    let by_default = texts(&package["features"]["default"]);

    features
        .keys()
        .filter(|feature| *feature != "default")
        .map(|feature| (feature.clone(), by_default.contains(&feature.as_str())))
        .collect()
}

/// The same, from rows of a table: ``| `feature` | yes | what it adds |``.
fn features_told(readme: &str) -> BTreeMap<String, bool> {
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `"));

    rows.filter_map(|row| row.split_once("` | "))
        .map(|(feature, rest)| (feature.to_owned(), rest.starts_with("yes |")))
        .collect()
}

#[test]
fn the_texts_of_the_licences_are_in_each_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");

    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let text = fs::read_to_string(root.join(licence)).expect(licence);
        for package in published() {
            let copy = fs::read_to_string(folder(&package).join(licence));
            assert_eq!(
                copy.ok().as_ref(),
                Some(&text),
                "{licence} of {}",
                name(&package)
            );
        }
    }
}

/// Whether they build with it is up to `scripts/check`, where that version of Rust is installed.
#[test]
fn no_dependency_asks_for_a_later_rust_than_the_library() {
    let version = cargo(&["-vV"]);
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("cargo says for what it is");

    let packages = packages(&["--filter-platform", host]);
    let ours = packages
        .iter()
        .find(|package| name(package) == "cogwork-flow")
        .and_then(rust_version);

    // Restate's SDK needs a later one, so its crate has a version of its own.
    let is_ours = |package: &&Value| !name(package).contains("restate");

    assert!(ours.is_some());
    for package in packages.iter().filter(is_ours) {
        assert!(
            rust_version(package) <= ours,
            "{} needs {}",
            name(package),
            package["rust_version"]
        );
    }
}

/// Major and minor version.
fn rust_version(package: &Value) -> Option<Vec<u32>> {
    let version = package["rust_version"].as_str()?;
    let parts = version.split('.').take(2);

    Some(
        parts
            .map(|part| part.parse().expect("a version is made of numbers"))
            .collect(),
    )
}
