//! Encrypted connections to a server with its own certificate.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use cogwork_journal::{PostgresStore, StoreError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::own_server::OwnServer;
use crate::server::with_server;
use crate::work::{Calls, Work, counted, flow, undisturbed};

/// A server that also accepts encrypted connections over TCP.
struct Server {
    server: OwnServer,
    port: String,
}

impl Server {
    fn start(authority: &Authority) -> Self {
        let certificate = tempfile::tempdir().unwrap();
        authority.certify("127.0.0.1", certificate.path());

        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port().to_string();
        drop(free);

        let folder = certificate.path().as_os_str();
        let server = OwnServer::start(&["start-tls".as_ref(), port.as_ref(), folder]);
        Self { server, port }
    }

    fn url(&self, host: &str) -> String {
        format!(
            "host={host} port={} user=cogwork dbname=postgres",
            self.port
        )
    }

    fn store(&self) -> PostgresStore {
        PostgresStore::new(&self.url("127.0.0.1")).unwrap()
    }
}

/// Whoever signs certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Writes the certificate of a server, and its key.
    fn certify(&self, host: &str, folder: &Path) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        std::fs::write(folder.join("server.crt"), certificate.pem()).unwrap();
        std::fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    }

    /// The settings of a client that only trusts this authority.
    fn trusted(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from(self.0.der().to_vec()))
            .unwrap();

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    }
}

async fn refusal(store: PostgresStore) -> StoreError {
    store.runs().await.unwrap_err()
}

#[test]
fn a_run_is_recorded_over_an_encrypted_connection() {
    with_server(async {
        let authority = Authority::new();
        let server = Server::start(&authority);
        let store = server.store().with_tls_config(authority.trusted());

        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut work).await.unwrap();
        assert_eq!(work, undisturbed(2).await);

        let socket = server.server.socket();
        let local = server.url(&socket.display().to_string());
        let (client, connection) = tokio_postgres::connect(&local, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        let sql = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl AND client_addr IS NOT NULL)
                   FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)";
        let row = client.query_one(sql, &[]).await.unwrap();
        assert!(row.get::<_, i64>(0) > 0);
        assert_eq!(row.get::<_, i64>(1), 0);
    });
}

#[test]
fn a_server_with_a_certificate_of_somebody_else_is_refused() {
    with_server(async {
        let server = Server::start(&Authority::new());
        let stranger = Authority::new();
        let error = refusal(server.store().with_tls_config(stranger.trusted())).await;
        assert!(error.to_string().contains("certificate"), "{error}");

        // Those of the operating system don't contain it either.
        let error = refusal(server.store().with_tls().unwrap()).await;
        assert!(error.to_string().contains("certificate"), "{error}");
    });
}

#[test]
fn a_server_under_another_name_than_that_of_its_certificate_is_refused() {
    with_server(async {
        let authority = Authority::new();
        let server = Server::start(&authority);
        let store = PostgresStore::new(&server.url("localhost")).unwrap();
        let error = refusal(store.with_tls_config(authority.trusted())).await;
        assert!(error.to_string().contains("certificate"), "{error}");
    });
}

/// Somebody in between could answer so, in order to read along.
#[test]
fn a_server_that_declines_tls_is_sent_nothing_else() {
    crate::each::run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut request = [0; 8];
            client.read_exact(&mut request).await.unwrap();
            client.write_all(b"N").await.unwrap();

            let mut rest = Vec::new();
            client.read_to_end(&mut rest).await.unwrap();
            rest
        });

        let url = format!("host=127.0.0.1 port={port} user=cogwork sslmode=prefer");
        let store = PostgresStore::new(&url).unwrap();
        let error = refusal(store.with_tls_config(Authority::new().trusted())).await;
        assert!(
            error.to_string().contains("does not support TLS"),
            "{error}"
        );
        assert!(server.await.unwrap().is_empty());
    });
}
