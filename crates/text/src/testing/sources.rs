use std::collections::BTreeMap;

/// The public types with a `Display`, and the variants of enums as `Type::Variant`, each with its
/// position in the enum.
pub(super) struct Displayed(BTreeMap<String, Option<usize>>);

impl Displayed {
    /// Reads formatted code line by line.
    pub(super) fn in_sources(sources: &str) -> Self {
        let public = public_types(sources);
        let named = implementors(sources).chain(derived_errors(sources));

        let displayed = named
            .filter_map(|name| Some((name, public.get(name)?)))
            .flat_map(|(name, variants)| {
                let variants = variants.iter().enumerate();
                let variants = variants
                    .map(move |(position, variant)| (format!("{name}::{variant}"), Some(position)));
                variants.chain([(name.to_owned(), None)])
            });

        Self(displayed.collect())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the name under which a value of a variant is recorded, which consists of the type
    /// and the `Debug` of the discriminant.
    pub(super) fn by_discriminant(&self, name: &str) -> Option<String> {
        let position = self.0.get(name).copied().flatten()?;
        let (enumeration, _) = name.split_once("::")?;

        Some(format!("{enumeration}::Discriminant({position})"))
    }
}

/// Returns the public types by name, each with its variants.
fn public_types(sources: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut types = BTreeMap::new();
    let mut lines = sources.lines();

    while let Some(line) = lines.next() {
        if let Some(declared) = line.strip_prefix("pub struct ") {
            types.insert(identifier(declared), Vec::new());
        }
        if let Some(declared) = line.strip_prefix("pub enum ") {
            let body = lines.by_ref().take_while(|line| *line != "}");
            types.insert(identifier(declared), body.filter_map(variant).collect());
        }
    }

    types
}

/// Returns the variant that begins on a line of an enum.
fn variant(line: &str) -> Option<&str> {
    let declared = line.strip_prefix("    ")?;

    declared
        .starts_with(|first: char| first.is_ascii_uppercase())
        .then(|| identifier(declared))
}

/// Returns the types that implement `Display`.
fn implementors(sources: &str) -> impl Iterator<Item = &str> {
    let implementations = sources.lines().filter(|line| line.starts_with("impl"));

    implementations
        .filter_map(|line| line.split_once("Display for "))
        .map(|(_, name)| identifier(name))
}

/// Returns the types that derive `thiserror::Error`.
fn derived_errors(sources: &str) -> impl Iterator<Item = &str> {
    let items = sources.split("#[derive(").skip(1);

    items.filter_map(|item| {
        let (derived, rest) = item.split_once(")]")?;

        // A private type ends the search: the next public one derives something else, or nothing.
        let mut code = rest.lines().filter(|line| !line.starts_with("//"));
        let declared = code.find(|line| line.contains("enum ") || line.contains("struct "))?;
        let public = declared
            .strip_prefix("pub enum ")
            .or_else(|| declared.strip_prefix("pub struct "))?;

        derived.contains("Error").then(|| identifier(public))
    })
}

fn identifier(text: &str) -> &str {
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));

    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
