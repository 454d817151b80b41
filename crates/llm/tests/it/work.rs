//! Work that must not grow with what came before, counted in allocations: comparing two conversations
//! makes some, so they tell how many requests a look-up was compared with.
#![allow(clippy::unwrap_used)]

use cogwork_llm::{Cache, ChatRequest, LlmClient, Message, ScriptedClient};

/// A conversation with this seed, equal to the others in all of its messages.
fn seeded(seed: u64) -> ChatRequest {
    ChatRequest::new([Message::system("Be brief."), Message::user("Hello")]).with_seed(seed)
}

/// The allocations of asking this client `count` requests, from `first` on.
fn allocations(client: &impl LlmClient, first: u64, count: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let requests: Vec<_> = (first..first + count).map(seeded).collect();

    let measured = allocation_counter::measure(|| {
        runtime.block_on(async {
            for request in requests {
                client.complete(request).await.unwrap();
            }
        });
    });

    measured.count_total
}

#[test]
fn a_cache_compares_no_request_with_those_of_other_settings() {
    let client = Cache::new(ScriptedClient::new(vec!["Hi."; 2_000])).with_max_entries(2_000);
    let early = allocations(&client, 0, 200);
    allocations(&client, 200, 1_600);
    let late = allocations(&client, 1_800, 200);

    assert!(
        late < early * 2,
        "200 requests made {early} allocations, and after 1,800 others {late}"
    );
}

#[cfg(feature = "cassette")]
#[test]
fn a_replay_compares_no_request_with_those_of_other_settings() {
    use cogwork_llm::{Recorder, Replay};

    let folder = tempfile::tempdir().unwrap();
    let allocations = |recordings: usize| {
        let path = folder.path().join(format!("{recordings}.yaml"));
        let script = ScriptedClient::new(vec!["Hi."; recordings]);
        let recorder = Recorder::create(script, &path).unwrap();
        allocations(&recorder, 0, recordings as u64);

        let replay = Replay::open(&path).unwrap();
        allocations(&replay, recordings as u64 - 100, 100)
    };

    let few = allocations(100);
    let many = allocations(1_000);
    assert!(
        many < few * 2,
        "100 requests made {few} allocations of 100 recordings, and {many} of 1,000"
    );
}
