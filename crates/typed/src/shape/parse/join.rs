//! Combines shapes.

use crate::shape::{Object, Others, Property, Shape};

/// The maximum number of alternatives that several lists of alternatives are multiplied to.
const MAX_ALTERNATIVES: usize = 100;

/// Joins alternatives: the choices become one, and alternatives in alternatives are listed once.
pub(super) fn listed(shapes: Vec<Shape>) -> Shape {
    let mut choices = Vec::new();
    let mut others = Vec::new();

    let listed = shapes.into_iter().flat_map(|shape| match shape {
        Shape::AnyOf(shapes) => shapes,
        shape => vec![shape],
    });
    for shape in listed {
        match shape {
            Shape::Choice(more) => choices.extend(more),
            shape if others.contains(&shape) => {}
            shape => others.push(shape),
        }
    }

    if !choices.is_empty() {
        others.insert(0, Shape::Choice(choices));
    }
    if others.contains(&Shape::Any) {
        return Shape::Any;
    }

    match others.len() {
        1 => others.swap_remove(0),
        _ => Shape::AnyOf(others),
    }
}

/// Returns the shape of values that have all of these shapes, such as the properties of an object
/// together with those of a flattened enum. References must have been replaced.
pub(super) fn joined(shapes: Vec<Shape>) -> Shape {
    let joined = shapes
        .into_iter()
        .reduce(|first, second| both(&first, &second));
    joined.unwrap_or(Shape::Any)
}

fn both(first: &Shape, second: &Shape) -> Shape {
    match (first, second) {
        (Shape::Any, shape) | (shape, Shape::Any) => shape.clone(),
        (first, second) if first == second => first.clone(),
        (Shape::AnyOf(firsts), Shape::AnyOf(seconds))
            if firsts.len().saturating_mul(seconds.len()) > MAX_ALTERNATIVES =>
        {
            Shape::Any
        }
        (Shape::AnyOf(firsts), second) => {
            listed(firsts.iter().map(|first| both(first, second)).collect())
        }
        (first, Shape::AnyOf(seconds)) => {
            listed(seconds.iter().map(|second| both(first, second)).collect())
        }
        (Shape::Object(first), Shape::Object(second)) => Shape::Object(merged(first, second)),
        (Shape::Object(object), Shape::Map(values))
        | (Shape::Map(values), Shape::Object(object)) => Shape::Object(Object {
            properties: object.properties.clone(),
            others: Others::Kept(values.clone()),
        }),
        _ => Shape::Any,
    }
}

fn merged(first: &Object, second: &Object) -> Object {
    let is_new = |property: &&Property| {
        let mut known = first.properties.iter();
        known.all(|other| other.name != property.name)
    };
    let new = second.properties.iter().filter(is_new);
    let properties = first.properties.iter().chain(new).cloned();

    let others = match (&first.others, &second.others) {
        (Others::Kept(values), _) | (_, Others::Kept(values)) => Others::Kept(values.clone()),
        (others, _) => others.clone(),
    };

    Object {
        properties: properties.collect(),
        others,
    }
}
