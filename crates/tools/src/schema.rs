use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the JSON Schema of a type, without `$schema`, `$defs` and a title, which some servers
/// refuse.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The title is the name of the Rust type, which says nothing to a model.
    schema.remove("title");

    schema.to_value()
}

/// Returns what is wrong with the name of a tool, a provider or something else that files and models
/// write.
///
/// ```
/// use cogwork_tools::check_name;
///
/// assert!(check_name("look-up_2").is_ok());
/// assert_eq!(check_name("look up").unwrap_err(), "expected 1 to 64 letters, digits, `_` and `-`");
/// ```
///
/// # Errors
///
/// Returns what would be accepted.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match name.len() {
        1..=64 if name.chars().all(is_part) => Ok(()),
        _ => Err("expected 1 to 64 letters, digits, `_` and `-`"),
    }
}
