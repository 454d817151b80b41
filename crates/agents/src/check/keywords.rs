//! Reads the keywords of a schema.

use serde_json::{Map, Value as Json};

use crate::yaml::{Tree, Value};

/// The maximum number of references that are followed in a row.
const MAX_HOPS: usize = 32;

/// The bounds that a derived schema expresses only by a format.
pub(super) const LARGEST: [(&str, f64); 4] = [
    ("uint8", 255.0),
    ("uint16", 65_535.0),
    ("uint32", 4_294_967_295.0),
    ("float", f32::MAX as f64),
];

/// Follows references. Returns `None` for a schema that allows everything, or if a reference is
/// dangling.
pub(super) fn resolve<'s>(schema: &'s Json, root: &'s Json) -> Option<&'s Map<String, Json>> {
    let mut schema = schema.as_object()?;
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref").and_then(Json::as_str) else {
            return Some(schema);
        };

        schema = root.pointer(reference.strip_prefix('#')?)?.as_object()?;
    }

    None
}

/// Returns the allowed texts, if the schema only lists texts.
pub(super) fn constants<'s>(schema: &'s Map<String, Json>, root: &'s Json) -> Option<Vec<&'s str>> {
    if let Some(one) = schema.get("const") {
        return one.as_str().map(|one| vec![one]);
    }

    if let Some(names) = schema.get("enum").and_then(Json::as_array) {
        return names.iter().map(Json::as_str).collect();
    }

    let branches = schema.get("oneOf")?.as_array()?;
    let of_branch = |branch| constants(resolve(branch, root)?, root);
    Some(
        branches
            .iter()
            .map(of_branch)
            .collect::<Option<Vec<_>>>()?
            .concat(),
    )
}

/// The text of a tag, and the schema of the mapping with this tag.
pub(super) type Tagged<'s> = (&'s str, &'s Map<String, Json>);

/// Returns the key whose text selects a branch, and the branches with their texts.
pub(super) fn tagged<'s>(
    branches: &[&'s Map<String, Json>],
    root: &'s Json,
) -> Option<(&'s str, Vec<Tagged<'s>>)> {
    let tag_at = |branch: &'s Map<String, Json>, key: &str| -> Option<&'s str> {
        let property = resolve(branch.get("properties")?.as_object()?.get(key)?, root)?;
        property.get("const")?.as_str()
    };
    let first = branches.first()?;
    let keys = first.get("properties")?.as_object()?.keys();

    keys.into_iter().find_map(|key| {
        let tags = branches
            .iter()
            .map(|branch| Some((tag_at(branch, key)?, *branch)));
        Some((key.as_str(), tags.collect::<Option<Vec<_>>>()?))
    })
}

/// Returns the schema of a mapping whose branch is unknown. It allows the keys of all branches, and
/// requires the keys that every branch requires. A key only has a schema if all branches agree on
/// it. The key that selects the branch may have any value.
pub(super) fn common(tag: &str, branches: &[&Map<String, Json>], root: &Json) -> Map<String, Json> {
    let mut all: Map<String, Json> = Map::new();
    let properties = branches
        .iter()
        .filter_map(|branch| branch.get("properties")?.as_object())
        .flatten();
    for (key, property) in properties.filter(|(key, _)| *key != tag) {
        let agrees =
            |other: &Json| other == property || resolve(other, root) == resolve(property, root);
        let agreed = all.get(key).is_none_or(agrees);
        all.insert(
            key.clone(),
            if agreed {
                property.clone()
            } else {
                Json::Bool(true)
            },
        );
    }

    all.insert(tag.to_owned(), Json::Bool(true));
    let needed = |branch: &Map<String, Json>, key: &Json| {
        branch
            .get("required")
            .and_then(Json::as_array)
            .is_some_and(|keys| keys.contains(key))
    };

    let first = branches
        .first()
        .and_then(|branch| branch.get("required")?.as_array())
        .into_iter()
        .flatten();

    let required = first.filter(|key| {
        key.as_str() != Some(tag) && branches.iter().all(|branch| needed(branch, key))
    });
    let required: Vec<_> = required.cloned().collect();
    let is_closed = branches
        .iter()
        .all(|branch| branch.get("additionalProperties") == Some(&Json::Bool(false)));
    let mut common = Map::new();

    common.insert("properties".to_owned(), Json::Object(all));
    common.insert("required".to_owned(), Json::Array(required));
    common.insert("additionalProperties".to_owned(), Json::Bool(!is_closed));

    common
}

pub(super) fn types(schema: &Map<String, Json>) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
        _ if schema.contains_key("properties") => vec!["object"],
        _ if schema.contains_key("const") || schema.contains_key("enum") => vec!["string"],
        _ => Vec::new(),
    }
}

pub(super) fn is_of(tree: &Tree, name: &str) -> bool {
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

pub(super) fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

/// Describes what the schema accepts, in a few words.
pub(super) fn expected(schema: &Map<String, Json>, root: &Json) -> String {
    let mut named = Vec::new();
    kinds(schema, root, MAX_HOPS, &mut named);
    if named.is_empty() {
        "a value".to_owned()
    } else {
        named.join(" or ")
    }
}

/// Returns the accepted kinds of value, each once, including those of nested choices.
fn kinds(schema: &Map<String, Json>, root: &Json, deep: usize, named: &mut Vec<&'static str>) {
    for kind in types(schema)
        .into_iter()
        .filter(|name| *name != "null")
        .map(called)
    {
        if !named.contains(&kind) {
            named.push(kind);
        }
    }

    let Some(deep) = deep.checked_sub(1) else {
        return;
    };

    let branches = ["oneOf", "anyOf"]
        .iter()
        .filter_map(|key| schema.get(*key)?.as_array())
        .flatten();
    for branch in branches.filter_map(|branch| resolve(branch, root)) {
        kinds(branch, root, deep, named);
    }
}

/// Formats a bound for display.
pub(super) fn bound_as_text(bound: &Json) -> String {
    match bound.as_f64() {
        Some(number) if !bound.is_u64() && !bound.is_i64() => number.to_string(),
        _ => bound.to_string(),
    }
}

pub(super) fn called(name: &str) -> &'static str {
    match name {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        "object" => "a mapping",
        _ => "nothing",
    }
}
