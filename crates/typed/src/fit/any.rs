//! Values of any shape.

use serde_json::{Map, Value};

use super::scalar::is_held;
use super::{Fitted, Fitter, Kind};
use crate::tree::{Node, Tree};

impl Fitter<'_> {
    /// Takes a value as it is, unless JSON can't represent it without a loss.
    pub(super) fn fit_any(&mut self, tree: &Tree) -> Fitted {
        let fitted = match &tree.node {
            Node::List(items) => self.fit_any_list(items),
            Node::Object(entries) => self.fit_any_object(entries),
            Node::Number(number)
                if !serde_json::from_str(number)
                    .is_ok_and(|read| is_held(number, &read, false)) =>
            {
                let message = format!("found {}; expected one of 64 bits", tree.found());
                self.refused(Kind::Mismatch, tree, message)
            }
            _ => Fitted::exact(tree.to_value()),
        };

        Fitted {
            may_lack_parts: true,
            ..fitted
        }
    }

    fn fit_any_list(&mut self, items: &[Tree]) -> Fitted {
        let mut list = Fitted::default();
        let mut values = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let fitted = self.inside(place, |fitter| fitter.fit_any(item));
            values.push(list.absorb(fitted));
        }

        list.value = Value::Array(values);
        list
    }

    fn fit_any_object(&mut self, entries: &[(String, Tree)]) -> Fitted {
        let mut object = Fitted::default();
        let mut map = Map::new();
        for (key, value) in entries {
            let fitted = self.inside(key, |fitter| fitter.fit_any(value));
            let part = object.absorb(fitted);
            object = self.insert(object, &mut map, (key, value), part);
        }

        object.value = map.into();
        object
    }
}
