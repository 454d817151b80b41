//! The providers that are part of the crate.

mod offline;
mod rules;
#[cfg(feature = "http")]
mod servers;

use cogwork_thinking::Registry;

use crate::loader::Provider;

pub(crate) fn built_in() -> Registry<Provider> {
    let mut providers = Registry::of("provider");
    providers.insert::<offline::Script>(
        "scripted",
        "Replies from the file, in order. Needs no server.",
        Provider::new(offline::Script::client),
    );
    providers.insert::<rules::Rules>(
        "rules",
        "Replies by the words of the request. Needs no server.",
        Provider::new(|rules: rules::Rules| Ok::<_, String>(rules)),
    );
    #[cfg(feature = "http")]
    servers::insert(&mut providers);

    providers
}
