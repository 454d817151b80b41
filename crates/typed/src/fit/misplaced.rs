//! Parts of an answer that stand where they don't belong, as small models write them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use cogwork_text::Name;

use super::object::{Sorted, property_of};
use super::{Fitted, Fitter};
use crate::ask::{RepairKind, folded_name};
use crate::shape::{Object, Property, Shape};
use crate::tree::{Node, Tree};

impl<'f> Fitter<'f> {
    /// Reads an object that is the only value of another one.
    pub(super) fn unwrapped(&mut self, object: &'f Object, tree: &Tree) -> Option<Fitted> {
        let [(key, inner)] = tree.entries() else {
            return None;
        };
        let is_object = matches!(inner.node, Node::Object(_));
        // A key of the object is no title. Without a key inside, nothing shows what is meant.
        if !is_object || object.has_key(key) || !object.has_key_of(inner) {
            return None;
        }

        let fitted = self.fit_properties(object, inner);
        let what = format!("took the object in `{}`", Name(key));
        self.if_matching(fitted, tree, &what)
    }

    /// Joins the parts of an item that have a dash each.
    pub(super) fn joined_parts<'t>(
        &self,
        items: &Shape,
        found: &'t [Tree],
        list: &mut Fitted,
    ) -> Cow<'t, [Tree]> {
        let Shape::Object(object) = self.form.resolve(items) else {
            return found.into();
        };
        // Most lists have no such parts, and aren't copied.
        let mut pairs = found.windows(2);
        if !pairs.any(|pair| matches!(pair, [before, item] if is_part(object, item, before))) {
            return found.into();
        }

        let mut joined: Vec<Tree> = Vec::new();
        for item in found {
            if let Some(last) = joined.last_mut()
                && is_part(object, item, last)
                && let Node::Object(entries) = &mut last.node
            {
                entries.extend(item.entries().iter().cloned());
                self.report(list, RepairKind::Form, item, "joined the parts of an item");
                list.is_rough = true;
            } else {
                joined.push(item.clone());
            }
        }
        joined.into()
    }

    /// Notes a value at a key that is unknown there. The object around it may lack it.
    pub(super) fn remember_stray(&mut self, key: &str, value: &Tree) {
        // A small model writes `next_thought_needed` into its last step, but never a list.
        let is_nested = matches!(value.node, Node::List(_) | Node::Object(_));
        if self.place.is_empty() || is_nested {
            return;
        }

        let only = self.strays.entry(folded_name(key));
        let only = only.or_insert_with(|| Some(value.clone()));
        // Which of two different values is meant can't be known.
        if only.as_ref() != Some(value) {
            *only = None;
        }
    }

    /// Returns the value of a missing property that is written further in, if there is only one.
    /// Other values than truth values may be a part of what is further in, such as a sum.
    pub(super) fn stray(&mut self, property: &'f Property, fitted: &mut Fitted) -> Option<Tree> {
        let is_flag = matches!(self.form.resolve(&property.shape), Shape::Boolean);
        if !is_flag || !property.is_required || !self.place.is_empty() {
            return None;
        }

        let value = self.strays.get(&folded_name(&property.name))?.clone()?;
        if !self.fit(&property.shape, &value).matches() {
            return None;
        }
        let what = format!("took the `{}` from further in", property.name);
        self.report(fitted, RepairKind::Key, &value, &what);
        fitted.is_rough = true;
        Some(value)
    }

    /// Finds the only missing list at another key, or at the end of a text.
    pub(super) fn find_missing_list(
        &mut self,
        object: &'f Object,
        sorted: &mut Sorted<'f, '_>,
        fitted: &mut Fitted,
    ) {
        let mut missing = object.properties.iter().filter(|property| {
            let is_list = matches!(self.form.resolve(&property.shape), Shape::List(..));
            // The type doesn't need any other one.
            let is_needed = is_list && property.is_required;
            is_needed && !sorted.properties.contains_key(property.name.as_str())
        });
        let (Some(property), None, None) = (missing.next(), missing.next(), &object.others) else {
            return;
        };

        let found = self
            .only_list(property, sorted)
            .or_else(|| self.swallowed_list(property, object, sorted));
        if let Some((list, what)) = found {
            self.report(fitted, RepairKind::Form, &list, &what);
            fitted.is_rough = true;
            sorted.properties.insert(&property.name, Cow::Owned(list));
        }
    }

    /// Takes the only list among the values of unknown keys, if it fits.
    fn only_list(
        &mut self,
        property: &'f Property,
        sorted: &mut Sorted<'f, '_>,
    ) -> Option<(Tree, String)> {
        let is_list = |value: &Tree| matches!(&value.node, Node::List(items) if !items.is_empty());
        let mut lists = sorted.others.iter().filter(|(_, value)| is_list(value));
        let (&(key, list), None) = (lists.next()?, lists.next()) else {
            return None;
        };

        let is_alone = sorted.others.len() == 1 && sorted.properties.is_empty();
        let is_meant = is_alone || has_only_objects(list);
        if !is_meant || !self.fit(&property.shape, list).matches() {
            return None;
        }
        // It is reported as the list, and would be reported as an unknown key again.
        sorted.others.retain(|(_, value)| !is_list(value));
        let what = format!("read the key `{}` as `{}`", Name(key), property.name);
        Some((list.clone(), what))
    }

    /// Splits a text before the list that it ends with.
    fn swallowed_list(
        &mut self,
        property: &'f Property,
        object: &'f Object,
        sorted: &mut Sorted<'f, '_>,
    ) -> Option<(Tree, String)> {
        let texts = object.properties.iter();
        let mut texts =
            texts.filter(|text| matches!(self.form.resolve(&text.shape), Shape::Text(_)));

        texts.find_map(|text| {
            let value = sorted.properties.get_mut(text.name.as_str())?;
            let (Node::Text(written) | Node::Plain(written)) = &value.node else {
                return None;
            };
            // A block of text swallows the list if the key of the list is missing before it.
            let (before, list) = self.list_at_end(written, value.line)?;
            if !has_only_objects(&list) || !self.fit(&property.shape, &list).matches() {
                return None;
            }

            *value = Cow::Owned(Tree::new(value.line, Node::Text(before)));
            let (text, name) = (&text.name, &property.name);
            let what = format!("read the list at the end of `{text}` as `{name}`");
            Some((list, what))
        })
    }
}

/// Returns whether the items of a list have keys. Texts and numbers may mean something else than the
/// items of the list that is missing.
fn has_only_objects(list: &Tree) -> bool {
    list.items().iter().all(|item| !item.entries().is_empty())
}

/// Returns whether an object completes the one before it: they have different keys, and only the
/// first one has some that every object has.
fn is_part(object: &Object, item: &Tree, before: &Tree) -> bool {
    let names = |tree: &Tree| -> Option<BTreeSet<&str>> {
        let keys = tree.entries().iter();
        let names = keys.map(|(key, _)| Some(property_of(object, key)?.name.as_str()));
        names.collect()
    };
    let (Some(names), Some(known)) = (names(item), names(before)) else {
        return false;
    };

    let mut required = object.properties.iter().filter(|key| key.is_required);
    let is_begun = required.any(|property| known.contains(property.name.as_str()));
    !names.is_empty() && names.is_disjoint(&known) && is_begun
}
