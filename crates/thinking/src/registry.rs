use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cogwork_text::{Name, NameList, OneLine};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{BestOf, Critique, PlanFirst, Reflection, ThinkingMode, Verification};

/// The reason why a mode was not registered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is already registered.
    #[error("the thinking mode `{}` is already registered; choose a different name", Name(.0))]
    Duplicate(String),
    /// The name is not valid.
    #[error("`{}` is not a valid name of a thinking mode; expected 1 to 64 letters, digits, `_` and `-`", Name(.0))]
    Name(String),
}

cogwork_text::debug_as_display!(RegistryError);

/// The reason why a mode was not built.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModeBuildError {
    /// No mode has this name.
    #[error(
        "unknown thinking mode `{}`; expected {}",
        Name(name),
        NameList::or(known)
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// The registered names.
        known: Vec<String>,
    },
    /// The settings are invalid.
    #[error(
        "settings of the thinking mode `{}`: {}",
        Name(mode),
        OneLine::new(format_args!("`{path}`: {problem}"))
    )]
    Settings {
        /// The name of the mode.
        mode: String,
        /// The path to the setting, such as `config.criteria[2]`.
        path: String,
        /// The problem, and what was expected.
        problem: String,
    },
}

cogwork_text::debug_as_display!(ModeBuildError);

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
/// #[serde(deny_unknown_fields)]
/// struct Disclaimer {
///     /// What is added to each answer.
///     text: String,
/// }
///
/// impl ThinkingMode for Disclaimer {
///     fn hooks(&self) -> Hooks {
///         Hooks::After
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
/// let error = registry.build("reflection", &json!({"reflection_prompt": "Is it true?", "rounds": "two"})).err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "settings of the thinking mode `reflection`: `config.rounds`: invalid type: string \"two\", expected u32",
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

type Make = dyn Fn(&Value) -> Result<Box<dyn ThinkingMode>, Refusal> + Send + Sync;

/// A setting that was refused, and why.
struct Refusal {
    path: String,
    problem: String,
}

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
    /// Give `S` the attribute `#[serde(deny_unknown_fields)]`, so that unknown settings are errors.
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
        let make = move |settings: &Value| -> Result<Box<dyn ThinkingMode>, Refusal> {
            let settings = serde_path_to_error::deserialize(settings).map_err(Refusal::of)?;

            factory(settings)
                .map(|mode| Box::new(mode) as Box<dyn ThinkingMode>)
                .map_err(|problem| Refusal {
                    path: "config".to_owned(),
                    problem,
                })
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
    /// Returns an error if no mode has the name, or if its settings are invalid.
    pub fn build(
        &self,
        name: &str,
        settings: &Value,
    ) -> Result<Box<dyn ThinkingMode>, ModeBuildError> {
        let Some(entry) = self.modes.get(name) else {
            return Err(ModeBuildError::Unknown {
                name: name.to_owned(),
                known: self.names().map(str::to_owned).collect(),
            });
        };

        let empty = json!({});
        let settings = if settings.is_null() { &empty } else { settings };
        (entry.make)(settings).map_err(|Refusal { path, problem }| ModeBuildError::Settings {
            mode: name.to_owned(),
            path,
            problem,
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

impl Refusal {
    fn of(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = error.path().to_string();
        let path = match path.as_str() {
            "." => "config".to_owned(),
            path => format!("config.{path}"),
        };

        Self {
            path,
            problem: error.inner().to_string(),
        }
    }
}

/// Returns the schema of the settings for embedding in a larger one.
fn schema_of<S: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<S>();
    schema.remove("title");

    // The documentation of the type is for Rust code; the summary replaces it.
    schema.remove("description");
    schema.to_value()
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
