//! Values of one of several shapes.

use super::object::property_of;
use super::{Fitted, Fitter, Kind};
use crate::shape::Shape;
use crate::tree::{Node, Tree};

/// The maximum number of forms that a complaint shows.
const MAX_SHOWN: usize = 8;

impl<'f> Fitter<'f> {
    /// Fits to the alternative that needs the fewest repairs.
    pub(super) fn fit_any_of(&mut self, shapes: &'f [Shape], tree: &Tree) -> Fitted {
        let mut fits: Vec<Fitted> = Vec::new();
        for shape in shapes {
            let fitted = self.fit(shape, tree);
            if fitted.is_exact() {
                return fitted;
            }
            fits.push(fitted);
        }

        let distance = |fitted: &Fitted| (fitted.is_rough, fitted.repairs.len());
        let matching = || (0..).zip(&fits).filter(|(_, fitted)| fitted.matches());
        let Some(least) = matching().map(|(_, fitted)| distance(fitted)).min() else {
            return self.no_alternative(shapes, fits, tree);
        };

        let mut closest = matching().filter(|(_, fitted)| distance(fitted) == least);
        match (closest.next(), closest.next()) {
            (Some((_, best)), Some((_, other))) if best.value != other.value => {
                let message = format!(
                    "{} may be meant in several ways; write it as {}",
                    tree.found(),
                    self.form.kind(&Shape::AnyOf(shapes.to_vec()))
                );
                self.refused(Kind::Ambiguous, tree, message)
            }
            (Some((best, _)), _) => fits.swap_remove(best),
            (None, _) => self.no_alternative(shapes, fits, tree),
        }
    }

    /// Explains why no alternative fits.
    fn no_alternative(&self, shapes: &'f [Shape], mut fits: Vec<Fitted>, tree: &Tree) -> Fitted {
        let is_object = matches!(tree.node, Node::Object(_));
        let is_nested = is_object || matches!(tree.node, Node::List(_));
        let alternatives = || (0..shapes.len()).filter(|at| shapes.get(*at) != Some(&Shape::Null));

        // A refusal, or the only alternative but null, explains more than a list of them.
        let refused = || alternatives().find(|at| fits.get(*at).is_some_and(Fitted::is_refused));
        let only = || {
            alternatives()
                .next()
                .filter(|_| is_nested && alternatives().count() == 1)
        };

        if let Some(meant) = self.meant(shapes, tree).or_else(refused).or_else(only) {
            return fits.swap_remove(meant);
        }
        if is_object {
            return self.no_form(shapes, tree);
        }
        self.mismatch(&Shape::AnyOf(shapes.to_vec()), tree)
    }

    /// Returns the only alternative that an object can be meant as, by its tags and keys.
    fn meant(&self, shapes: &'f [Shape], tree: &Tree) -> Option<usize> {
        let Node::Object(entries) = &tree.node else {
            return None;
        };

        let known: Vec<usize> = shapes
            .iter()
            .map(|shape| self.known_keys(shape, entries))
            .collect();
        let most = *known.iter().max().filter(|most| **most > 0)?;

        let mut meant = (0..known.len()).filter(|at| known.get(*at) == Some(&most));
        meant.next().filter(|_| meant.next().is_none())
    }

    /// Returns how many keys of an object are required by a shape; 0 if a tag differs.
    fn known_keys(&self, shape: &'f Shape, entries: &[(String, Tree)]) -> usize {
        let Shape::Object(object) = self.form.resolve(shape) else {
            return 0;
        };

        let mut known = 0;
        for (key, value) in entries {
            let Some(property) = property_of(object, key) else {
                continue;
            };
            let is_other_tag = match &property.shape {
                Shape::Choice(tag) if tag.len() == 1 => self.fit_choice(tag, value).is_none(),
                _ => false,
            };

            if is_other_tag {
                return 0;
            }
            known += usize::from(property.is_required);
        }
        known
    }

    /// Shows the forms of an object that matches none of them.
    fn no_form(&self, shapes: &'f [Shape], tree: &Tree) -> Fitted {
        let objects = shapes.iter().filter(|shape| {
            let shape = self.form.resolve(shape);
            matches!(shape, Shape::Object(_) | Shape::Map(_))
        });
        let examples: Vec<String> = objects
            .take(MAX_SHOWN)
            .map(|shape| self.form.example_of(shape))
            .collect();
        if examples.is_empty() {
            return self.mismatch(&Shape::AnyOf(shapes.to_vec()), tree);
        }

        let expected = examples.join(" or ");
        let message = format!("found an object of another form; expected one as in {expected}");
        self.unmatched(message, tree)
    }
}
