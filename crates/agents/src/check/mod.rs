//! Checks a file against its JSON Schema, and reports all problems with their places.
//!
//! This is the same schema that editors use, so the two can't diverge. Only the keywords of derived
//! schemas are supported. A validator library would report paths without places, and "matches none
//! of the schemas" instead of the names of the modes.

mod keywords;

use serde_json::{Map, Value as Json};

use keywords::{
    LARGEST, Tagged, bound_as_text, called, common, constants, expected, is_of, plural, resolve,
    tagged, types,
};

use crate::problem::{Found, Problems};
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::yaml::{Entry, Path, Tree, Value};

/// The keyword for the noun that describes a tag, next to `oneOf`.
pub(crate) const NOUN: &str = "x-noun";
/// The keyword that is `false` if variables are not replaced, because drawings and messages show
/// the text.
pub(crate) const ENVIRONMENT: &str = "x-environment";

/// The keyword for the names by which a setting is known elsewhere. They are suggestions, not
/// aliases.
pub(crate) const ALSO: &str = "x-also";

/// The keyword that is `true` for the name of a tool, next to `anyOf`. The file may name tools that
/// editors can't know.
pub(crate) const TOOL: &str = "x-tool";

/// Reports all problems of the tree. `tools` are the names of the tools that the file adds, or
/// `None` if they are unknown.
pub(crate) fn check(tree: &Tree, schema: &Json, tools: Option<&[String]>, problems: &mut Problems) {
    let mut check = Check {
        root: schema,
        tools,
        problems,
    };
    check.value(tree, schema, &Path::default());
}

struct Check<'c> {
    root: &'c Json,
    tools: Option<&'c [String]>,
    problems: &'c mut Problems,
}

impl<'c> Check<'c> {
    fn value(&mut self, tree: &Tree, schema: &Json, path: &Path) {
        if let Some(schema) = resolve(schema, self.root).filter(|_| !self.problems.is_full()) {
            self.resolved(tree, schema, path);
        }
    }

    fn resolved(&mut self, tree: &Tree, schema: &Map<String, Json>, path: &Path) {
        if schema.get(ENVIRONMENT) == Some(&Json::Bool(false))
            && let Value::Text(text) = &tree.value
            && let Some(name) = text.variables.first()
        {
            let message = format!(
                "nothing is taken from the environment here, where it would be shown; expected a text without `${{{}}}`",
                Name(name)
            );
            return self.found(tree, path, message);
        }

        if let Some(names) = constants(schema, self.root) {
            return self.one_of_names(tree, schema, &names, path);
        }
        if let Some(names) = self.tool_names(schema) {
            return self.one_of_names(tree, schema, &names, path);
        }

        if let Some(all) = schema.get("allOf").and_then(Json::as_array) {
            all.iter().for_each(|part| self.value(tree, part, path));
        }

        let before = self.problems.len();
        for any in ["oneOf", "anyOf"]
            .iter()
            .filter_map(|key| schema.get(*key)?.as_array())
        {
            self.any_of(tree, schema, any, path);
        }

        // The problems of the alternatives say more than the type that they have in common.
        let is_told = self.problems.len() > before && !matches!(tree.value, Value::Map(_));
        if is_told || !self.of_type(tree, schema, path) {
            return;
        }

        match &tree.value {
            Value::Number(number) => {
                self.number(tree, number.as_f64().unwrap_or_default(), schema, path)
            }
            Value::Text(text) => self.length(
                tree,
                text.value.chars().count(),
                "Length",
                "character",
                schema,
                path,
            ),
            Value::List(items) => {
                self.length(tree, items.len(), "Items", "item", schema, path);
                if let Some(item) = schema.get("items") {
                    for (index, tree) in items.iter().enumerate() {
                        self.value(tree, item, &path.index(index));
                    }
                }
            }
            Value::Map(entries) => self.map(tree, entries, schema, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Returns the known names, if the schema is that of a tool's name.
    fn tool_names(&self, schema: &'c Map<String, Json>) -> Option<Vec<&'c str>> {
        let of_file = self.tools.filter(|_| schema.contains_key(TOOL))?;
        let of_program = schema.get("anyOf")?.get(0)?.as_object()?;
        let of_program = constants(of_program, self.root)?;

        let of_file = of_file.iter().map(String::as_str);
        Some(of_program.into_iter().chain(of_file).collect())
    }

    fn of_type(&mut self, tree: &Tree, schema: &Map<String, Json>, path: &Path) -> bool {
        let types: Vec<&str> = match schema.get("type") {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
            _ => return true,
        };

        if types.iter().any(|name| is_of(tree, name)) {
            return true;
        }

        let named: Vec<_> = types
            .iter()
            .filter(|name| **name != "null")
            .map(|name| called(name))
            .collect();

        self.found(
            tree,
            path,
            format!(
                "expected {}, found {}{}",
                named.join(" or "),
                shown_kind(tree),
                unquoted(tree, &types)
            ),
        );

        false
    }

    fn one_of_names(
        &mut self,
        tree: &Tree,
        schema: &Map<String, Json>,
        names: &[&str],
        path: &Path,
    ) {
        let noun = schema.get(NOUN).and_then(Json::as_str).unwrap_or("name");
        let known = format!("known {}: {}", plural(noun), list(names));
        match tree.text() {
            None => self.found(
                tree,
                path,
                format!(
                    "expected the name of a {noun}, found {}; {known}",
                    shown_kind(tree)
                ),
            ),
            Some(text) if names.contains(&text) => {}
            Some(_) => {
                let message = format!(
                    "unknown {noun} {}; {known}{}",
                    shown(tree),
                    meant(tree, names)
                );
                self.found(tree, path, message);
            }
        }
    }

    fn any_of(&mut self, tree: &Tree, schema: &Map<String, Json>, any: &[Json], path: &Path) {
        let branches: Vec<_> = any
            .iter()
            .filter_map(|branch| resolve(branch, self.root))
            .collect();
        let is_null = |branch: &&Map<String, Json>| branch.get("type") == Some(&Json::from("null"));
        if matches!(tree.value, Value::Null) && branches.iter().any(is_null) {
            return;
        }

        let branches: Vec<_> = branches
            .into_iter()
            .filter(|branch| !is_null(branch))
            .collect();
        if let Some((key, tags)) = tagged(&branches, self.root)
            && (branches.len() > 1 || schema.contains_key(NOUN))
        {
            return self.tagged(tree, schema, key, &tags, path);
        }

        // Report the problems of the closest alternative: the first one of the same type.
        let mut told: Option<Problems> = None;
        for branch in &branches {
            let mut problems = Problems::default();
            Check {
                root: self.root,
                tools: self.tools,
                problems: &mut problems,
            }
            .resolved(tree, branch, path);

            if problems.is_empty() {
                return;
            }

            let fits = types(branch).iter().any(|name| is_of(tree, name));
            if fits && told.is_none() {
                told = Some(problems);
            }
        }

        match told {
            Some(problems) => self.problems.extend(problems),
            None => {
                let expected = expected(schema, self.root);
                self.found(
                    tree,
                    path,
                    format!(
                        "expected {expected}, found {}{}",
                        shown_kind(tree),
                        self.bare_tag(tree, &branches)
                    ),
                );
            }
        }
    }

    /// Returns a suggestion for a text that is the tag of a mapping.
    fn bare_tag(&self, tree: &Tree, branches: &[&Map<String, Json>]) -> String {
        let nested = branches.iter().filter_map(|branch| {
            let nested = branch.get("oneOf")?.as_array()?.iter();
            let nested: Vec<_> = nested
                .filter_map(|branch| resolve(branch, self.root))
                .collect();
            tagged(&nested, self.root)
        });

        nested
            .map(|(key, tags)| mapping_with(tree, key, &tags))
            .collect()
    }

    /// Checks one of several mappings, which is selected by the text of one key.
    fn tagged(
        &mut self,
        tree: &Tree,
        schema: &Map<String, Json>,
        key: &str,
        tags: &[Tagged<'_>],
        path: &Path,
    ) {
        let noun = schema.get(NOUN).and_then(Json::as_str).unwrap_or("value");
        if !matches!(tree.value, Value::Map(_)) {
            return self.found(
                tree,
                path,
                format!(
                    "expected a mapping with `{key}`, found {}{}",
                    shown_kind(tree),
                    mapping_with(tree, key, tags)
                ),
            );
        }

        let names: Vec<_> = tags.iter().map(|(name, _)| *name).collect();
        let known = format!("known {}: {}", plural(noun), list(&names));
        let path_of_tag = path.key(key);
        let problem = match tree.get(key).map(|tag| (tag, tag.text())) {
            None => {
                let message = format!("the key `{key}` is missing; {known}");
                Found::tag(tree.place, path, message)
            }
            Some((tag, Some(text))) => {
                if let Some((_, branch)) = tags.iter().find(|(name, _)| *name == text) {
                    return self.resolved(tree, branch, path);
                }

                let message = format!(
                    "unknown {noun} {}; {known}{}",
                    shown(tag),
                    meant(tag, &names)
                );

                Found::tag(tag.place, &path_of_tag, message)
            }
            Some((tag, None)) => {
                let message = format!(
                    "expected the name of a {noun}, found {}; {known}",
                    shown_kind(tag)
                );
                Found::tag(tag.place, &path_of_tag, message)
            }
        };

        self.problems.push(problem);
        let branches: Vec<_> = tags.iter().map(|(_, branch)| *branch).collect();
        self.resolved(tree, &common(key, &branches, self.root), path);
    }

    fn map(&mut self, tree: &Tree, entries: &[Entry], schema: &Map<String, Json>, path: &Path) {
        let none = Map::new();
        let properties = schema
            .get("properties")
            .and_then(Json::as_object)
            .unwrap_or(&none);
        for entry in entries {
            if self.problems.is_full() {
                return;
            }

            let below = path.key(entry.key.as_str());
            match (
                properties.get(&entry.key),
                schema.get("additionalProperties"),
            ) {
                (Some(property), _) => self.value(&entry.value, property, &below),
                (None, Some(Json::Bool(false))) => {
                    let known = properties.keys().map(String::as_str);
                    let also = properties
                        .iter()
                        .find(|(_, property)| self.is_also(property, &entry.key))
                        .map(|(name, _)| name.as_str());
                    let meant = also.or_else(|| nearest(&entry.key, known.clone()));
                    let meant = did_you_mean(meant);
                    let meant = if meant.is_empty() {
                        format!("; known keys: {}", list(known))
                    } else {
                        meant
                    };

                    let message = format!("unknown key `{}`{meant}", Name(&entry.key));
                    self.problems.push(Found::new(entry.place, path, message));
                }
                (None, Some(other)) => self.value(&entry.value, other, &below),
                (None, None) => {}
            }
        }

        let required = schema
            .get("required")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();

        for key in required
            .filter_map(Json::as_str)
            .filter(|key| tree.get(key).is_none())
        {
            let what = properties
                .get(key)
                .and_then(|property| resolve(property, self.root));
            let what = what.map_or_else(
                || "a value".to_owned(),
                |property| expected(property, self.root),
            );
            self.found(
                tree,
                path,
                format!("the key `{key}` is missing; expected {what}"),
            );
        }
    }

    /// Returns whether a setting is known as `name` elsewhere.
    fn is_also(&self, property: &Json, name: &str) -> bool {
        let also = resolve(property, self.root).and_then(|schema| schema.get(ALSO)?.as_array());
        also.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    }

    fn number(&mut self, tree: &Tree, number: f64, schema: &Map<String, Json>, path: &Path) {
        let format = schema.get("format").and_then(Json::as_str);
        let largest = LARGEST.iter().find(|(name, _)| Some(*name) == format);
        if let Some((_, most)) = largest
            && number > *most
            && !schema.contains_key("maximum")
        {
            let message = format!("the number is too large; expected at most {most}");
            self.found(tree, path, message);
        }

        let bound = |key: &str| Some((schema.get(key)?.as_f64()?, schema.get(key)?));
        if let Some((_, least)) = bound("minimum").filter(|(least, _)| number < *least) {
            let least = bound_as_text(least);
            let message = format!("the number is too small; expected at least {least}");
            self.found(tree, path, message);
        }

        if let Some((_, most)) = bound("maximum").filter(|(most, _)| number > *most) {
            let most = bound_as_text(most);
            let message = format!("the number is too large; expected at most {most}");
            self.found(tree, path, message);
        }
    }

    fn length(
        &mut self,
        tree: &Tree,
        length: usize,
        key: &str,
        unit: &str,
        schema: &Map<String, Json>,
        path: &Path,
    ) {
        let bound = |side: &str| schema.get(&format!("{side}{key}")).and_then(Json::as_u64);
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let units = |count: u64| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });

        let what = match tree.value {
            Value::List(_) => "the list",
            _ => "the text",
        };

        if let Some(least) = bound("min").filter(|least| length < *least) {
            let message = match length {
                0 => format!("{what} is empty; expected at least {}", units(least)),
                _ => format!("{what} has {}; expected at least {least}", units(length)),
            };
            self.found(tree, path, message);
        }

        if let Some(most) = bound("max").filter(|most| length > *most) {
            let message = format!("{what} has {}; expected at most {most}", units(length));
            self.found(tree, path, message);
        }
    }

    fn found(&mut self, tree: &Tree, path: &Path, message: String) {
        self.problems.push(Found::new(tree.place, path, message));
    }
}

/// Describes a value without showing it, because it may be a key that was put in the wrong place.
fn shown_kind(tree: &Tree) -> String {
    match &tree.value {
        Value::Text(text) if !text.variables.is_empty() => {
            format!("the text of `{}`", shown_variables(text))
        }
        _ => tree.kind().to_owned(),
    }
}

/// Returns a suggestion for a mapping like `{input}` in the place of a text.
fn unquoted(tree: &Tree, types: &[&str]) -> String {
    let is_slot = |entry: &Entry| matches!(entry.value.value, Value::Null);

    match tree.entries() {
        [slot] if types.contains(&"string") && is_slot(slot) => {
            let slot = Name(&slot.key);
            format!("; put a text that begins with a slot in quotes: `'{{{slot}}}'`")
        }
        _ => String::new(),
    }
}

/// Returns a suggestion for a text that is the tag of a mapping, such as `reflection` for
/// `{type: reflection}`.
fn mapping_with(tree: &Tree, key: &str, tags: &[Tagged<'_>]) -> String {
    let Value::Text(text) = &tree.value else {
        return String::new();
    };
    if !text.variables.is_empty() {
        return String::new();
    }

    let names = || tags.iter().map(|(name, _)| *name);
    let exact = names().find(|name| *name == text.value);
    match exact.or_else(|| nearest(&text.value, names())) {
        Some(name) => format!("; did you mean `{{{key}: {}}}`?", Name(name)),
        None => String::new(),
    }
}

/// Returns an unknown name, or the variable that it came from.
fn shown(tree: &Tree) -> String {
    match &tree.value {
        Value::Text(text) if !text.variables.is_empty() => format!("`{}`", shown_variables(text)),
        _ => format!("`{}`", Name(tree.text().unwrap_or_default())),
    }
}

fn shown_variables(text: &crate::yaml::Text) -> String {
    text.variables
        .iter()
        .map(|name| format!("${{{name}}}"))
        .collect()
}

/// Returns a suggestion for an unknown name. It is empty for a name from the environment, because a
/// suggestion would reveal it.
fn meant(tree: &Tree, names: &[&str]) -> String {
    match &tree.value {
        Value::Text(text) if text.variables.is_empty() => {
            did_you_mean(nearest(&text.value, names.iter().copied()))
        }
        _ => String::new(),
    }
}
