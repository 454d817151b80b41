//! A real embedding model, where there is one.

use cogwork_llm::embedding::OpenAiEmbedder;
use cogwork_recall::{Passage, Query, VectorMemory};

/// Needs a server with an embedding model in `OPENAI_BASE_URL` and `OPENAI_EMBEDDING_MODEL`.
#[tokio::test]
#[ignore = "needs a server with an embedding model"]
async fn passages_are_found_without_words_in_common() {
    let embedder = OpenAiEmbedder::from_env().unwrap();
    let memory = VectorMemory::in_memory(embedder).unwrap();
    let passages = [
        "The premises shut at six in the evening.",
        "Ada must not eat nuts.",
        "Bread is baked before dawn.",
    ];
    memory.insert(passages.map(Passage::new)).await.unwrap();

    let query = Query::new("When does the office close?").with_limit(1);
    let recalled = memory.recall(&query).await.unwrap();
    assert_eq!(recalled[0].text, passages[0]);
}
