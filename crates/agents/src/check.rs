//! Checks a file against its JSON Schema, and reports all problems with their places.
//!
//! This is the same schema that editors use, so the two can't diverge. Only the keywords of derived
//! schemas are supported. A validator library would say "matches none of the schemas" instead of the
//! names of the modes.

use cogwork_text::counted;
use serde_json::{Map, Value as Json};

use crate::names::{Name, NameList, did_you_mean, nearest};
use crate::problems::{Problems, below, item};

/// The keyword for the noun that describes a tag or a name.
pub(crate) const NOUN: &str = "x-noun";

/// The keyword that is `false` if variables are not replaced, because drawings and messages show
/// the text.
pub(crate) const ENVIRONMENT: &str = "x-environment";

/// The keyword for the key that selects one of several mappings, next to `oneOf`.
pub(crate) const TAG: &str = "x-tag";

/// The keyword for the names by which a setting is known elsewhere. They are suggestions, not
/// aliases.
const ALSO: &str = "x-also";

type Schema = Map<String, Json>;

/// Reports all problems of a file.
pub(crate) fn check(file: &Json, schema: &Json, problems: &mut Problems) {
    let root = schema;
    Check { root, problems }.value(file, schema, "");
}

struct Check<'c> {
    root: &'c Json,
    problems: &'c mut Problems,
}

/// The text of a tag, and the schema of the mapping with this tag.
type Tagged<'s> = (&'s str, &'s Schema);

impl<'c> Check<'c> {
    fn value(&mut self, value: &Json, schema: &'c Json, path: &str) {
        let Some(schema) = self.resolved(schema).filter(|_| !self.problems.is_full()) else {
            return;
        };

        // Before any other check, whose message might show the value.
        if schema.get(ENVIRONMENT) == Some(&Json::Bool(false))
            && let Some(name) = self.problems.variables(path).first()
        {
            let message = format!(
                "nothing is taken from the environment here, where it would be shown; expected a text without `${{{}}}`",
                Name(name)
            );
            return self.problems.push(path, message);
        }

        if let Some(names) = self.names(schema) {
            self.one_of_names(value, schema, &names, path);
        } else if let Some((key, tags)) = self.tags(schema) {
            self.one_of_tagged(value, noun(schema, "value"), key, &tags, path);
        } else if let Some(branches) = branches(schema) {
            self.any_of(value, branches, path);
        } else {
            self.plain(value, schema, path);
        }
    }

    /// Follows a reference. Returns `None` for a schema that allows everything.
    fn resolved(&self, schema: &'c Json) -> Option<&'c Schema> {
        let schema = schema.as_object()?;
        match schema.get("$ref").and_then(Json::as_str) {
            Some(reference) => {
                let target = self.root.pointer(reference.strip_prefix('#')?)?;
                self.resolved(target)
            }
            None => Some(schema),
        }
    }

    /// Returns the allowed texts, if the schema only lists texts.
    fn names(&self, schema: &'c Schema) -> Option<Vec<&'c str>> {
        if let Some(one) = schema.get("const") {
            return Some(vec![one.as_str()?]);
        }
        if let Some(names) = schema.get("enum") {
            return names.as_array()?.iter().map(Json::as_str).collect();
        }

        // The variants of an enum with docs are alternatives of one text each.
        let branches = schema.get("oneOf")?.as_array()?.iter();
        let names = branches.map(|branch| self.names(self.resolved(branch)?));
        Some(names.collect::<Option<Vec<_>>>()?.concat())
    }

    fn one_of_names(&mut self, value: &Json, schema: &Schema, names: &[&str], path: &str) {
        if value.as_str().is_none_or(|text| !names.contains(&text)) {
            let message = self.unknown_name(value, noun(schema, "name"), names, path);
            self.problems.push(path, message);
        }
    }

    /// Reports the problems of the closest alternative: the first one of the same type.
    fn any_of(&mut self, value: &Json, branches: &'c [Json], path: &str) {
        let mut closest = None;
        for branch in branches {
            if !self.kinds(branch).iter().any(|kind| is_of(value, kind)) {
                continue;
            }

            let before = self.problems.found.len();
            self.value(value, branch, path);
            let problems = self.problems.found.split_off(before);
            if problems.is_empty() {
                return;
            }
            closest.get_or_insert(problems);
        }

        if let Some(problems) = closest {
            return self.problems.extend(problems);
        }
        // No alternative is close, so the message names the types of all of them.
        let kinds = branches.iter().flat_map(|branch| self.kinds(branch));
        let expected = called(kinds.collect());
        let found = self.shown_kind(value, path);
        let message = format!("expected {expected}, found {found}");
        self.problems.push(path, message);
    }

    /// Returns the types of values that a schema accepts.
    fn kinds(&self, schema: &'c Json) -> Vec<&'c str> {
        let Some(schema) = self.resolved(schema) else {
            return Vec::new();
        };

        match (types(schema).as_slice(), branches(schema)) {
            ([], Some(branches)) => branches.iter().flat_map(|one| self.kinds(one)).collect(),
            (types, _) => types.to_vec(),
        }
    }

    /// Returns the key whose text selects a branch, and the branches with their texts.
    fn tags(&self, schema: &'c Schema) -> Option<(&'c str, Vec<Tagged<'c>>)> {
        let key = schema.get(TAG)?.as_str()?;
        let tags = branches(schema)?.iter().filter_map(|branch| {
            let branch = self.resolved(branch)?;
            let tag = properties(branch)?.get(key)?.get("const")?;
            Some((tag.as_str()?, branch))
        });
        Some((key, tags.collect()))
    }

    /// Checks one of several mappings, which is selected by the text of one key.
    fn one_of_tagged(
        &mut self,
        value: &Json,
        noun: &str,
        key: &str,
        tags: &[Tagged<'c>],
        path: &str,
    ) {
        let Json::Object(entries) = value else {
            let found = self.shown_kind(value, path);
            let message = format!("expected a mapping with `{key}`, found {found}");
            return self.problems.push(path, message);
        };

        // The tag decides, so that the problems are those of one branch, not of all of them.
        let tag = entries.get(key);
        let name = tag.and_then(Json::as_str);
        if let Some((_, branch)) = tags.iter().find(|(tag, _)| Some(*tag) == name) {
            return self.plain(value, branch, path);
        }

        let names: Vec<_> = tags.iter().map(|(name, _)| *name).collect();
        let at_tag = below(path, key);
        let message = match tag {
            None => format!("the key is missing; {}", known(noun, &names)),
            Some(tag) => self.unknown_name(tag, noun, &names, &at_tag),
        };
        self.problems.push(&at_tag, message);
    }

    /// Checks a value against a schema without alternatives.
    fn plain(&mut self, value: &Json, schema: &'c Schema, path: &str) {
        let types = types(schema);
        if !types.is_empty() && !types.iter().any(|kind| is_of(value, kind)) {
            let hint = unquoted(value, &types);
            let (expected, found) = (called(types), self.shown_kind(value, path));
            let message = format!("expected {expected}, found {found}{hint}");
            return self.problems.push(path, message);
        }

        match value {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => self.number(number.as_f64(), schema, path),
            Json::String(text) => {
                let length = text.chars().count();
                self.length(length, ["the text", "Length", "character"], schema, path);
            }
            Json::Array(items) => {
                self.length(items.len(), ["the list", "Items", "item"], schema, path);
                for (index, value) in items.iter().enumerate() {
                    if let Some(schema) = schema.get("items") {
                        self.value(value, schema, &item(path, index));
                    }
                }
            }
            Json::Object(entries) => self.entries(entries, schema, path),
        }
    }

    fn entries(&mut self, entries: &Schema, schema: &'c Schema, path: &str) {
        for (key, value) in entries {
            let property = properties(schema).and_then(|known| known.get(key));
            // A map, such as the headers, has one schema for all its keys.
            let property = property.or_else(|| schema.get("additionalProperties"));

            match property {
                Some(Json::Bool(false)) => {
                    let known: Vec<_> = properties(schema).into_iter().flatten().collect();
                    self.unknown_key(key, &known, path);
                }
                Some(schema) => self.value(value, schema, &below(path, key)),
                None => {}
            }
        }

        let required = schema.get("required").and_then(Json::as_array);
        let required = required.into_iter().flatten().filter_map(Json::as_str);
        for key in required.filter(|key| !entries.contains_key(*key)) {
            let property = properties(schema).and_then(|known| known.get(key));
            let expected = called(property.map_or_else(Vec::new, |schema| self.kinds(schema)));
            let message = format!("the key `{key}` is missing; expected {expected}");
            self.problems.push(path, message);
        }
    }

    fn unknown_key(&mut self, key: &str, known: &[(&'c String, &'c Json)], path: &str) {
        // Each problem costs a search for similar names.
        if self.problems.is_full() {
            return;
        }

        let mut names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
        // Branches share many of their keys.
        names.sort_unstable();
        names.dedup();
        let is_also = |property: &'c Json| {
            let also = self.resolved(property)?.get(ALSO)?.as_array()?;
            also.iter().find(|name| name.as_str() == Some(key))
        };
        // A name from elsewhere is a better hint than one that only looks similar.
        let also = known
            .iter()
            .find(|(_, property)| is_also(property).is_some());
        let also = also.map(|(name, _)| name.as_str());

        let hint = match also.or_else(|| nearest(key, names.iter().copied())) {
            // Settings one level too high are the most frequent mistake.
            None if names.contains(&"config") => "; does it belong into `config`?".to_owned(),
            None => format!("; known keys: {}", NameList::and(names)),
            meant => did_you_mean(meant),
        };
        let message = format!("unknown key `{}`{hint}", Name(key));
        self.problems.push_at_key(path, key, message);
    }

    fn number(&mut self, number: Option<f64>, schema: &Schema, path: &str) {
        let number = number.unwrap_or_default();
        let bound = |key: &str| schema.get(key).and_then(Json::as_f64);

        if let Some(most) = bound("maximum").filter(|most| number > *most) {
            let message = format!("the number is too large; expected at most {most}");
            self.problems.push(path, message);
        }
        if let Some(least) = bound("minimum").filter(|least| number < *least) {
            let message = format!("the number is too small; expected at least {least}");
            self.problems.push(path, message);
        }
    }

    fn length(&mut self, length: usize, [what, key, unit]: [&str; 3], schema: &Schema, path: &str) {
        let bound = |side: &str| schema.get(&format!("{side}{key}")).and_then(Json::as_u64);
        // Characters, as JSON Schema counts them, not bytes.
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let units = |count: u64| counted(count, unit);

        let least = bound("min").filter(|least| length < *least);
        let most = bound("max").filter(|most| length > *most);
        let message = match (least, most) {
            // A value that is there but empty is mostly a mistake of indentation.
            (Some(least), _) if length == 0 => {
                format!("{what} is empty; expected at least {}", units(least))
            }
            (Some(least), _) => format!("{what} has {}; expected at least {least}", units(length)),
            (None, Some(most)) => format!("{what} has {}; expected at most {most}", units(length)),
            (None, None) => return,
        };
        self.problems.push(path, message);
    }

    /// Returns the problem of a value that is none of these names. A name from the environment is
    /// not shown, and neither is a suggestion, which would reveal it.
    fn unknown_name(&self, value: &Json, noun: &str, names: &[&str], path: &str) -> String {
        let known = known(noun, names);
        match (value, self.problems.variables(path)) {
            (Json::String(text), []) => {
                let meant = did_you_mean(nearest(text, names.iter().copied()));
                format!("unknown {noun} `{}`; {known}{meant}", Name(text))
            }
            (Json::String(_), variables) => {
                format!("unknown {noun} `{}`; {known}", shown(variables))
            }
            _ => {
                let found = kind(value);
                format!("expected the name of a {noun}, found {found}; {known}")
            }
        }
    }

    /// Describes a value without showing it, because it may be a key that was put in the wrong place.
    fn shown_kind(&self, value: &Json, path: &str) -> String {
        match self.problems.variables(path) {
            [] => kind(value).to_owned(),
            variables => format!("the text of `{}`", shown(variables)),
        }
    }
}

/// Returns the alternatives of a schema.
fn branches(schema: &Schema) -> Option<&[Json]> {
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    branches.as_array().map(Vec::as_slice)
}

fn properties(schema: &Schema) -> Option<&Schema> {
    schema.get("properties").and_then(Json::as_object)
}

fn noun<'s>(schema: &'s Schema, default: &'s str) -> &'s str {
    schema.get(NOUN).and_then(Json::as_str).unwrap_or(default)
}

fn types(schema: &Schema) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
        _ if schema.contains_key("const") || schema.contains_key("enum") => vec!["string"],
        _ => Vec::new(),
    }
}

fn is_of(value: &Json, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "nothing",
        Json::Bool(_) => "a truth value",
        Json::Number(number) if number.is_f64() => "a number",
        Json::Number(_) => "a whole number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a mapping",
    }
}

/// Returns the names of types for messages. Only those that a person would write have one.
fn called(types: Vec<&str>) -> String {
    let mut called: Vec<&str> = Vec::new();
    for name in types {
        let name = match name {
            "boolean" => "true or false",
            "integer" => "a whole number",
            "number" => "a number",
            "string" => "a text",
            "array" => "a list",
            "object" => "a mapping",
            _ => continue,
        };
        if !called.contains(&name) {
            called.push(name);
        }
    }

    match called.as_slice() {
        [] => "a value".to_owned(),
        called => called.join(" or "),
    }
}

fn known(noun: &str, names: &[&str]) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("known {plural}: {}", NameList::and(names))
}

fn shown(variables: &[String]) -> String {
    let variables = variables.iter();
    variables.map(|name| format!("${{{name}}}")).collect()
}

/// Returns a suggestion for a mapping like `{input}` in the place of a text.
fn unquoted(value: &Json, types: &[&str]) -> String {
    let slot = value.as_object().filter(|entries| entries.len() == 1);
    let slot = slot.and_then(|entries| entries.iter().find(|(_, value)| value.is_null()));

    match slot {
        Some((slot, _)) if types.contains(&"string") => {
            let slot = Name(slot);
            format!("; put a text that begins with a slot in quotes: `'{{{slot}}}'`")
        }
        _ => String::new(),
    }
}
