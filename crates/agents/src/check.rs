//! Checks a file against its JSON Schema, and reports all problems with their places.
//!
//! This is the same schema that editors use, so the two can't diverge. Only the keywords of derived
//! schemas are supported. A validator library would report paths without places, and "matches none
//! of the schemas" instead of the names of the modes.

use serde_json::{Map, Value as Json};

use crate::problem::{Found, Problems};
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::yaml::{Entry, Path, Text, Tree, Value};

/// The keyword for the noun that describes a tag, next to `oneOf`.
pub(crate) const NOUN: &str = "x-noun";
/// The keyword that is `false` if variables are not replaced, because drawings and messages show
/// the text.
pub(crate) const ENVIRONMENT: &str = "x-environment";

/// The keyword for the names by which a setting is known elsewhere. They are suggestions, not
/// aliases.
const ALSO: &str = "x-also";

/// The keyword that is `true` for the name of a tool, next to `anyOf`. The file may name tools that
/// editors can't know.
pub(crate) const TOOL: &str = "x-tool";

/// The bounds that a derived schema expresses only by a format.
const LARGEST: [(&str, f64); 4] = [
    ("uint8", 255.0),
    ("uint16", 65_535.0),
    ("uint32", 4_294_967_295.0),
    ("float", f32::MAX as f64),
];

type Schema = Map<String, Json>;

/// Reports all problems of the tree. `tools` are the names of the tools that its nodes can name, or
/// `None` if not all of them are known.
pub(crate) fn check(tree: &Tree, schema: &Json, tools: Option<&[&str]>, problems: &mut Problems) {
    let mut check = Check {
        root: schema,
        tools,
        problems,
    };
    check.value(tree, schema, &Path::default());
}

struct Check<'c> {
    root: &'c Json,
    tools: Option<&'c [&'c str]>,
    problems: &'c mut Problems,
}

/// The text of a tag, and the schema of the mapping with this tag.
type Tagged<'s> = (&'s str, &'s Schema);

impl<'c> Check<'c> {
    fn value(&mut self, tree: &Tree, schema: &'c Json, path: &Path) {
        if let Some(schema) = self.resolved(schema).filter(|_| !self.problems.is_full()) {
            self.check(tree, schema, path);
        }
    }

    /// Follows a reference. Returns `None` for a schema that allows everything.
    fn resolved(&self, schema: &'c Json) -> Option<&'c Schema> {
        let mut schema = schema.as_object()?;
        while let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            schema = self
                .root
                .pointer(reference.strip_prefix('#')?)?
                .as_object()?;
        }
        Some(schema)
    }

    fn check(&mut self, tree: &Tree, schema: &'c Schema, path: &Path) {
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

        let tools = self.tools.filter(|_| schema.contains_key(TOOL));
        if let Some(names) = tools.map(<[_]>::to_vec).or_else(|| self.constants(schema)) {
            return self.one_of_names(tree, schema, &names, path);
        }

        let before = self.problems.len();
        if let Some(branches) = self.branches(schema) {
            self.any_of(tree, schema, &branches, path);
        }
        // The problems of the alternatives say more than the type that they have in common.
        let is_told = self.problems.len() > before && !matches!(tree.value, Value::Map(_));
        if is_told || !self.has_type(tree, schema, path) {
            return;
        }

        match &tree.value {
            Value::Number(number) => self.number(tree, number.as_f64(), schema, path),
            Value::Text(text) => {
                let length = text.value.chars().count();
                self.length(
                    tree,
                    length,
                    ["the text", "Length", "character"],
                    schema,
                    path,
                );
            }
            Value::List(items) => {
                let length = items.len();
                self.length(tree, length, ["the list", "Items", "item"], schema, path);
                for (index, tree) in items.iter().enumerate() {
                    let item = schema.get("items").unwrap_or(&Json::Null);
                    self.value(tree, item, &path.index(index));
                }
            }
            Value::Map(entries) => self.map(tree, entries, schema, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Returns the alternatives of a schema.
    fn branches(&self, schema: &'c Schema) -> Option<Vec<&'c Schema>> {
        let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
        let branches = branches.as_array()?.iter();
        Some(
            branches
                .filter_map(|branch| self.resolved(branch))
                .collect(),
        )
    }

    /// Returns the allowed texts, if the schema only lists texts.
    fn constants(&self, schema: &'c Schema) -> Option<Vec<&'c str>> {
        if let Some(one) = schema.get("const") {
            return Some(vec![one.as_str()?]);
        }
        if let Some(names) = schema.get("enum") {
            return names.as_array()?.iter().map(Json::as_str).collect();
        }

        schema.get("oneOf")?;
        let branches = self.branches(schema)?.into_iter();
        let constants = branches.map(|branch| self.constants(branch));
        Some(constants.collect::<Option<Vec<_>>>()?.concat())
    }

    fn one_of_names(&mut self, tree: &Tree, schema: &Schema, names: &[&str], path: &Path) {
        let noun = schema.get(NOUN).and_then(Json::as_str).unwrap_or("name");
        if tree.text().is_none_or(|text| !names.contains(&text)) {
            self.found(tree, path, unknown_name(tree, noun, names));
        }
    }

    fn any_of(&mut self, tree: &Tree, schema: &Schema, branches: &[&'c Schema], path: &Path) {
        let is_null = |branch: &Schema| branch.get("type") == Some(&Json::from("null"));
        if matches!(tree.value, Value::Null) && branches.iter().any(|branch| is_null(branch)) {
            return;
        }
        let branches: Vec<_> = branches
            .iter()
            .copied()
            .filter(|branch| !is_null(branch))
            .collect();

        if let Some((key, tags)) = self.tagged(&branches)
            && (branches.len() > 1 || schema.contains_key(NOUN))
        {
            return self.one_of_tagged(tree, schema, key, &tags, path);
        }

        // Reports the problems of the closest alternative: the first one of the same type.
        let mut told: Option<Problems> = None;
        for branch in &branches {
            let mut problems = Problems::default();
            let mut check = Check {
                problems: &mut problems,
                ..*self
            };
            check.check(tree, branch, path);

            if problems.is_empty() {
                return;
            }
            if told.is_none() && types(branch).iter().any(|name| is_of(tree, name)) {
                told = Some(problems);
            }
        }

        if let Some(problems) = told {
            return self.problems.extend(problems.0);
        }
        let mut kinds = Vec::new();
        self.kinds(&branches, &mut kinds);
        let kinds = kinds.join(" or ");
        let nested = branches.iter().filter_map(|branch| self.branches(branch));
        let nested: Option<_> = nested.filter_map(|nested| self.tagged(&nested)).next();
        let hint = nested.map_or_else(String::new, |(key, tags)| mapping_with(tree, key, &tags));
        self.found(
            tree,
            path,
            format!("expected {kinds}, found {}{hint}", shown_kind(tree)),
        );
    }

    /// Adds the kinds of values that these schemas accept, each once.
    fn kinds(&self, schemas: &[&'c Schema], named: &mut Vec<&'static str>) {
        for schema in schemas {
            match self.branches(schema) {
                Some(branches) => self.kinds(&branches, named),
                None => named.extend(types(schema).into_iter().filter_map(called)),
            }
        }

        let mut known = Vec::new();
        named.retain(|kind| {
            let is_new = !known.contains(kind);
            known.push(*kind);
            is_new
        });
    }

    /// Returns the key whose text selects a branch, and the branches with their texts.
    fn tagged(&self, branches: &[&'c Schema]) -> Option<(&'c str, Vec<Tagged<'c>>)> {
        let tag_at = |branch: &'c Schema, key: &str| -> Option<&'c str> {
            let property = self.resolved(properties(branch)?.get(key)?)?;
            property.get("const")?.as_str()
        };

        properties(branches.first()?)?.keys().find_map(|key| {
            let tags = branches
                .iter()
                .map(|branch| Some((tag_at(branch, key)?, *branch)));
            Some((key.as_str(), tags.collect::<Option<Vec<_>>>()?))
        })
    }

    /// Checks one of several mappings, which is selected by the text of one key.
    fn one_of_tagged(
        &mut self,
        tree: &Tree,
        schema: &Schema,
        key: &str,
        tags: &[Tagged<'c>],
        path: &Path,
    ) {
        let noun = schema.get(NOUN).and_then(Json::as_str).unwrap_or("value");
        if !matches!(tree.value, Value::Map(_)) {
            let found = shown_kind(tree);
            let hint = mapping_with(tree, key, tags);
            let message = format!("expected a mapping with `{key}`, found {found}{hint}");
            return self.found(tree, path, message);
        }

        let names: Vec<_> = tags.iter().map(|(name, _)| *name).collect();
        let Some(tag) = tree.get(key) else {
            let known = known(noun, &names);
            let message = format!("the key `{key}` is missing; {known}");
            self.problems
                .push(Found::new(tree.place, path, message).of_tag());
            return self.shared(tree, key, tags, path);
        };

        match tags.iter().find(|(name, _)| Some(*name) == tag.text()) {
            Some((_, branch)) => self.check(tree, branch, path),
            None => {
                let message = unknown_name(tag, noun, &names);
                let found = Found::new(tag.place, &path.key(key), message);
                self.problems.push(found.of_tag());
                self.shared(tree, key, tags, path);
            }
        }
    }

    /// Checks the keys that mean the same in all branches, if the branch is unknown.
    fn shared(&mut self, tree: &Tree, tag: &str, tags: &[Tagged<'c>], path: &Path) {
        let branches = tags.iter().filter_map(|(_, branch)| properties(branch));
        let known: Vec<(&'c String, &'c Json)> = branches.flatten().collect();

        for entry in tree.entries().iter().filter(|entry| entry.key != tag) {
            let named = known.iter().filter(|(name, _)| **name == entry.key);
            let mut schemas = named.map(|(_, schema)| *schema);

            match schemas.next() {
                None => {
                    let message = self.unknown_key(&entry.key, &known);
                    self.problems.push(Found::new(entry.place, path, message));
                }
                Some(first)
                    if schemas.all(|other| self.resolved(other) == self.resolved(first)) =>
                {
                    self.value(&entry.value, first, &path.key(entry.key.as_str()));
                }
                Some(_) => {}
            }
        }
    }

    fn has_type(&mut self, tree: &Tree, schema: &Schema, path: &Path) -> bool {
        let types = types(schema);
        if !schema.contains_key("type") || types.iter().any(|name| is_of(tree, name)) {
            return true;
        }

        let expected: Vec<_> = types.iter().filter_map(|name| called(name)).collect();
        let message = format!(
            "expected {}, found {}{}",
            expected.join(" or "),
            shown_kind(tree),
            unquoted(tree, &types)
        );
        self.found(tree, path, message);
        false
    }

    fn map(&mut self, tree: &Tree, entries: &[Entry], schema: &'c Schema, path: &Path) {
        for entry in entries
            .iter()
            .take_while(|_| !self.problems.is_full())
            .collect::<Vec<_>>()
        {
            let property = properties(schema).and_then(|known| known.get(&entry.key));
            let property = property.or_else(|| schema.get("additionalProperties"));

            match property {
                Some(Json::Bool(false)) => {
                    let known: Vec<_> = properties(schema).into_iter().flatten().collect();
                    let message = self.unknown_key(&entry.key, &known);
                    self.problems.push(Found::new(entry.place, path, message));
                }
                Some(schema) => self.value(&entry.value, schema, &path.key(entry.key.as_str())),
                None => {}
            }
        }

        let required = schema.get("required").and_then(Json::as_array);
        let required = required.into_iter().flatten().filter_map(Json::as_str);
        for key in required.filter(|key| tree.get(key).is_none()) {
            let property = properties(schema).and_then(|known| self.resolved(known.get(key)?));
            let mut kinds = Vec::new();
            self.kinds(property.as_slice(), &mut kinds);
            let expected = match kinds.as_slice() {
                [] => "a value".to_owned(),
                kinds => kinds.join(" or "),
            };
            self.found(
                tree,
                path,
                format!("the key `{key}` is missing; expected {expected}"),
            );
        }
    }

    fn unknown_key(&self, key: &str, known: &[(&'c String, &'c Json)]) -> String {
        let mut names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let is_also = |property: &'c Json| {
            let also = self.resolved(property)?.get(ALSO)?.as_array()?;
            also.iter().find(|name| name.as_str() == Some(key))
        };

        let also = known
            .iter()
            .find(|(_, property)| is_also(property).is_some());
        let also = also.map(|(name, _)| name.as_str());
        let hint = match also.or_else(|| nearest(key, names.iter().copied())) {
            None if names.contains(&"config") => "; does it belong into `config`?".to_owned(),
            None => format!("; known keys: {}", list(names)),
            meant => did_you_mean(meant),
        };
        format!("unknown key `{}`{hint}", Name(key))
    }

    fn number(&mut self, tree: &Tree, number: Option<f64>, schema: &Schema, path: &Path) {
        let number = number.unwrap_or_default();
        let format = schema.get("format").and_then(Json::as_str);
        let largest = LARGEST.iter().find(|(name, _)| Some(*name) == format);
        let largest = largest.map(|(_, most)| *most);

        let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
        let most = bound("maximum").or(largest).filter(|most| number > *most);
        if let Some(most) = most {
            let message = format!("the number is too large; expected at most {most}");
            self.found(tree, path, message);
        }
        if let Some(least) = bound("minimum").filter(|least| number < *least) {
            let message = format!("the number is too small; expected at least {least}");
            self.found(tree, path, message);
        }
    }

    fn length(
        &mut self,
        tree: &Tree,
        length: usize,
        [what, key, unit]: [&str; 3],
        schema: &Schema,
        path: &Path,
    ) {
        let bound = |side: &str| schema.get(&format!("{side}{key}")).and_then(Json::as_u64);
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let units = |count: u64| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });

        let least = bound("min").filter(|least| length < *least);
        let most = bound("max").filter(|most| length > *most);
        let message = match (least, most) {
            (Some(least), _) if length == 0 => {
                format!("{what} is empty; expected at least {}", units(least))
            }
            (Some(least), _) => format!("{what} has {}; expected at least {least}", units(length)),
            (None, Some(most)) => format!("{what} has {}; expected at most {most}", units(length)),
            (None, None) => return,
        };
        self.found(tree, path, message);
    }

    fn found(&mut self, tree: &Tree, path: &Path, message: String) {
        self.problems.push(Found::new(tree.place, path, message));
    }
}

fn properties(schema: &Schema) -> Option<&Schema> {
    schema.get("properties").and_then(Json::as_object)
}

fn types(schema: &Schema) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
        _ if schema.contains_key("properties") => vec!["object"],
        _ if schema.contains_key("const") || schema.contains_key("enum") => vec!["string"],
        _ => Vec::new(),
    }
}

fn is_of(tree: &Tree, name: &str) -> bool {
    match (&tree.value, name) {
        (Value::Null, "null")
        | (Value::Bool(_), "boolean")
        | (Value::Number(_), "number")
        | (Value::Text(_), "string")
        | (Value::List(_), "array")
        | (Value::Map(_), "object") => true,
        (Value::Number(number), "integer") => !number.is_f64(),
        _ => false,
    }
}

/// Returns the name of a type for messages. Only types that a person would write have one.
fn called(name: &str) -> Option<&'static str> {
    match name {
        "boolean" => Some("true or false"),
        "integer" => Some("a whole number"),
        "number" => Some("a number"),
        "string" => Some("a text"),
        "array" => Some("a list"),
        "object" => Some("a mapping"),
        _ => None,
    }
}

fn known(noun: &str, names: &[&str]) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("known {plural}: {}", list(names))
}

/// Returns the problem of a value that is none of these names. A name from the environment is not
/// shown, and neither is a suggestion, which would reveal it.
fn unknown_name(tree: &Tree, noun: &str, names: &[&str]) -> String {
    let known = known(noun, names);
    match &tree.value {
        Value::Text(text) if text.variables.is_empty() => {
            let meant = did_you_mean(nearest(&text.value, names.iter().copied()));
            format!("unknown {noun} `{}`; {known}{meant}", Name(&text.value))
        }
        Value::Text(text) => format!("unknown {noun} `{}`; {known}", shown_variables(text)),
        _ => format!(
            "expected the name of a {noun}, found {}; {known}",
            tree.kind()
        ),
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

fn shown_variables(text: &Text) -> String {
    text.variables
        .iter()
        .map(|name| format!("${{{name}}}"))
        .collect()
}

/// Returns a suggestion for a mapping like `{input}` in the place of a text.
fn unquoted(tree: &Tree, types: &[&str]) -> String {
    match tree.entries() {
        [slot] if types.contains(&"string") && matches!(slot.value.value, Value::Null) => {
            let slot = Name(&slot.key);
            format!("; put a text that begins with a slot in quotes: `'{{{slot}}}'`")
        }
        _ => String::new(),
    }
}

/// Returns a suggestion for a text that is the tag of a mapping, such as `reflection` for
/// `{type: reflection}`.
fn mapping_with(tree: &Tree, key: &str, tags: &[Tagged<'_>]) -> String {
    let names = || tags.iter().map(|(name, _)| *name);
    let name = match &tree.value {
        Value::Text(text) if text.variables.is_empty() => {
            let exact = names().find(|name| *name == text.value);
            exact.or_else(|| nearest(&text.value, names()))
        }
        _ => None,
    };

    match name {
        Some(name) => format!("; did you mean `{{{key}: {}}}`?", Name(name)),
        None => String::new(),
    }
}
