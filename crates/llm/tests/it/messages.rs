//! `Messages` behaves as a list whose clones share what they have in common.

use cogwork_llm::{ChatRequest, Message, Messages, Role};
use proptest::prelude::*;

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant)];
    (role, ".{0,12}").prop_map(|(role, text)| Message::new(role, text))
}

proptest! {
    #[test]
    fn messages_keep_their_order(all in prop::collection::vec(message(), 0..40)) {
        let messages: Messages = all.iter().cloned().collect();
        prop_assert_eq!(messages.len(), all.len());
        prop_assert_eq!(messages.is_empty(), all.is_empty());
        prop_assert_eq!(messages.last(), all.last());
        prop_assert!(messages.iter().eq(all.iter()));
        prop_assert!(messages == all.iter().cloned().collect());
        prop_assert!(messages != all.into_iter().chain([Message::user("")]).collect());
    }

    #[test]
    fn clones_grow_apart(
        common in prop::collection::vec(message(), 0..20),
        one in prop::collection::vec(message(), 0..20),
        other in prop::collection::vec(message(), 0..20),
        one_goes_first in any::<bool>(),
    ) {
        let mut left: Messages = common.iter().cloned().collect();
        let mut right = left.clone();
        left.extend(one.iter().cloned());
        right.extend(other.iter().cloned());
        // Whichever is dropped first leaves the other whole.
        let (kept, expected) = if one_goes_first { (right, &other) } else { (left, &one) };
        prop_assert!(kept.iter().eq(common.iter().chain(expected)));
    }

    #[test]
    fn a_request_survives_json(all in prop::collection::vec(message(), 0..10), tokens in any::<Option<u32>>()) {
        let request = ChatRequest::new(all);
        let request = tokens.map_or(request.clone(), |tokens| request.with_max_tokens(tokens));
        let json = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(serde_json::from_str::<ChatRequest>(&json).unwrap(), request);
    }
}

#[test]
fn a_million_messages_are_dropped_without_a_deep_stack() {
    let small_stack = std::thread::Builder::new().stack_size(64 * 1024);
    let built = small_stack.spawn(|| {
        let messages: Messages = std::iter::repeat_n(Message::user("x"), 1_000_000).collect();
        let shared = messages.clone();
        drop(messages);
        shared.len()
    });
    assert_eq!(built.unwrap().join().unwrap(), 1_000_000);
}
