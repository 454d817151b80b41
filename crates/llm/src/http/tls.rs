//! TLS by the features of the crate: rustls, the system's library, or none.

use reqwest::{ClientBuilder, Url};

#[cfg(feature = "rustls")]
use super::errors::invalid_settings;
use crate::LlmError;

/// Whether TLS is available.
pub(super) const IS_AVAILABLE: bool = cfg!(any(feature = "rustls", feature = "native-tls"));

/// Uses rustls if both features are enabled: a feature in addition to the defaults should not
/// change the backend.
#[cfg(feature = "rustls")]
pub(super) fn of(http: ClientBuilder, base_url: &Url) -> Result<ClientBuilder, LlmError> {
    let config = config(base_url).map_err(|error| {
        let message = "the system's certificates cannot be read; expected at least one";
        invalid_settings(message).with_source(error)
    })?;
    Ok(http.tls_backend_preconfigured(config))
}

/// Names the crypto provider explicitly, because another library may have installed a different one
/// for the process, or none.
#[cfg(feature = "rustls")]
fn config(base_url: &Url) -> Result<rustls::ClientConfig, rustls::Error> {
    use rustls::{ClientConfig, RootCertStore};
    use rustls_platform_verifier::BuilderVerifierExt;

    let ring = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
    let config = if base_url.scheme() == "https" {
        config.with_platform_verifier()?
    } else {
        // A machine without certificates can still connect to a local server.
        config.with_root_certificates(RootCertStore::empty())
    };

    Ok(config.with_no_client_auth())
}

/// reqwest uses the system's library if it has no other.
#[cfg(not(feature = "rustls"))]
pub(super) fn of(http: ClientBuilder, _: &Url) -> Result<ClientBuilder, LlmError> {
    Ok(http)
}
