//! Objects and maps.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use crate::ask::{RepairKind, folded_name};
use cogwork_text::Name;
use serde_json::{Map, Value};

use super::{Fitted, Fitter, Kind, UNKNOWN_KEY};
use crate::shape::{ENTRY, Object, Property, Shape};
use crate::tree::Tree;

/// The entries of an object, by what the type makes of them.
#[derive(Default)]
pub(super) struct Sorted<'f, 't> {
    pub(super) properties: BTreeMap<&'f str, Cow<'t, Tree>>,
    /// The keys that aren't properties.
    pub(super) others: Vec<(&'t str, &'t Tree)>,
}

impl<'f> Fitter<'f> {
    pub(super) fn fit_map(&mut self, values: &'f Shape, entries: &[(String, Tree)]) -> Fitted {
        let mut fitted = Fitted::default();
        let entries: Vec<_> = entries
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect();

        let map = self.fit_others(Some(values), true, &entries, &mut fitted);
        fitted.value = Some(map.into());
        fitted
    }

    /// Fits a map that is written as a list of entries, as it was asked for.
    pub(super) fn fit_entries_of_map(
        &mut self,
        values: &'f Shape,
        items: &[Tree],
    ) -> Option<Fitted> {
        let entries = items.iter().map(|item| match item.entries() {
            [(name, key), (value, inner)] if [name.as_str(), value.as_str()] == ENTRY => {
                Some((key.spelling()?.to_owned(), inner.clone()))
            }
            _ => None,
        });
        let entries: Vec<_> = entries.collect::<Option<_>>()?;
        Some(self.fit_map(values, &entries))
    }

    /// Fits the values of keys that aren't properties. Of several values of a key, the last one
    /// counts.
    fn fit_others(
        &mut self,
        values: Option<&'f Shape>,
        is_open: bool,
        entries: &[(&str, &Tree)],
        fitted: &mut Fitted,
    ) -> Map<String, Value> {
        let mut map = Map::new();
        for (key, tree) in entries {
            let part = match values {
                Some(values) => self.inside(key, |fitter| fitter.fit(values, tree)),
                None => self.fit_unknown(key, is_open, tree),
            };
            let value = fitted.absorb(part, tree);

            let is_kept = is_open || self.keeps_unknown;
            if is_kept && map.insert((*key).to_owned(), value).is_some() {
                let what = format!("left out an earlier `{}`", Name(key));
                self.report(fitted, RepairKind::DuplicateKey, tree, &what);
            }
        }
        map
    }

    fn fit_unknown(&mut self, key: &str, is_open: bool, tree: &Tree) -> Fitted {
        self.remember_stray(key, tree);
        // The type may know the key by an alias.
        let mut fitted = Fitted::exact(tree.to_value());
        if is_open && self.form.keeps_open_keys {
            return fitted;
        }

        fitted.has_unknown = true;
        let what = format!("{UNKNOWN_KEY} `{}`", Name(key));
        self.reported(fitted, RepairKind::Key, tree, &what)
    }

    pub(super) fn fit_object(&mut self, object: &'f Object, tree: &Tree) -> Fitted {
        let fitted = self.fit_properties(object, tree);
        // Where no key is required, any object matches.
        let is_certain = object.others.is_some() || object.has_key_of(tree);
        if fitted.matches() && !fitted.is_rough && is_certain {
            return fitted;
        }
        self.unwrapped(object, tree).unwrap_or(fitted)
    }

    pub(super) fn fit_properties(&mut self, object: &'f Object, tree: &Tree) -> Fitted {
        let mut fitted = Fitted::default();
        let mut sorted = self.sorted(object, tree, &mut fitted);
        // Before the unknown keys are reported, since the list may be at one of them.
        self.find_missing_list(object, &mut sorted, &mut fitted);
        // Before the properties, since a missing one may be among the values inside others.
        let others = object.others.as_deref();
        let is_open = others.is_some() || !object.is_closed;
        let mut map = self.fit_others(others, is_open, &sorted.others, &mut fitted);

        for property in &object.properties {
            let name = property.name.as_str();
            let found = sorted.properties.remove(name);
            let found = found.or_else(|| self.stray(property, &mut fitted).map(Cow::Owned));
            let Some(value) = found else {
                self.missing(property, tree, &mut fitted);
                continue;
            };

            let part = self.inside(name, |fitter| fitter.fit_property(property, &value));
            let is_fitting = part.matches();
            let part = fitted.absorb(part, &value);
            let is_absent = !property.is_required && !self.form.is_nullable(&property.shape);
            if !(part.is_null() && is_fitting && is_absent) {
                map.insert(property.name.clone(), part);
            } else if !self.form.is_of_keys {
                // Null is asked for where a key may be missing.
                let what = format!("left out the null of `{name}`");
                self.report(&mut fitted, RepairKind::Form, &value, &what);
            }
        }

        fitted.value = Some(map.into());
        fitted
    }

    /// Sorts the entries. Of several values of a property, the last one counts.
    fn sorted<'t>(
        &self,
        object: &'f Object,
        tree: &'t Tree,
        fitted: &mut Fitted,
    ) -> Sorted<'f, 't> {
        let mut sorted = Sorted::default();
        let written: HashSet<&str> = tree.entries().iter().map(|(key, _)| &**key).collect();
        for (key, value) in tree.entries() {
            // A key in another spelling isn't the one that is there as well.
            let is_meant = |name: &str| key == name || !written.contains(name);
            let property = property_of(object, key).filter(|property| is_meant(&property.name));
            let Some(property) = property else {
                sorted.others.push((key, value));
                continue;
            };

            let name = property.name.as_str();
            if key != name {
                let what = format!("read the key `{}` as `{name}`", Name(key));
                self.report(fitted, RepairKind::Key, value, &what);
            }
            let earlier = sorted.properties.insert(name, Cow::Borrowed(value));
            if earlier.is_some() {
                let what = format!("left out an earlier `{name}`");
                self.report(fitted, RepairKind::DuplicateKey, value, &what);
            }
        }
        sorted
    }

    /// Fits the value of a property. One that may be left out may be null.
    fn fit_property(&mut self, property: &'f Property, value: &Tree) -> Fitted {
        let fitted = self.fit(&property.shape, value);
        if fitted.matches() || property.is_required {
            return fitted;
        }
        self.fit_null(value).unwrap_or(fitted)
    }

    fn missing(&self, property: &Property, tree: &Tree, fitted: &mut Fitted) {
        let name = &property.name;
        if property.is_required {
            let offered = property.offered.as_ref().unwrap_or(&property.shape);
            let message = format!("`{name}` is missing; expected {}", self.form.kind(offered));
            let problem = self.problem(Kind::Mismatch, tree, message);
            fitted.mismatches.push(problem);
            return;
        }

        // A missing list or text is empty by default, which says nothing. A status would be made
        // up.
        let is_choice = matches!(self.form.resolve(&property.shape), Shape::Choice(_));
        if let Some(default) = property.default.as_ref().filter(|_| is_choice) {
            let what = format!("`{name}` is missing; took {default}");
            self.report(fitted, RepairKind::MissingStatus, tree, &what);
        }
    }
}

impl Object {
    /// Returns whether a key means a property, in any case.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        property_of(self, key).is_some()
    }

    /// Returns whether an object has a key that means a property.
    pub(super) fn has_key_of(&self, tree: &Tree) -> bool {
        tree.entries().iter().any(|(key, _)| self.has_key(key))
    }
}

/// Returns the property that a key means. Case and separators don't matter if only one property is
/// meant.
pub(super) fn property_of<'f>(object: &'f Object, key: &str) -> Option<&'f Property> {
    let mut properties = object.properties.iter();
    if let Some(exact) = properties.find(|property| property.name == key) {
        return Some(exact);
    }

    let said = folded_name(key);
    let mut meant = object
        .properties
        .iter()
        .filter(|property| !said.is_empty() && folded_name(&property.name) == said);

    meant.next().filter(|_| meant.next().is_none())
}
