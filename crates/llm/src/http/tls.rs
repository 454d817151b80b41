//! Encryption by what the features of the crate bring: rustls, or else the system's own library, or none.

use reqwest::{ClientBuilder, Url};

use crate::LlmError;

/// Whether there is any.
pub(super) const IS_THERE: bool = cfg!(any(feature = "rustls", feature = "native-tls"));

/// With both features, rustls: what a program asks for beside the default should take nothing away.
#[cfg(feature = "rustls")]
pub(super) fn of(http: ClientBuilder, base_url: &Url) -> Result<ClientBuilder, LlmError> {
    let config = config(base_url).map_err(|error| {
        let message = "the system's certificates cannot be read; expected at least one";
        super::wrong(message.to_owned()).with_source(error)
    })?;
    Ok(http.tls_backend_preconfigured(config))
}

/// The provider is named here and not taken from the process, where another library may have
/// installed a different one, or none.
#[cfg(feature = "rustls")]
fn config(base_url: &Url) -> Result<rustls::ClientConfig, rustls::Error> {
    use rustls::{ClientConfig, RootCertStore};
    use rustls_platform_verifier::BuilderVerifierExt;

    let ring = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
    let config = if base_url.scheme() == "https" {
        config.with_platform_verifier()?
    } else {
        // A machine without certificates can still talk to a server next to it.
        config.with_root_certificates(RootCertStore::empty())
    };

    Ok(config.with_no_client_auth())
}

/// reqwest takes the system's library by itself where it has no other.
#[cfg(not(feature = "rustls"))]
pub(super) fn of(http: ClientBuilder, _: &Url) -> Result<ClientBuilder, LlmError> {
    Ok(http)
}
