//! Builds the parameters of a stage.

use std::collections::BTreeMap;

use cogwork_text::{Name, NameList};

use super::reader::{MAX_NAME, NO_DESCRIPTION, Place, Reader, invalid_name};
use super::tree::Tree;
use crate::{Parameter, ParameterType};

impl Reader {
    /// Returns the parameters of a stage, or the fields of an object at the path `inside`.
    pub(super) fn parameters(
        &mut self,
        place: &Place<'_>,
        inside: &str,
        key: &str,
        tree: Option<Tree>,
    ) -> BTreeMap<String, Parameter> {
        let entries = tree
            .map(|tree| self.entries(place, key, tree))
            .unwrap_or_default();
        let mut parameters = BTreeMap::new();
        for (name, tree) in entries {
            // The paths of everything below contain the name.
            if name.len() > MAX_NAME {
                self.report(place, invalid_name(&name));
                continue;
            }

            let inner = format!("{inside}{name}");
            let place = Place {
                parameter: Some(&inner),
                ..*place
            };
            self.check_name(&place, &name);

            if let Some(parameter) = self.parameter(&place, &inner, tree) {
                parameters.insert(name, parameter);
            }
        }

        parameters
    }

    fn parameter(&mut self, place: &Place<'_>, path: &str, tree: Tree) -> Option<Parameter> {
        if !matches!(tree, Tree::Map(_)) {
            self.wrong(
                place,
                path,
                &tree,
                "a mapping with `type` and `description`",
            );
            return None;
        }

        let mut entries = self.entries(place, path, tree);
        let mut take = |key: &str| {
            let at = entries.iter().position(|(known, _)| known == key)?;
            Some(entries.remove(at).1)
        };
        let description = take("description");
        let required = take("required");

        Some(Parameter {
            description: self.text(place, "description", description, NO_DESCRIPTION),
            required: self.truth(place, "required", required, true),
            kind: self.kind(place, path, Tree::Map(entries))?,
        })
    }

    fn kind(&mut self, place: &Place<'_>, path: &str, tree: Tree) -> Option<ParameterType> {
        let Tree::Map(mut entries) = tree else {
            self.wrong(place, path, &tree, "a mapping with `type`");
            return None;
        };

        let Some(at) = entries.iter().position(|(key, _)| key == "type") else {
            let names = NameList::or(ParameterType::NAMES);
            self.report(place, format!("it has no `type`; expected {names}"));
            return None;
        };

        let name = match entries.remove(at).1 {
            Tree::Text(name) if ParameterType::NAMES.contains(&name.as_str()) => name,
            other => {
                let expected = "text, integer, number, boolean, thought, list, object, map or any";
                self.wrong(place, "type", &other, expected);
                return None;
            }
        };

        let rest = Tree::Map(entries);
        match name.as_str() {
            "text" => {
                let [choices] = self.keys(place, path, rest, ["choices"]);
                Some(ParameterType::Text {
                    choices: self.names(place, "choices", choices),
                })
            }
            "integer" => {
                let [min, max] = self.range(place, path, rest);
                Some(ParameterType::Integer { min, max })
            }
            "number" => {
                let [min, max] = self.range(place, path, rest);
                Some(ParameterType::Number { min, max })
            }
            "list" => self.list(place, path, rest),
            "object" => Some(self.object(place, path, rest)),
            "map" => {
                let [values] = self.keys(place, path, rest, ["values"]);
                Some(ParameterType::Map {
                    values: Box::new(self.inner(place, path, "values", values)?),
                })
            }
            plain => {
                let [] = self.keys(place, path, rest, []);
                Some(match plain {
                    "boolean" => ParameterType::Boolean,
                    "thought" => ParameterType::Thought,
                    _ => ParameterType::Any,
                })
            }
        }
    }

    fn object(&mut self, place: &Place<'_>, path: &str, tree: Tree) -> ParameterType {
        let [fields] = self.keys(place, path, tree, ["fields"]);
        if fields.is_none() {
            self.report(place, no_inner_type("fields"));
        }

        let fields = self.parameters(place, &format!("{path}."), "fields", fields);
        ParameterType::Object { fields }
    }

    fn list(&mut self, place: &Place<'_>, path: &str, tree: Tree) -> Option<ParameterType> {
        let [items, min_items] = self.keys(place, path, tree, ["items", "min_items"]);
        let items = Box::new(self.inner(place, path, "items", items)?);

        let is_count = |number: f64| number.fract() == 0.0 && (0.0..=1_000_000.0).contains(&number);
        let min_items = match min_items {
            None => 0,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked"
            )]
            Some(Tree::Number(number)) if is_count(number) => number as usize,
            Some(other) => {
                self.wrong(place, "min_items", &other, "an integer from 0 to 1000000");
                return None;
            }
        };

        Some(ParameterType::List { items, min_items })
    }

    fn inner(
        &mut self,
        place: &Place<'_>,
        path: &str,
        key: &'static str,
        tree: Option<Tree>,
    ) -> Option<ParameterType> {
        let Some(tree) = tree else {
            self.report(place, no_inner_type(key));
            return None;
        };

        let path = format!("{path}[]");
        self.kind(
            &Place {
                parameter: Some(&path),
                ..*place
            },
            &path,
            tree,
        )
    }

    fn range(&mut self, place: &Place<'_>, path: &str, tree: Tree) -> [Option<f64>; 2] {
        let [min, max] = self.keys(place, path, tree, ["min", "max"]);
        let mut bound = |key: &str, tree: Option<Tree>| match tree? {
            Tree::Number(number) if number.is_finite() => Some(number),
            other => {
                self.wrong(place, key, &other, "a number");
                None
            }
        };

        let min = bound("min", min);
        let max = bound("max", max);
        if min.zip(max).is_some_and(|(min, max)| min > max) {
            self.report(place, "`min` is greater than `max`");
        }

        [min, max]
    }
}

fn no_inner_type(key: &str) -> String {
    format!("it has no `{}`, which its type needs", Name(key))
}
