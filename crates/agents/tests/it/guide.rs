//! The files in the guide load.

use cogwork_agents::Loader;

#[test]
fn every_file_in_the_guide_loads() {
    let guide = include_str!("../../../../docs/guide/flows-from-files.md");
    let loader = Loader::new().with_environment(|_| Some("key-of-nobody".to_owned()));
    let blocks: Vec<_> = guide
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .collect();

    assert_eq!(blocks.len(), 2);
    for (block, _) in blocks {
        loader.load_text("guide.yaml", block).unwrap();
    }
}
