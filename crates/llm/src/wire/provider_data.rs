//! Which data goes back to its server.
//!
//! Data of a message belongs to everything before the message: servers refuse signed thinking in a
//! conversation other than the one it was signed in. It is kept with a fingerprint of the API, the
//! server, the model, the tools and the messages before it, including the data that was returned with
//! them. Equal fingerprints thus mean that the request begins as the one that the server answered.
//! After a change, the data of all later messages has another fingerprint and isn't returned.

use std::hash::Hasher;
use std::io;

use siphasher::sip::SipHasher13;

use super::unreadable;
use crate::{ChatRequest, LlmError, Message, ProviderData};

/// The fingerprint of the beginning of a conversation. The algorithm and the bytes never change,
/// because saved states contain fingerprints.
struct Prefix(SipHasher13);

impl Prefix {
    fn new(owner: [&str; 3], request: &ChatRequest) -> Self {
        let mut prefix = Self(SipHasher13::new());
        prefix.add(&(owner, request.tools()));
        prefix
    }

    fn add(&mut self, value: &impl serde::Serialize) {
        // Cannot fail: these values are serializable, and hashing has no errors.
        let _ = serde_json::to_writer(&mut *self, value);
        self.0.write_u8(0);
    }

    fn add_message(&mut self, message: &Message, returned: Option<&str>) {
        self.add(&message.clone().without_provider_data());
        self.add(&returned);
    }

    fn fingerprint(&self) -> u64 {
        self.0.finish()
    }
}

impl io::Write for Prefix {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the content to return with each message. `owner` is the API, the server and the model.
pub(crate) fn returned<'r>(owner: [&str; 3], request: &'r ChatRequest) -> Vec<Option<&'r str>> {
    let has_data = request
        .messages()
        .iter()
        .any(|message| message.provider_data().is_some());
    if !has_data {
        return vec![None; request.messages().len()];
    }

    walk(owner, request).0
}

fn walk<'r>(owner: [&str; 3], request: &'r ChatRequest) -> (Vec<Option<&'r str>>, u64) {
    let mut prefix = Prefix::new(owner, request);
    let mut returned = Vec::new();

    for message in request.messages() {
        let fingerprint = prefix.fingerprint();
        let data = message
            .provider_data()
            .filter(|data| data.fingerprint() == fingerprint)
            .map(ProviderData::content);
        prefix.add_message(message, data);
        returned.push(data);
    }

    (returned, prefix.fingerprint())
}

/// Returns the data of a reply to `request`.
pub(crate) fn received(
    owner: [&str; 3],
    request: &ChatRequest,
    content: String,
) -> Result<ProviderData, LlmError> {
    let bytes = content.len();
    if bytes > ProviderData::MAX_BYTES {
        return Err(unreadable(format!(
            "the provider data of the reply has {bytes} bytes; expected at most {}",
            ProviderData::MAX_BYTES
        )));
    }

    let (_, fingerprint) = walk(owner, request);
    Ok(ProviderData::new(fingerprint, content))
}
