use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cogwork_text::{Name, NameList};
use cogwork_tools::check_name;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::settings::{SettingProblem, read, schema_of};
use crate::{BestOf, Critique, PlanFirst, Reflection, ThinkingMode, Verification};

/// Things that files choose by name, each with a summary and the schema of its settings: thinking
/// modes, and in `cogwork-agents` also providers and node types.
///
/// ```
/// use cogwork_thinking::{Hook, Registry, ThinkingMode};
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
///     fn hooks(&self) -> &[Hook] {
///         &[Hook::After]
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
/// assert_eq!(error.to_string(), "`config.rounds`: invalid type: string \"two\", expected u32");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Registry<T = MakeMode> {
    kind: &'static str,
    entries: BTreeMap<String, Registered<T>>,
}

/// A thing in a [`Registry`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Registered<T> {
    /// What it is, in one line.
    pub summary: String,
    /// The JSON Schema of its settings.
    pub schema: Value,
    /// The thing, or what makes it from its settings.
    pub value: T,
}

/// Makes a thinking mode from its settings.
pub type MakeMode =
    Arc<dyn Fn(&Value) -> Result<Box<dyn ThinkingMode>, SettingProblem> + Send + Sync>;

/// The reason why something was not registered, as one line.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RegistryError(String);

cogwork_text::debug_as_display!(RegistryError);

impl<T> Registry<T> {
    /// Creates an empty registry. `kind` is the singular of what it contains, for messages, such as
    /// `provider`.
    pub fn of(kind: &'static str) -> Self {
        Self {
            kind,
            entries: BTreeMap::new(),
        }
    }

    /// Adds a thing with the settings `S`, and a summary in one line.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is already registered, or isn't 1 to 64 letters, digits, `_` and
    /// `-`.
    pub fn add<S: JsonSchema>(
        &mut self,
        name: &str,
        summary: &str,
        value: T,
    ) -> Result<(), RegistryError> {
        let kind = self.kind;
        if let Err(expected) = check_name(name) {
            let name = Name(name);
            let problem = format!("`{name}` is not a valid name of a {kind}; {expected}");
            return Err(RegistryError(problem));
        }

        if self.entries.contains_key(name) {
            let known = NameList::and(self.entries.keys());
            let problem = format!("the {kind} `{name}` already exists");
            let hint = format!("known {kind}s: {known}; choose another name");
            return Err(RegistryError(format!("{problem}; {hint}")));
        }

        self.insert::<S>(name, summary, value);
        Ok(())
    }

    /// Adds a thing, in place of another one with the same name.
    pub fn insert<S: JsonSchema>(&mut self, name: &str, summary: &str, value: T) {
        let entry = Registered {
            summary: summary.to_owned(),
            schema: schema_of::<S>(),
            value,
        };
        self.entries.insert(name.to_owned(), entry);
    }

    /// Returns the thing with this name.
    pub fn get(&self, name: &str) -> Option<&Registered<T>> {
        self.entries.get(name)
    }

    /// Returns all things with their names, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Registered<T>)> {
        let entries = self.entries.iter();
        entries.map(|(name, entry)| (name.as_str(), entry))
    }
}

impl Registry {
    /// Creates a registry with the built-in thinking modes: `reflection`, `plan_first`, `critique`,
    /// `verification` and `best_of`.
    pub fn with_built_in() -> Self {
        let mut modes = Self::of("thinking mode");
        let summary = "The model reflects on its draft and improves it";
        modes.insert_mode::<Reflection>("reflection", summary);
        modes.insert_mode::<PlanFirst>("plan_first", "The model plans its answer first");
        let summary = "The model judges its draft against criteria and revises it";
        modes.insert_mode::<Critique>("critique", summary);
        let summary = "Facts in the draft are verified by independent questions";
        modes.insert_mode::<Verification>("verification", summary);
        modes.insert_mode::<BestOf>("best_of", "A judge picks the best of several answers");

        modes
    }

    fn insert_mode<M>(&mut self, name: &str, summary: &str)
    where
        M: ThinkingMode + DeserializeOwned + JsonSchema + 'static,
    {
        self.insert::<M>(name, summary, making::<M, M>(Ok));
    }

    /// Registers a mode with its name, a summary in one line, and a factory. `S` is the type of the
    /// settings; a mode that implements `Deserialize` can be its own settings. The factory returns
    /// a one-line message for settings that the type allows but the mode doesn't.
    ///
    /// Give `S` the attribute `#[serde(deny_unknown_fields)]`, so that unknown settings are errors.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
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
        self.add::<S>(name, summary, making(factory))
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
    ) -> Result<Box<dyn ThinkingMode>, SettingProblem> {
        let Some(mode) = self.get(name) else {
            let (name, known) = (Name(name), NameList::or(self.entries.keys()));
            let message = format!("unknown thinking mode `{name}`; expected {known}");
            return Err(SettingProblem::new(message).at("type"));
        };

        // Files leave out settings that all have a default.
        let empty = json!({});
        let settings = if settings.is_null() { &empty } else { settings };
        (mode.value)(settings).map_err(|problem| problem.below("config"))
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
        let choices = self.iter().map(|(name, mode)| {
            // The documentation of the type is for Rust code; the summary replaces it.
            let mut settings = mode.schema.clone();
            if let Some(settings) = settings.as_object_mut() {
                settings.remove("description");
            }

            let mut required = vec!["type"];
            // Without required settings, `config` may be left out.
            required.extend(settings.get("required").map(|_| "config"));
            json!({
                "type": "object",
                "description": mode.summary,
                "properties": { "type": { "const": name }, "config": settings },
                "required": required,
                "additionalProperties": false,
            })
        });
        json!({ "oneOf": choices.collect::<Vec<_>>() })
    }
}

/// Returns what makes a mode from its settings with this factory.
fn making<S, M>(factory: impl Fn(S) -> Result<M, String> + Send + Sync + 'static) -> MakeMode
where
    S: DeserializeOwned,
    M: ThinkingMode + 'static,
{
    Arc::new(move |settings| {
        let mode = factory(read(settings)?).map_err(SettingProblem::new)?;
        Ok(Box::new(mode))
    })
}

impl<T> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}
