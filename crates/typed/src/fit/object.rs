//! Objects and maps.

use std::collections::BTreeMap;

use cogwork_ask::{RepairKind, folded_name};
use cogwork_text::Name;
use serde_json::Map;

use super::{Fitted, Fitter, Kind};
use crate::problem::AnswerProblem;
use crate::reply::{Node, Tree};
use crate::shape::{Object, Others, Property, Shape};

impl<'f> Fitter<'f> {
    pub(super) fn fit_map(&mut self, values: &'f Shape, tree: &Tree) -> Fitted {
        let Node::Object(entries) = &tree.node else {
            return self.mismatch(&Shape::Map(Box::new(values.clone())), tree);
        };

        let mut fitted = Fitted {
            may_lack_parts: true,
            ..Fitted::default()
        };
        let mut map = Map::new();
        for (key, value) in entries {
            let part = self.inside(key, |fitter| fitter.fit(values, value));
            let part = fitted.absorb(part);

            let is_other = map.get(key).is_some_and(|earlier| *earlier != part);
            if is_other {
                return self.twice(key, value);
            }
            map.insert(key.clone(), part);
        }

        fitted.value = map.into();
        fitted
    }

    pub(super) fn fit_object(&mut self, object: &'f Object, tree: &Tree) -> Fitted {
        let Node::Object(entries) = &tree.node else {
            let shape = Shape::Object(object.clone());
            return self.mismatch(&shape, tree);
        };

        let fitted = self.fit_entries(object, entries, tree);
        if fitted.matches() {
            return fitted;
        }
        self.unwrapped(object, entries, tree).unwrap_or(fitted)
    }

    /// Reads an object that is the only value of another one.
    fn unwrapped(
        &mut self,
        object: &'f Object,
        entries: &[(String, Tree)],
        tree: &Tree,
    ) -> Option<Fitted> {
        let [(key, inner)] = entries else {
            return None;
        };
        let Node::Object(inner_entries) = &inner.node else {
            return None;
        };
        if object.properties.is_empty() || property_of(object, key).is_some() {
            return None;
        }

        let fitted = self.fit_entries(object, inner_entries, inner);
        let what = self.named(&format!("took the object in `{}`", Name(key)));
        fitted
            .matches()
            .then(|| fitted.repaired(RepairKind::Form, tree.line, what))
    }

    fn fit_entries(
        &mut self,
        object: &'f Object,
        entries: &[(String, Tree)],
        tree: &Tree,
    ) -> Fitted {
        let mut fitted = Fitted {
            may_lack_parts: matches!(object.others, Others::Kept(_)),
            ..Fitted::default()
        };
        let mut map = Map::new();
        let mut found: BTreeMap<&str, &Tree> = BTreeMap::new();

        for (key, value) in entries {
            let Some(property) = property_of(object, key) else {
                let other = self.fit_other(object, key, value);
                let other = fitted.absorb(other);

                let is_kept = matches!(object.others, Others::Kept(_));
                if is_kept && map.get(key).is_some_and(|earlier| *earlier != other) {
                    return self.twice(key, value);
                }
                if object.others != Others::Denied {
                    map.insert(key.clone(), other);
                }
                continue;
            };

            if let Some(earlier) = found.insert(&property.name, value) {
                if earlier != value {
                    return self.twice(&property.name, value);
                }

                let what = self.named(&format!("left out another `{}`", property.name));
                fitted = fitted.repaired(RepairKind::DuplicateKey, value.line, what);
                continue;
            }
            if *key != property.name {
                let what = format!("read the key `{}` as `{}`", Name(key), property.name);
                let what = self.named(&what);
                fitted = fitted.repaired(RepairKind::Key, value.line, what);
            }

            let part = self.inside(&property.name, |fitter| {
                fitter.fit_property(property, value)
            });
            let is_absent = part.value.is_null() && is_left_out(self, property, &part);
            let part = fitted.absorb(part);
            if !is_absent {
                map.insert(property.name.clone(), part);
            }
        }

        for property in &object.properties {
            if !found.contains_key(property.name.as_str()) {
                self.missing(&mut fitted, property, tree);
            }
        }

        fitted.value = map.into();
        fitted
    }

    /// Fits the value of a property. One that may be left out may be null.
    fn fit_property(&mut self, property: &'f Property, value: &Tree) -> Fitted {
        let fitted = self.fit(&property.shape, value);
        if fitted.matches() || property.is_required {
            return fitted;
        }

        let null = self.fit_null(value);
        if null.matches() { null } else { fitted }
    }

    fn missing(&self, fitted: &mut Fitted, property: &Property, tree: &Tree) {
        fitted.may_lack_parts = true;
        if !property.is_required {
            return;
        }

        let expected = self.form.kind(&property.shape);
        let message = format!("`{}` is missing; expected {expected}", property.name);
        let problem = AnswerProblem::new(Kind::Mismatch, tree.line, message).at(self.pointer());
        fitted.mismatches.push(problem);
    }

    /// Fits the value of a key that isn't a property.
    fn fit_other(&mut self, object: &'f Object, key: &str, value: &Tree) -> Fitted {
        if let Others::Kept(values) = &object.others {
            return self.inside(key, |fitter| fitter.fit(values, value));
        }

        // The type may know the key by an alias.
        let fitted = Fitted::exact(value.to_value());
        let what = self.named(&format!("ignored the unknown key `{}`", Name(key)));
        fitted.repaired(RepairKind::Key, value.line, what)
    }

    pub(super) fn twice(&self, key: &str, value: &Tree) -> Fitted {
        let message = format!("`{}` has several values; expected one", Name(key));
        self.refused(Kind::Ambiguous, value, message)
    }
}

/// Returns whether null means that a property is left out.
fn is_left_out(fitter: &Fitter<'_>, property: &Property, part: &Fitted) -> bool {
    part.matches() && !property.is_required && !fitter.form.is_nullable(&property.shape)
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
