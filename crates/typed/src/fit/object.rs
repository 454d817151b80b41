//! Objects and maps.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::ask::{RepairKind, folded_name};
use cogwork_text::Name;
use serde_json::{Map, Value};

use super::{Fitted, Fitter, Kind, UNKNOWN_KEY};
use crate::problem::AnswerProblem;
use crate::shape::{Object, Others, Property, Shape};
use crate::tree::{Node, Tree};

/// The entries of an object, by what the type makes of them.
#[derive(Default)]
struct Sorted<'f, 't> {
    properties: BTreeMap<&'f str, Cow<'t, Tree>>,
    /// The keys that aren't properties.
    others: Vec<(&'t str, &'t Tree)>,
}

impl<'f> Fitter<'f> {
    pub(super) fn fit_map(&mut self, values: &'f Shape, entries: &[(String, Tree)]) -> Fitted {
        let mut fitted = Fitted {
            may_lack_parts: true,
            ..Fitted::default()
        };
        let mut map = Map::new();
        for (key, value) in entries {
            let part = self.inside(key, |fitter| fitter.fit(values, value));
            let part = fitted.absorb(part, value);
            self.insert(&mut fitted, &mut map, (key, value), part);
        }

        fitted.value = Some(map.into());
        fitted
    }

    /// Adds an entry whose key may be there already: the last value counts.
    fn insert(
        &self,
        fitted: &mut Fitted,
        map: &mut Map<String, Value>,
        (key, tree): (&str, &Tree),
        value: Value,
    ) {
        if map.insert(key.to_owned(), value).is_some() {
            let what = self.named(&format!("left out an earlier `{}`", Name(key)));
            fitted.repair(RepairKind::DuplicateKey, tree.line, what);
        }
    }

    pub(super) fn fit_object(&mut self, object: &'f Object, tree: &Tree) -> Fitted {
        let fitted = self.fit_entries(object, tree);
        if fitted.matches() {
            return fitted;
        }
        self.unwrapped(object, tree).unwrap_or(fitted)
    }

    /// Reads an object that is the only value of another one.
    fn unwrapped(&mut self, object: &'f Object, tree: &Tree) -> Option<Fitted> {
        let [(key, inner)] = tree.entries() else {
            return None;
        };
        let is_object = matches!(inner.node, Node::Object(_));
        if !is_object || object.properties.is_empty() || object.has_key(key) {
            return None;
        }

        let what = self.named(&format!("took the object in `{}`", Name(key)));
        let fitted = self.fit_entries(object, inner);
        fitted.if_matching(RepairKind::Form, tree.line, what)
    }

    fn fit_entries(&mut self, object: &'f Object, tree: &Tree) -> Fitted {
        let mut fitted = Fitted {
            may_lack_parts: matches!(object.others, Others::Kept(_)),
            ..Fitted::default()
        };
        let mut sorted = self.sorted(object, tree, &mut fitted);
        self.find_missing_lists(object, &mut sorted, &mut fitted);

        let mut map = Map::new();
        for (key, value) in &sorted.others {
            let other = self.fit_other(object, key, value);
            let other = fitted.absorb(other, value);
            if self.keeps_unknown || matches!(object.others, Others::Kept(_)) {
                self.insert(&mut fitted, &mut map, (key, value), other);
            }
        }

        for property in &object.properties {
            let name = property.name.as_str();
            let value = match sorted.properties.remove(name) {
                Some(value) => value,
                None => match self.stray(property) {
                    Some((value, what)) => {
                        fitted.repair(RepairKind::Key, value.line, what);
                        fitted.is_rough = true;
                        Cow::Owned(value)
                    }
                    None => {
                        self.missing(&mut fitted, property, tree);
                        continue;
                    }
                },
            };

            let part = self.inside(name, |fitter| fitter.fit_property(property, &value));
            let is_fitting = part.matches();
            let part = fitted.absorb(part, &value);
            let is_absent = !property.is_required && !self.form.is_nullable(&property.shape);
            if part.is_null() && is_fitting && is_absent {
                // A server is asked for null where a key may be missing.
                if !self.words.has_lines {
                    let what = self.named(&format!("left out the null of `{name}`"));
                    fitted.repair(RepairKind::Form, value.line, what);
                }
            } else {
                map.insert(property.name.clone(), part);
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

        for (key, value) in tree.entries() {
            let Some(property) = property_of(object, key) else {
                sorted.others.push((key, value));
                continue;
            };
            let name = property.name.as_str();
            if key != name {
                let what = format!("read the key `{}` as `{name}`", Name(key));
                fitted.repair(RepairKind::Key, value.line, self.named(&what));
            }

            let Some(earlier) = sorted.properties.get_mut(name) else {
                sorted.properties.insert(name, Cow::Borrowed(value));
                continue;
            };
            *earlier = Cow::Borrowed(value);
            let what = format!("left out an earlier `{name}`");
            fitted.repair(RepairKind::DuplicateKey, value.line, self.named(&what));
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

    fn missing(&self, fitted: &mut Fitted, property: &Property, tree: &Tree) {
        fitted.may_lack_parts = true;
        if property.is_required {
            let offered = property.offered.as_ref().unwrap_or(&property.shape);
            let expected = self.form.kind(offered);
            let message = format!("`{}` is missing; expected {expected}", property.name);
            let problem = AnswerProblem::new(Kind::Mismatch, tree.line, message).at(self.pointer());
            fitted.mismatches.push(problem);
            return;
        }

        let is_choice = matches!(self.form.resolve(&property.shape), Shape::Choice(_));
        if let Some(default) = property.default.as_ref().filter(|_| is_choice) {
            let what = format!("`{}` is missing; took {default}", property.name);
            fitted.repair(RepairKind::MissingStatus, tree.line, self.named(&what));
        }
    }

    /// Fits the value of a key that isn't a property.
    fn fit_other(&mut self, object: &'f Object, key: &str, value: &Tree) -> Fitted {
        if let Others::Kept(values) = &object.others {
            return self.inside(key, |fitter| fitter.fit(values, value));
        }

        self.remember_stray(key, value);
        // The type may know the key by an alias.
        let mut fitted = Fitted::exact(value.to_value());
        fitted.has_unknown = true;
        let what = self.named(&format!("{UNKNOWN_KEY} `{}`", Name(key)));
        fitted.repaired(RepairKind::Key, value.line, what)
    }

    /// Notes a value at a key that is unknown there. The object around it may lack it.
    fn remember_stray(&mut self, key: &str, value: &Tree) {
        let is_nested = matches!(value.node, Node::List(_) | Node::Object(_));
        if self.place.is_empty() || is_nested {
            return;
        }

        let values = self.strays.entry(folded_name(key)).or_default();
        if values.len() < 2 && !values.contains(value) {
            values.push(value.clone());
        }
    }

    /// Returns the value of a missing property that is written further in, if there is only one.
    fn stray(&mut self, property: &'f Property) -> Option<(Tree, String)> {
        if !property.is_required || !self.place.is_empty() {
            return None;
        }
        let [value] = self.strays.get(&folded_name(&property.name))?.as_slice() else {
            return None;
        };

        let value = value.clone();
        let what = format!("took the `{}` from further in", property.name);
        let is_fitting = self.fit(&property.shape, &value).matches();
        is_fitting.then_some((value, what))
    }

    /// Finds a missing list at another key, or at the end of a text.
    fn find_missing_lists(
        &mut self,
        object: &'f Object,
        sorted: &mut Sorted<'f, '_>,
        fitted: &mut Fitted,
    ) {
        if matches!(object.others, Others::Kept(_)) {
            return;
        }
        let mut missing = object.properties.iter().filter(|property| {
            let is_list = matches!(self.form.resolve(&property.shape), Shape::List(..));
            let is_wanted = property.is_required || property.default.is_some();
            is_list && is_wanted && !sorted.properties.contains_key(property.name.as_str())
        });
        let (Some(property), None) = (missing.next(), missing.next()) else {
            return;
        };

        let list = self.only_list(property, sorted).or_else(|| {
            let texts = object.properties.iter();
            texts
                .filter(|text| matches!(self.form.resolve(&text.shape), Shape::Text(_)))
                .find_map(|text| self.swallowed(property, &text.name, sorted))
        });
        if let Some((list, what)) = list {
            fitted.repair(RepairKind::Form, list.line, self.named(&what));
            fitted.is_rough = true;
            sorted.properties.insert(&property.name, Cow::Owned(list));
        }
    }

    /// Returns the only list among the values of unknown keys, if it fits.
    fn only_list(
        &mut self,
        property: &'f Property,
        sorted: &mut Sorted<'f, '_>,
    ) -> Option<(Tree, String)> {
        let is_list = |value: &Tree| matches!(&value.node, Node::List(items) if !items.is_empty());
        let mut lists = (0..sorted.others.len()).filter(|at| {
            sorted
                .others
                .get(*at)
                .is_some_and(|(_, value)| is_list(value))
        });
        let (at, None) = (lists.next()?, lists.next()) else {
            return None;
        };

        let (key, list) = *sorted.others.get(at)?;
        if !self.fit(&property.shape, list).matches() {
            return None;
        }
        sorted.others.remove(at);
        let what = format!("read the key `{}` as `{}`", Name(key), property.name);
        Some((list.clone(), what))
    }

    /// Splits a text before the list that it ends with.
    fn swallowed(
        &mut self,
        property: &'f Property,
        name: &str,
        sorted: &mut Sorted<'f, '_>,
    ) -> Option<(Tree, String)> {
        let value = sorted.properties.get_mut(name)?;
        let (Node::Text(text) | Node::Plain(text)) = &value.node else {
            return None;
        };

        let (before, list) = self.list_at_end(text, value.line)?;
        if !self.fit(&property.shape, &list).matches() {
            return None;
        }
        let rest = Tree::new(value.line, Node::Text(before));
        *value = Cow::Owned(rest);
        let what = format!(
            "read the list at the end of `{name}` as `{}`",
            property.name
        );
        Some((list, what))
    }
}

impl Object {
    /// Returns whether a key means a property, in any case.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        property_of(self, key).is_some()
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
