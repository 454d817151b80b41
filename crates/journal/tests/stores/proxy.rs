//! A network between a store and the server, which fails on request.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::server::url;

/// What a proxy does with connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Works,
    /// Nothing arrives any more, and connections stay open.
    Hangs,
    /// Connections are closed, and no new ones are accepted.
    IsCut,
    /// Everything arrives later.
    IsSlow,
}

/// A socket between a store and the server.
pub(crate) struct Proxy {
    folder: tempfile::TempDir,
    network: watch::Sender<Network>,
    /// The number of connections so far.
    connections: watch::Receiver<u32>,
}

impl Proxy {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (network, state) = watch::channel(Network::Works);
        let (count, connections) = watch::channel(0);
        let socket = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        tokio::spawn(accept(socket, state, count));
        Self {
            folder,
            network,
            connections,
        }
    }

    /// Waits for this many further connections.
    pub(crate) async fn connected(&self, times: u32) {
        let mut connections = self.connections.clone();
        let before = *connections.borrow();
        let all = connections.wait_for(|count| *count >= before + times);
        all.await.unwrap();
    }

    /// The connection string of the tests, but through this socket.
    pub(crate) fn url(&self) -> String {
        let server = server_socket();
        let host = server.parent().unwrap().display().to_string();
        let folder = self.folder.path().display().to_string();
        url().unwrap().replace(&host, &folder)
    }

    pub(crate) fn set(&self, network: Network) {
        self.network.send_replace(network);
    }
}

fn server_socket() -> PathBuf {
    let config: tokio_postgres::Config = url().unwrap().parse().unwrap();
    let tokio_postgres::config::Host::Unix(host) = &config.get_hosts()[0] else {
        unreachable!("the server of the tests listens on a socket");
    };
    host.join(".s.PGSQL.5432")
}

async fn accept(socket: UnixListener, state: watch::Receiver<Network>, count: watch::Sender<u32>) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = socket.accept().await.unwrap();
        count.send_modify(|count| *count += 1);
        connections.spawn(pass(client, state.clone()));
    }
}

/// Passes bytes in both directions for as long as the network works.
async fn pass(mut client: UnixStream, mut state: watch::Receiver<Network>) -> io::Result<()> {
    let mut server = UnixStream::connect(server_socket()).await?;

    loop {
        let now = *state.borrow_and_update();
        match now {
            Network::IsCut => return Ok(()),
            Network::Hangs => drop(state.changed().await),
            Network::Works => tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut client, &mut server) => return Ok(()),
                _ = state.changed() => {}
            },
            Network::IsSlow => tokio::select! {
                _ = copy_slowly(&mut client, &mut server) => return Ok(()),
                _ = state.changed() => {}
            },
        }
    }
}

/// Passes on whatever arrives, a while later.
async fn copy_slowly(client: &mut UnixStream, server: &mut UnixStream) -> io::Result<()> {
    let mut to_server = vec![0; 8_192];
    let mut to_client = vec![0; 8_192];

    loop {
        tokio::select! {
            read = client.read(&mut to_server) => pass_on(read?, &to_server, server).await?,
            read = server.read(&mut to_client) => pass_on(read?, &to_client, client).await?,
        }
    }
}

async fn pass_on(length: usize, bytes: &[u8], to: &mut UnixStream) -> io::Result<()> {
    if length == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }

    tokio::time::sleep(Duration::from_millis(30)).await;
    to.write_all(&bytes[..length]).await
}
