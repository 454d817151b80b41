use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cogwork_text::OneLine;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{BestOf, Critique, PlanFirst, Reflection, ThinkingMode, Verification};

mod check;

mod error;
#[doc(hidden)]
pub use error::nearest;
pub use error::{ModeBuildError, PathPart, RegistryError, SettingsProblem};

/// Modes by name, each with a summary and the type of its settings, for programs that read their
/// modes from a file.
///
/// ```
/// use cogwork_thinking::{Hooks, Registry, ThinkingMode};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Disclaimer {
///     /// What is added to each answer.
///     text: String,
/// }
///
/// impl ThinkingMode for Disclaimer {
///     fn hooks(&self) -> Hooks {
///         Hooks::AFTER
///     }
///     // …
/// }
///
/// let mut registry = Registry::with_built_in();
/// registry.register::<Disclaimer, _>("disclaimer", "Adds a text to each answer", |settings| Ok(settings))?;
///
/// let mode = registry.build("reflection", &json!({"reflection_prompt": "Is it true?", "rounds": 2}))?;
/// assert_eq!(mode.name(), "reflection");
///
/// let error = registry.build("reflection", &json!({"reflection_promt": "Is it true?"})).err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "settings of the thinking mode `reflection`: `config.reflection_promt`: unknown setting; did you mean \
///      `reflection_prompt`? (and 1 more problem)",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    modes: BTreeMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    summary: String,
    schema: Value,
    make: Arc<Make>,
}

type Make = dyn Fn(Value) -> Result<Box<dyn ThinkingMode>, String> + Send + Sync;

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry with the built-in modes: `reflection`, `plan_first`, `critique`,
    /// `verification` and `best_of`.
    pub fn with_built_in() -> Self {
        let mut registry = Self::new();
        registry.put::<Reflection, _>(
            "reflection",
            "The model reflects on its draft and improves it",
            Ok,
        );

        registry.put::<PlanFirst, _>("plan_first", "The model plans its answer first", Ok);

        registry.put::<Critique, _>(
            "critique",
            "The model judges its draft against criteria and revises it",
            Ok,
        );

        let summary = "Facts in the draft are verified by independent questions";
        registry.put::<Verification, _>("verification", summary, Ok);
        registry.put::<BestOf, _>("best_of", "A judge picks the best of several answers", Ok);

        registry
    }

    /// Registers a mode with its name, a summary in one line, and a factory. `S` is the type of the
    /// settings; a mode that implements `Deserialize` can be its own settings. The factory returns
    /// a one-line message for settings that the type allows but the mode doesn't.
    ///
    /// Unknown settings are errors, even if the `Deserialize` of `S` accepts them.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is already registered, or isn't 1 to 64 letters, digits, `_` and
    /// `-`.
    pub fn register<S, M>(
        &mut self,
        name: &str,
        summary: &str,
        factory: impl Fn(S) -> Result<M, String> + Send + Sync + 'static,
    ) -> Result<(), RegistryError>
    where
        S: DeserializeOwned + JsonSchema,
        M: ThinkingMode + 'static,
    {
        let is_part =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_part) {
            return Err(RegistryError::Name(name.to_owned()));
        }
        if self.modes.contains_key(name) {
            return Err(RegistryError::Duplicate(name.to_owned()));
        }

        self.put(name, summary, factory);
        Ok(())
    }

    fn put<S, M>(
        &mut self,
        name: &str,
        summary: &str,
        factory: impl Fn(S) -> Result<M, String> + Send + Sync + 'static,
    ) where
        S: DeserializeOwned + JsonSchema,
        M: ThinkingMode + 'static,
    {
        let make = move |settings: Value| -> Result<Box<dyn ThinkingMode>, String> {
            let settings = serde_json::from_value(settings).map_err(|error| error.to_string())?;
            Ok(Box::new(factory(settings)?))
        };
        let entry = Entry {
            summary: summary.to_owned(),
            schema: schema_of::<S>(),
            make: Arc::new(make),
        };

        self.modes.insert(name.to_owned(), entry);
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.modes.keys().map(String::as_str)
    }

    /// Builds a mode from its settings. `null` is equivalent to no settings.
    ///
    /// # Errors
    ///
    /// Returns an error if no mode has the name, or with all problems of the settings and their
    /// paths.
    pub fn build(
        &self,
        name: &str,
        settings: &Value,
    ) -> Result<Box<dyn ThinkingMode>, ModeBuildError> {
        let Some(entry) = self.modes.get(name) else {
            return Err(ModeBuildError::unknown(name, self.names()));
        };

        let empty = json!({});
        let settings = if settings.is_null() { &empty } else { settings };
        let problems = check::problems(&entry.schema, settings);
        let failed = |problems| ModeBuildError::Settings {
            mode: name.to_owned(),
            problems,
        };

        if !problems.is_empty() {
            return Err(failed(problems));
        }

        (entry.make)(settings.clone()).map_err(|message| {
            failed(vec![SettingsProblem {
                path: Vec::new(),
                message,
                expected: None,
                nearest: None,
            }])
        })
    }

    /// Returns the JSON Schema of a mode in a file: an object with `type` and `config`.
    ///
    /// ```
    /// use cogwork_thinking::Registry;
    ///
    /// let schema = Registry::with_built_in().schema();
    /// assert_eq!(schema["oneOf"][4]["properties"]["type"]["const"], "verification");
    /// ```
    pub fn schema(&self) -> Value {
        let choices = self.modes.iter().map(|(name, entry)| {
            let needs_config = entry.schema.get("required").and_then(Value::as_array);
            let mut required = vec!["type"];
            required.extend(
                needs_config
                    .filter(|names| !names.is_empty())
                    .map(|_| "config"),
            );

            json!({
                "type": "object",
                "description": entry.summary,
                "properties": { "type": { "const": name }, "config": entry.schema },
                "required": required,
                "additionalProperties": false,
            })
        });
        json!({ "oneOf": choices.collect::<Vec<_>>() })
    }
}

/// Returns the schema of the settings for embedding in a larger one, closed against unknown
/// settings.
fn schema_of<S: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<S>();
    schema.remove("title");

    // The documentation of the type is for Rust code; the summary replaces it.
    schema.remove("description");
    let mut schema = schema.to_value();
    check::close(&mut schema);

    schema
}

impl fmt::Display for Registry {
    /// Shows one line per mode with its name and summary.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.names().map(str::len).max().unwrap_or_default();
        for (index, (name, entry)) in self.modes.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(
                f,
                "{end}{name:width$}  {}",
                OneLine::new(&entry.summary).with_max_chars(200)
            )?;
        }

        Ok(())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.modes.keys()).finish()
    }
}
