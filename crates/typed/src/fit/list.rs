//! Lists and tuples.

use serde_json::Value;

use super::{Fitted, Fitter};
use crate::ask::{RepairKind, is_missing};
use crate::shape::{Bounds, Shape};
use crate::syntax::MAX_REPAIRS;
use crate::tree::{Node, Tree};

impl<'f> Fitter<'f> {
    /// Unwraps a list of one value where a single value is expected.
    pub(super) fn fit_single(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        let [item] = tree.items() else {
            return None;
        };

        // A map may be written as a list of entries.
        let takes_lists = matches!(
            shape,
            Shape::List(..) | Shape::Tuple(_) | Shape::Map(_) | Shape::Any | Shape::AnyOf(_)
        );
        if takes_lists || matches!(item.node, Node::List(_)) {
            return None;
        }

        let fitted = self.fit(shape, item);
        self.if_matching(fitted, tree, "took the only item of a list")
    }

    pub(super) fn fit_list(
        &mut self,
        items: &'f Shape,
        bounds: Bounds,
        found: &[Tree],
        tree: &Tree,
    ) -> Fitted {
        if self.is_end_of_tree(items, found) && bounds.contain_count(0) {
            let empty = Fitted::exact(Value::Array(Vec::new()));
            let what = "left out the nulls of a list";
            return self.reported(empty, RepairKind::Form, tree, what);
        }

        let mut list = Fitted::default();
        let found = self.joined_parts(items, found, &mut list);
        let fitted = self.fit_items(found.iter().map(|item| (items, item)));
        list.value = Some(list.absorb(fitted, tree));

        let refused = self.out_of_bounds(bounds, found.len(), "items", tree);
        refused.unwrap_or(list)
    }

    /// Returns whether a list has nothing but nulls in place of a type inside itself. The strict
    /// schema of a tree ends so, and can't require that the list is empty.
    fn is_end_of_tree(&self, items: &Shape, found: &[Tree]) -> bool {
        let are_nulls = found.iter().all(|item| item.node == Node::Null) && !found.is_empty();
        let is_tree = |name: &str| self.form.is_recursive(name) && !self.form.is_nullable(items);
        are_nulls && matches!(items, Shape::Ref(name) if is_tree(name))
    }

    pub(super) fn fit_items<'t>(
        &mut self,
        items: impl Iterator<Item = (&'f Shape, &'t Tree)>,
    ) -> Fitted {
        let mut list = Fitted::default();
        let mut values = Vec::new();
        for (place, (shape, item)) in items.enumerate() {
            // One reason is enough. The type may still accept the items as they are.
            if list.mismatches.len() >= MAX_REPAIRS {
                values.push(item.to_value());
                continue;
            }

            let fitted = self.inside(place, |fitter| {
                let fitted = fitter.fit(shape, item);
                match fitted.matches() {
                    true => fitted,
                    // Small models write the description of a step in place of the step.
                    false => fitter.fit_plain_item(shape, item).unwrap_or(fitted),
                }
            });
            values.push(list.absorb(fitted, item));
        }

        list.value = Some(Value::Array(values));
        list
    }

    /// Takes a value for the only item of a list.
    pub(super) fn fit_only_item(
        &mut self,
        items: &'f Shape,
        bounds: Bounds,
        tree: &Tree,
    ) -> Option<Fitted> {
        // The text may enumerate the items, or say that there are none.
        let is_enumeration = match &tree.node {
            Node::Text(text) | Node::Plain(text) => {
                is_missing(text) || text.contains([',', ';', '\n', '|'])
            }
            Node::Null => true,
            _ => false,
        };
        // A list of lists isn't made of a single value.
        if is_enumeration || self.is_other_object(items, tree) || self.is_only_item {
            return None;
        }

        // Otherwise a list of lists would be made of the value, and of that another one.
        self.is_only_item = true;
        let fitted = self.fit(items, tree);
        self.is_only_item = false;

        let mut list = self.if_matching(fitted, tree, "made a list of a single value")?;
        list.value = list.value.map(|item| Value::Array(vec![item]));
        self.out_of_bounds(bounds, 1, "items", tree).or(Some(list))
    }

    /// Returns whether an object has none of the keys of a shape, or would be written as a text.
    fn is_other_object(&self, shape: &Shape, tree: &Tree) -> bool {
        match (self.form.resolve(shape), &tree.node) {
            (Shape::Object(object), Node::Object(_)) => !object.has_key_of(tree),
            (Shape::Text(_), Node::Object(_)) => true,
            _ => false,
        }
    }
}
