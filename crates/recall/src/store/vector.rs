//! Vectors as numbers and as bytes.

/// Returns the vector with the length 1. A vector of zeros stays as it is.
pub(crate) fn unit(vector: &[f32]) -> Vec<f32> {
    // The squares of the largest and smallest numbers don't fit into 32 bits.
    let squares = vector.iter().map(|number| f64::from(*number).powi(2));
    let norm = squares.sum::<f64>().sqrt();
    // A text without any words has such a vector, which is similar to nothing.
    if norm == 0.0 {
        return vec![0.0; vector.len()];
    }

    let numbers = vector
        .iter()
        .map(|number| (f64::from(*number) / norm) as f32);
    numbers.collect()
}

pub(super) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Returns the scalar product of a stored vector and one of the same length.
pub(super) fn product(stored: &[u8], vector: &[f32]) -> f32 {
    // The length was checked, so nothing is left over.
    let (stored, _) = stored.as_chunks::<4>();
    let products = stored
        .iter()
        .zip(vector)
        .map(|(bytes, number)| f32::from_le_bytes(*bytes) * number);
    products.sum()
}
