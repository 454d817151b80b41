//! Vectors that are checked, and the embedder that needs no model.
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used)]

use cogwork_llm::embedding::{Embedder, Embeddings, HashedNgrams};
use proptest::prelude::*;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn vectors_that_cannot_be_compared_are_refused() {
    let mut told = Vec::new();
    for vectors in [
        vec![vec![1.0], vec![]],
        vec![vec![0.0; 65_537]],
        vec![vec![1.0, 2.0], vec![1.0]],
        vec![vec![1.0, f32::NAN]],
        vec![vec![f32::NEG_INFINITY]],
    ] {
        told.push(Embeddings::new(vectors).unwrap_err().to_string());
    }
    let embeddings = Embeddings::new([vec![1.0], vec![2.0]]).unwrap();
    assert!(embeddings.clone().checked_for(2).is_ok());
    told.push(embeddings.checked_for(3).unwrap_err().to_string());
    insta::assert_snapshot!(told.join("\n"), @"
    decode: embedding 2 has 0 numbers; expected 1 to 65536
    decode: embedding 1 has 65537 numbers; expected 1 to 65536
    decode: embedding 2 has 1 numbers; expected 2, as many as the first
    decode: embedding 1 contains NaN; expected finite numbers
    decode: embedding 1 contains -inf; expected finite numbers
    decode: the reply has 2 embeddings for 3 texts; expected one for each text
    ");
}

#[tokio::test]
async fn vectors_of_the_same_name_never_change() {
    let embedder = HashedNgrams::new();
    assert_eq!(embedder.model(), "hashed-ngrams-v1-512");
    assert_eq!(embedder.dimension(), Some(512));

    let texts = texts(&["The café opens at 9.", "!?"]);
    let embeddings = embedder.embed(&texts).await.unwrap();
    let numbers = |vector: &[f32]| -> Vec<(usize, u32)> {
        let places = vector.iter().map(|number| number.to_bits()).enumerate();
        places.filter(|(_, bits)| *bits != 0).collect()
    };

    let [first, second] = embeddings.vectors() else {
        panic!("expected two vectors");
    };
    insta::assert_snapshot!(format!("{:?}", numbers(first)), @"[(9, 1049678019), (24, 3192704205), (36, 3197161667), (49, 3201092813), (50, 3192704205), (65, 3197161667), (78, 3192704205), (147, 3192704205), (150, 3192704205), (152, 1049678019), (163, 1045220557), (187, 1045220557), (235, 1045220557), (300, 1045220557), (324, 1045220557), (379, 3192704205), (428, 1045220557), (459, 3192704205)]");
    assert_eq!(numbers(second), []);
}

#[tokio::test]
async fn texts_with_words_in_common_are_similar() {
    let embedder = HashedNgrams::new();
    let texts = texts(&[
        "How do I reset my password?",
        "Resetting the password: open the settings.",
        "Our bakery closes at six.",
    ]);
    let embeddings = embedder.embed(&texts).await.unwrap();
    let [question, answer, other] = embeddings.vectors() else {
        panic!("expected three vectors");
    };

    assert!(cosine(question, answer) > 2.0 * cosine(question, other));
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

proptest! {
    #[test]
    fn vectors_have_length_one_or_zero(text in "\\PC{0,60}") {
        let embedder = HashedNgrams::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let embeddings = runtime.block_on(embedder.embed(&[text])).unwrap();

        let norm: f32 = embeddings.vectors()[0].iter().map(|number| number * number).sum();
        prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-4, "{norm}");
        prop_assert_eq!(embeddings.dimension(), 512);
    }
}
