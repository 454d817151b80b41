//! Combines shapes.

use super::{Object, Shape};

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
        // A name without data is the simplest form, so that it is described first.
        others.insert(0, Shape::Choice(choices));
    }
    match others.len() {
        _ if others.contains(&Shape::Any) => Shape::Any,
        1 => others.swap_remove(0),
        _ => Shape::AnyOf(others),
    }
}

/// Returns the shape of values that have two shapes, such as the properties of an object together
/// with those of a flattened enum. References must have been replaced.
pub(super) fn both(first: Shape, second: Shape) -> Shape {
    match (first, second) {
        (Shape::Any, shape) | (shape, Shape::Any) => shape,
        (first, second) if first == second => first,
        (Shape::AnyOf(firsts), second) => {
            let firsts = firsts.into_iter();
            listed(firsts.map(|first| both(first, second.clone())).collect())
        }
        (first, Shape::AnyOf(seconds)) => {
            let seconds = seconds.into_iter();
            listed(seconds.map(|second| both(first.clone(), second)).collect())
        }
        (Shape::Object(first), Shape::Object(second)) => Shape::Object(merged(first, second)),
        (Shape::Object(object), Shape::Map(values))
        | (Shape::Map(values), Shape::Object(object)) => Shape::Object(Object {
            others: Some(values),
            ..object
        }),
        _ => Shape::Any,
    }
}

fn merged(mut object: Object, other: Object) -> Object {
    for property in other.properties {
        let mut known = object.properties.iter();
        // If both know a key, that of the first one counts: it may be the tag of a variant.
        if known.all(|known| known.name != property.name) {
            object.properties.push(property);
        }
    }
    object.others = object.others.or(other.others);
    object.is_closed |= other.is_closed;
    object
}
