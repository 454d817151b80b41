//! The files in the guide load.

#![cfg(feature = "mcp")]
use cogwork_agents::Loader;

/// Loads the files in a page, and returns how many there are.
fn load_all(page: &str) -> usize {
    let loader = Loader::new().with_environment(|_| Some("key-of-nobody".to_owned()));
    let blocks: Vec<_> = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .collect();

    for (block, _) in &blocks {
        loader.load_text("guide.yaml", block).unwrap();
    }
    blocks.len()
}

#[test]
fn every_file_in_the_guide_loads() {
    let page = include_str!("../../../../docs/guide/flows-from-files.md");
    assert_eq!(load_all(page), 2);
}
