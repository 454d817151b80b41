//! The JSON Schema for editors: it accepts every file that loads, and changes with the format.

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use cogwork_agents::Loader;
use cogwork_tools::{Tools, function};
use serde_json::Value;

fn tools() -> Tools {
    let look = function("look", "Looks.", |_: Value| async { Ok(String::new()) });
    Tools::new().with(look).unwrap()
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let is_yaml = |file: &PathBuf| file.extension().is_some_and(|end| end == "yaml");
    files.filter(is_yaml).collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn instance(file: &Path) -> Option<Value> {
    serde_yaml::from_str(&fs::read_to_string(file).unwrap()).ok()
}

/// A compiled schema. Compiling checks it against the schema of its draft.
struct Judge {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Judge {
    fn of(schema: &Value) -> Self {
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        compiler.add_resource("file.json", schema.clone()).unwrap();

        let mut schemas = Schemas::new();
        let index = compiler.compile("file.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    fn check(&self, instance: &Value) -> Result<(), String> {
        let checked = self.schemas.validate(instance, self.index);
        checked.map_err(|error| error.to_string())
    }
}

#[test]
fn it_takes_every_file_that_loads() {
    let loader = Loader::new()
        .with_tools(tools())
        .with_environment(|_| Some("key-of-nobody".to_owned()));
    let judge = Judge::of(&loader.schema());
    let mut files = yaml_files(&folder("tests/files/good"));
    files.extend(yaml_files(&folder("../../examples/files")));
    assert!(files.len() >= 4);

    // A suite of problems isn't a flow.
    files.retain(|file| !file.ends_with("eval.yaml"));
    for file in files {
        loader.load(&file).unwrap();
        let instance = instance(&file).unwrap();
        assert_eq!(judge.check(&instance), Ok(()), "{}", file.display());
    }
}
