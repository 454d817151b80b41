//! Values of one of several shapes.

use super::object::property_of;
use super::{Fitted, Fitter};
use crate::shape::{Property, Shape};
use crate::tree::{Node, Tree};

/// The maximum number of forms that a complaint shows.
const MAX_SHOWN: usize = 8;

impl<'f> Fitter<'f> {
    /// Fits to the alternative that needs the fewest repairs.
    pub(super) fn fit_any_of(&mut self, shapes: &'f [Shape], tree: &Tree) -> Fitted {
        let mut fits: Vec<Fitted> = Vec::new();
        for shape in shapes {
            let fitted = self.fit(shape, tree);
            // Each further alternative would take time without being better.
            if fitted.is_exact() {
                return fitted;
            }
            fits.push(fitted);
        }

        let distance = |fitted: &Fitted| (fitted.is_rough, fitted.repairs.len());
        let matching = fits.iter().filter(|fitted| fitted.matches());
        let least = matching.map(distance).min();
        let is_closest = |fitted: &&Fitted| fitted.matches() && least == Some(distance(fitted));

        let mut closest = fits.iter().filter(is_closest).map(|fitted| &fitted.value);
        let best = closest.next();
        // Equal values may come from different forms, and then it doesn't matter which one is
        // meant.
        if closest.any(|other| Some(other) != best) {
            return self.ambiguous(&Shape::AnyOf(shapes.to_vec()), tree);
        }
        let closest = fits.iter().position(|fitted| is_closest(&fitted));
        // A text takes any object, but one with the keys of another form is meant as that.
        let is_rough = least.is_some_and(|(is_rough, _)| is_rough);
        let meant = is_rough.then(|| self.meant(shapes, tree)).flatten();
        match meant.or(closest) {
            Some(at) => fits.swap_remove(at),
            None => self.no_alternative(shapes, fits, tree),
        }
    }

    /// Explains why no alternative fits.
    fn no_alternative(&self, shapes: &'f [Shape], mut fits: Vec<Fitted>, tree: &Tree) -> Fitted {
        let is_object = matches!(tree.node, Node::Object(_));
        let is_nested = is_object || matches!(tree.node, Node::List(_));
        let mut others = (0..shapes.len()).filter(|at| shapes.get(*at) != Some(&Shape::Null));
        let only = match (others.next(), others.next()) {
            (Some(only), None) if is_nested => Some(only),
            _ => None,
        };

        // A refusal explains more than a list of what would be accepted.
        let refused = || fits.iter().position(|fit| fit.refusal.is_some());
        match only.or_else(|| self.meant(shapes, tree)).or_else(refused) {
            Some(meant) => fits.swap_remove(meant),
            None if is_object => self.no_form(shapes, tree),
            None => self.mismatch(&Shape::AnyOf(shapes.to_vec()), tree),
        }
    }

    /// Returns the only alternative that an object can be meant as, by its tags and keys.
    fn meant(&self, shapes: &'f [Shape], tree: &Tree) -> Option<usize> {
        // Counting repairs would prefer the form with the fewest keys.
        let known = shapes.iter().map(|shape| self.known_keys(shape, tree));
        let known: Vec<usize> = known.collect();
        let most = *known.iter().max().filter(|most| **most > 0)?;

        let mut meant = (0..).zip(known).filter(|(_, known)| *known == most);
        let (meant, None) = (meant.next()?, meant.next()) else {
            return None;
        };
        Some(meant.0)
    }

    /// Returns how many keys of an object are required by a shape; 0 if a tag differs.
    fn known_keys(&self, shape: &'f Shape, tree: &Tree) -> usize {
        let Shape::Object(object) = self.form.resolve(shape) else {
            return 0;
        };

        let entries = tree.entries().iter();
        let known = entries.filter_map(|(key, value)| Some((property_of(object, key)?, value)));
        let is_other_tag = |(property, value): (&Property, &Tree)| {
            matches!(&property.shape, Shape::Choice(tag) if tag.len() == 1
                && self.fit_choice(tag, value).is_none())
        };
        match known.clone().any(is_other_tag) {
            true => 0,
            false => known.filter(|(property, _)| property.is_required).count(),
        }
    }

    /// Shows the forms of an object that matches none of them.
    fn no_form(&self, shapes: &'f [Shape], tree: &Tree) -> Fitted {
        let objects = shapes.iter().filter(|shape| {
            let shape = self.form.resolve(shape);
            matches!(shape, Shape::Object(_) | Shape::Map(_))
        });
        let examples = objects.map(|shape| self.form.example_of(shape));
        let examples: Vec<String> = examples.take(MAX_SHOWN).collect();
        if examples.is_empty() {
            return self.mismatch(&Shape::AnyOf(shapes.to_vec()), tree);
        }

        let expected = examples.join(" or ");
        let message = format!("found an object of another form; expected one as in {expected}");
        self.unmatched(message, tree)
    }
}
