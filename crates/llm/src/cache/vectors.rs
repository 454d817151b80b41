use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;

use super::Cache;
use crate::locked::locked;
use crate::{Embedder, Embeddings, LlmError};

type Vectors<'a> = HashMap<&'a str, Arc<[f32]>>;

impl<E> Cache<E> {
    fn cached<'a>(&self, texts: &'a [String]) -> Vectors<'a> {
        let mut kept = locked(&self.vectors);
        let found = texts
            .iter()
            .filter_map(|text| Some((text.as_str(), kept.find(text)?)));

        found.collect()
    }

    fn keep_vectors(&self, texts: &[String], embeddings: &Embeddings) {
        let mut kept = locked(&self.vectors);
        for (text, vector) in texts.iter().zip(embeddings.vectors()) {
            let bytes = text.len() + size_of_val(vector.as_slice());
            kept.keep(text.clone(), vector.as_slice().into(), bytes, self.most);
        }
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cache<E> {
    /// # Errors
    ///
    /// Returns the error of the embedder.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let cached = self.cached(texts);
        let missing = missing(texts, &cached);

        if missing.is_empty() {
            return joined(texts, &cached, &missing, Embeddings::default());
        }

        let embeddings = self.client.embed(&missing).await?;
        let embeddings = embeddings.checked_for(missing.len())?;
        self.keep_vectors(&missing, &embeddings);

        // Another model now has the same name on the server.
        let has_changed = cached
            .values()
            .any(|vector| vector.len() != embeddings.dimension());
        if has_changed {
            let embeddings = self.client.embed(texts).await?.checked_for(texts.len())?;
            self.keep_vectors(texts, &embeddings);
            return Ok(embeddings);
        }

        joined(texts, &cached, &missing, embeddings)
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}

/// Returns the texts without a cached vector, each once.
fn missing(texts: &[String], cached: &Vectors<'_>) -> Vec<String> {
    let mut seen = HashSet::new();
    let missing = texts
        .iter()
        .filter(|text| !cached.contains_key(text.as_str()) && seen.insert(text.as_str()));

    missing.cloned().collect()
}

/// Returns the vectors of all texts, with the usage of the new ones.
fn joined(
    texts: &[String],
    cached: &Vectors<'_>,
    missing: &[String],
    new: Embeddings,
) -> Result<Embeddings, LlmError> {
    let names = missing.iter().map(String::as_str);
    let by_text: HashMap<&str, &Vec<f32>> = names.zip(new.vectors()).collect();
    let vector = |text: &String| match cached.get(text.as_str()) {
        Some(vector) => vector.to_vec(),
        None => by_text
            .get(text.as_str())
            .map_or_else(Vec::new, |vector| vector.to_vec()),
    };

    let all = Embeddings::new(texts.iter().map(vector))?;
    let all = match new.model() {
        Some(model) => all.with_model(model),
        None => all,
    };
    Ok(match new.usage() {
        Some(usage) => all.with_usage(usage),
        None => all,
    })
}
