//! Vectors as numbers and as bytes.

/// The numbers that are multiplied at once.
const LANES: usize = 8;

/// Returns the vector with the length 1. A vector of zeros stays as it is.
pub(crate) fn unit(vector: &[f32]) -> Vec<f32> {
    // The squares of the largest and smallest numbers don't fit into 32 bits.
    let squares = vector.iter().map(|number| f64::from(*number).powi(2));
    let norm = squares.sum::<f64>().sqrt();
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
    let (stored_blocks, stored_rest) = stored.as_chunks::<{ 4 * LANES }>();
    let (blocks, rest) = vector.as_chunks::<LANES>();

    // Several sums, so that they can be computed at the same time.
    let mut sums = [0.0_f32; LANES];
    for (stored, block) in stored_blocks.iter().zip(blocks) {
        let (numbers, _) = stored.as_chunks::<4>();
        for ((sum, bytes), number) in sums.iter_mut().zip(numbers).zip(block) {
            *sum += f32::from_le_bytes(*bytes) * number;
        }
    }

    let (numbers, _) = stored_rest.as_chunks::<4>();
    let products = numbers
        .iter()
        .zip(rest)
        .map(|(bytes, number)| f32::from_le_bytes(*bytes) * number);
    sums.iter().sum::<f32>() + products.sum::<f32>()
}
