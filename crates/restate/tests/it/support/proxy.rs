//! A proxy between the server and a worker, for networks that are cut or slow.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) struct Proxy {
    pub(crate) port: u16,
    network: Arc<watch::Sender<Network>>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Copy, PartialEq)]
enum Network {
    Works,
    /// Each piece of data arrives this much later.
    Slow(Duration),
    /// Connections are closed, and no new ones are accepted.
    Cut,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let network = Arc::new(watch::Sender::new(Network::Works));

        let watched = Arc::clone(&network);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let network = watched.subscribe();
                tokio::spawn(connect(client, port, network));
            }
        });

        Self {
            port: own,
            network,
            accepting,
        }
    }

    pub(crate) fn cut(&self) {
        self.network.send_replace(Network::Cut);
    }

    pub(crate) fn slow(&self, delay: Duration) {
        self.network.send_replace(Network::Slow(delay));
    }

    pub(crate) fn mend(&self) {
        self.network.send_replace(Network::Works);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn connect(client: TcpStream, port: u16, network: watch::Receiver<Network>) {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let Ok(worker) = TcpStream::connect(address).await else {
        return;
    };

    let (from_client, to_client) = client.into_split();
    let (from_worker, to_worker) = worker.into_split();
    let mut cut = network.clone();
    tokio::select! {
        () = copy(from_client, to_worker, network.clone()) => {}
        () = copy(from_worker, to_client, network) => {}
        _ = cut.wait_for(|network| *network == Network::Cut) => {}
    }
}

async fn copy(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    network: watch::Receiver<Network>,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let delay = match *network.borrow() {
            Network::Slow(delay) => delay,
            Network::Works | Network::Cut => Duration::ZERO,
        };
        tokio::time::sleep(delay).await;

        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
