use std::sync::Arc;

use reqwest::Url;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

/// Returns an HTTP client with rustls and the system's certificates.
///
/// The crypto provider is named, because reqwest panics if a different crate enables rustls and no
/// provider is installed for the process.
pub(super) fn http(ingress: &Url) -> Result<reqwest::Client, String> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;

    let config = if ingress.scheme() == "https" {
        let verified = config.with_platform_verifier();
        verified.map_err(|error| error.to_string())?
    } else {
        // A machine without certificates can still connect to a local server.
        config.with_root_certificates(RootCertStore::empty())
    };

    let http = reqwest::Client::builder().tls_backend_preconfigured(config.with_no_client_auth());
    http.build().map_err(|error| error.to_string())
}
