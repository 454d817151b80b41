//! Embeddings in cassettes.

use std::path::{Path, PathBuf};

use cogwork_llm::{
    Cache, Embedder, Embeddings, HashedNgrams, LlmClient, LlmError, LlmErrorKind, Recorder, Replay,
    Usage, async_trait,
};
use proptest::prelude::*;
use tempfile::TempDir;

use super::{ask, fails, hello};

/// Embeds texts as vectors that are given, or fails.
struct Given(Vec<Vec<f32>>);

#[async_trait]
impl Embedder for Given {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        if self.0.is_empty() {
            return Err(fails(LlmErrorKind::RateLimit));
        }

        let vectors = self.0.iter().cycle().take(texts.len()).cloned();
        let embeddings = Embeddings::new(vectors)?.with_usage(Usage::new(7, 0));
        Ok(embeddings.with_model("given-2"))
    }

    fn model(&self) -> &str {
        "given"
    }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    (folder, path)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Opens a cassette with this content, in a folder of its own.
fn opened(content: &str) -> (TempDir, Result<Replay, LlmError>) {
    let (folder, path) = place();
    std::fs::write(&path, content).unwrap();
    let replay = Replay::open(&path);
    (folder, replay)
}

fn without_folder(error: &LlmError, path: &Path) -> String {
    let folder = path.parent().unwrap().to_str().unwrap();
    error.to_string().replace(folder, "")
}

#[tokio::test]
async fn embeddings_are_recorded_in_lines_and_played_again() {
    let (_folder, path) = place();
    let given = Given(vec![vec![0.5, -1.0], vec![1e-40, 3.0]]);
    let recorder = Recorder::create(given, &path).unwrap();
    let two = texts(&["one", "# two: 2"]);
    let made = recorder.embed(&two).await.unwrap();

    insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap());
    assert_eq!(recorder.model(), "given");
    assert_eq!(recorder.dimension(), None);

    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.model(), "given");
    assert_eq!(replay.dimension(), Some(2));
    assert_eq!(replay.unplayed(), 1);
    assert_eq!(replay.embed(&two).await.unwrap(), made);
    assert_eq!(replay.unplayed(), 0);
}

#[tokio::test]
async fn an_error_of_an_embedder_is_played_again() {
    let (_folder, path) = place();
    let recorder = Recorder::create(Given(Vec::new()), &path).unwrap();
    let recorded = recorder.embed(&texts(&["one"])).await.unwrap_err();

    let replay = Replay::open(&path).unwrap();
    let played = replay.embed(&texts(&["one"])).await.unwrap_err();
    assert_eq!(played.to_string(), recorded.to_string());
    assert_eq!(played.kind(), LlmErrorKind::RateLimit);
    assert_eq!(replay.dimension(), None);
}

#[tokio::test]
async fn a_miss_names_the_nearest_texts_and_the_difference() {
    let (_folder, path) = place();
    let recorder = Recorder::create(HashedNgrams::new(), &path).unwrap();
    for part in [&["a", "b"][..], &["a", "bee"], &["z"]] {
        recorder.embed(&texts(part)).await.unwrap();
    }

    let replay = Replay::open(&path).unwrap();
    let mut misses = Vec::new();
    for part in [&["a", "beet"][..], &["z", "y"], &["a"], &[]] {
        let error = replay.embed(&texts(part)).await.unwrap_err();
        misses.push(without_folder(&error, &path));
    }
    replay.embed(&texts(&["z"])).await.unwrap();
    let error = replay.embed(&texts(&["z"])).await.unwrap_err();
    misses.push(without_folder(&error, &path));

    let error = ask(&replay).await.unwrap_err();
    misses.push(without_folder(&error, &path));
    insta::assert_debug_snapshot!(misses);
}

#[tokio::test]
async fn a_cassette_may_hold_both_kinds_of_calls() {
    let (_folder, replay) = opened(
        "- embed: {model: m, texts: [a]}\n  embeddings: {vectors: ['1 2']}\n  complete: true\n\
         - request: {messages: [{role: user, content: Hello}]}\n  response: {text: Hi.}\n  complete: true\n\
         - embed: {model: m, texts: []}\n  embeddings: {vectors: []}\n  complete: true\n",
    );
    let replay = replay.unwrap();

    assert_eq!(replay.unplayed(), 3);
    assert_eq!(replay.embed(&[]).await.unwrap().vectors().len(), 0);
    assert_eq!(
        replay.embed(&texts(&["a"])).await.unwrap().vectors(),
        [[1.0, 2.0]]
    );
    assert_eq!(replay.complete(hello()).await.unwrap().text(), "Hi.");
    assert_eq!(replay.unplayed(), 0);
}

#[test]
fn embeddings_that_cannot_be_used_are_refused_with_their_number() {
    let call = "- embed: {model: m, texts: [a]}\n  ";
    let whole = format!("{call}embeddings: {{vectors: ['1 2']}}\n  complete: true\n");
    let wrong = [
        "embeddings: {vectors: ['1 x']}\n  complete: true\n",
        "embeddings: {vectors: ['1 NaN']}\n  complete: true\n",
        "embeddings: {vectors: ['']}\n  complete: true\n",
        "embeddings: {vectors: [[1, 2]]}\n  complete: true\n",
        "embeddings: {vectors: ['1', '2']}\n  complete: true\n",
        "embeddings: {vectors: []}\n  complete: true\n",
        "embeddings: {vectors: ['1']}\n",
        "response: {text: Hi.}\n  complete: true\n",
        "embeddings: {vectors: ['1']}\n  error: {kind: other, message: a}\n  complete: true\n",
        "complete: true\n",
        "request: {messages: []}\n  complete: true\n",
    ];

    let mut errors = Vec::new();
    for wrong in wrong {
        let (folder, replay) = opened(&format!("{whole}{call}{wrong}"));
        let error = replay.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Settings);
        errors.push(without_folder(&error, &folder.path().join("x")));
    }

    let other = whole.replace("model: m", "model: other");
    let chat = "- request: {messages: []}\n  embeddings: {vectors: []}\n  complete: true\n";
    for content in [format!("{whole}{other}"), chat.to_owned()] {
        let (folder, replay) = opened(&content);
        errors.push(without_folder(
            &replay.unwrap_err(),
            &folder.path().join("x"),
        ));
    }
    insta::assert_debug_snapshot!(errors);
}

#[tokio::test]
async fn a_recorder_can_be_wrapped_like_any_embedder() {
    let (_folder, path) = place();
    let recorder = Recorder::create(HashedNgrams::new(), &path).unwrap();
    let cached = Cache::new(recorder.clone());
    let first = cached.embed(&texts(&["a", "b"])).await.unwrap();
    let again = cached.embed(&texts(&["b", "c"])).await.unwrap();

    // Only missing texts are sent to the embedder.
    let replayed = Cache::new(Replay::open(&path).unwrap());
    assert_eq!(replayed.embed(&texts(&["a", "b"])).await.unwrap(), first);
    assert_eq!(replayed.embed(&texts(&["b", "c"])).await.unwrap(), again);
    assert_eq!(replayed.model(), HashedNgrams::new().model());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_finite_vectors_come_back_as_they_were(
        vectors in proptest::collection::vec(proptest::collection::vec(proptest::num::f32::NORMAL
            | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO, 3), 1..5),
        said in any::<String>(),
    ) {
        let (_folder, path) = place();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let asked = vec![said; vectors.len()];
        let recorder = Recorder::create(Given(vectors.clone()), &path).unwrap();
        runtime.block_on(recorder.embed(&asked)).unwrap();

        let replay = Replay::open(&path).unwrap();
        let played = runtime.block_on(replay.embed(&asked)).unwrap();
        let bits = |vectors: &[Vec<f32>]| -> Vec<u32> { vectors.iter().flatten().map(|n| n.to_bits()).collect() };
        prop_assert_eq!(bits(played.vectors()), bits(&vectors));
    }
}
