//! The keys by which a value is recognized in text.

use std::collections::BTreeSet;

use crate::ask::folded_name;

use super::{ANSWER, Form, Shape};

/// The keys of a type, in the form in which their spellings are compared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    /// The keys of the value itself.
    roots: BTreeSet<String>,
    /// The keys of all objects.
    keys: BTreeSet<String>,
    /// Whether the value may have any keys, and no others are known.
    pub(crate) is_open: bool,
    /// Whether the value may have any keys in addition to the known ones.
    pub(crate) has_others: bool,
    /// Whether the value may be a list.
    pub(crate) is_list: bool,
}

impl Words {
    pub(crate) fn of(form: &Form) -> Self {
        let mut words = Self::default();
        let root = form.resolve(&form.root);
        words.add_roots(form, root);
        words
            .roots
            .extend(form.fields.iter().map(|name| folded_name(name)));
        if form.is_wrapped() {
            words.roots.insert(ANSWER.to_owned());
        }

        for shape in form.shapes() {
            if let Shape::Object(object) = shape {
                let names = object.properties.iter().map(|property| &property.name);
                words.keys.extend(names.map(|name| folded_name(name)));
            }
        }
        // Aliases aren't in the schema, but in the fields of the type.
        words.keys.extend(words.roots.iter().cloned());
        words
    }

    fn add_roots(&mut self, form: &Form, root: &Shape) {
        match form.resolve(root) {
            Shape::Object(object) => {
                let names = object
                    .properties
                    .iter()
                    .map(|property| folded_name(&property.name));
                self.roots.extend(names);
                self.has_others |= object.others.is_some();
            }
            Shape::AnyOf(shapes) => {
                for shape in shapes {
                    // The options of an option are its own.
                    if !matches!(form.resolve(shape), Shape::AnyOf(_)) {
                        self.add_roots(form, shape);
                    }
                }
            }
            Shape::List(..) | Shape::Tuple(_) => self.is_list = true,
            Shape::Map(_) => self.is_open = true,
            Shape::Any => {
                self.is_open = true;
                self.is_list = true;
            }
            _ => {}
        }
    }

    /// Returns whether a key is one of the value itself.
    pub(crate) fn is_root(&self, key: &str) -> bool {
        self.is_open || self.roots.contains(&folded_name(key))
    }

    /// Returns whether a key is one of any object of the type.
    pub(crate) fn is_known(&self, key: &str) -> bool {
        self.keys.contains(&folded_name(key))
    }
}
