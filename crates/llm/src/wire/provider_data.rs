//! Which data goes back to its server.
//!
//! Data of a message belongs to everything before the message: servers refuse signed thinking in a
//! conversation other than the one it was signed in. It is kept with a fingerprint of the API, the
//! server, the model, the tools and the messages before it, including the data that was returned with
//! them. Equal fingerprints thus mean that the request begins as the one that the server answered.
//! After a change, the data of all later messages has another fingerprint and isn't returned.

use std::hash::Hasher;
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use super::unreadable;
use crate::backend::ProviderData;
use crate::{ChatRequest, LlmError};

/// Adds a value to a fingerprint. Neither the hash nor the form of the values may change, because
/// saved states contain fingerprints.
fn add(prefix: &mut SipHasher13, value: &impl serde::Serialize) {
    // Cannot fail: these values are serializable.
    prefix.write(&serde_json::to_vec(value).unwrap_or_default());
    // Separates the values, so that different ones never have the same bytes.
    prefix.write_u8(0);
}

/// Returns the content to return with each message. `owner` is the API, the server and the model.
pub(crate) fn returned<'r>(owner: [&str; 3], request: &'r ChatRequest) -> Vec<Option<&'r str>> {
    // Most conversations have none, and hashing all messages takes time.
    let mut messages = request.messages().iter();
    if messages.all(|message| message.provider_data().is_none()) {
        return vec![None; request.messages().len()];
    }

    walk(owner, request).0
}

fn walk<'r>(owner: [&str; 3], request: &'r ChatRequest) -> (Vec<Option<&'r str>>, u64) {
    let mut prefix = SipHasher13::new();
    // A signature of Claude is valid only with the tools that it was made with.
    add(&mut prefix, &(owner, request.tools()));
    let mut returned = Vec::new();

    for message in request.messages() {
        let fingerprint = prefix.finish();
        let data = message
            .provider_data()
            .filter(|data| data.fingerprint() == fingerprint)
            .map(ProviderData::content);
        // Its own data is added below, but only if it goes back.
        add(&mut prefix, &message.clone().without_provider_data());
        add(&mut prefix, &data);
        returned.push(data);
    }

    (returned, prefix.finish())
}

/// Returns data without the fingerprint of the request that it belongs to.
pub(crate) fn unbound(content: String) -> Arc<ProviderData> {
    Arc::new(ProviderData::new(0, content))
}

/// Returns the data of a reply to `request`.
pub(crate) fn received(
    owner: [&str; 3],
    request: &ChatRequest,
    unbound: &ProviderData,
) -> Result<ProviderData, LlmError> {
    let bytes = unbound.content().len();
    if bytes > ProviderData::MAX_BYTES {
        return Err(unreadable(format!(
            "the provider data of the reply has {bytes} bytes; expected at most {}",
            ProviderData::MAX_BYTES
        )));
    }

    let (_, fingerprint) = walk(owner, request);
    Ok(ProviderData::new(fingerprint, unbound.content()))
}
