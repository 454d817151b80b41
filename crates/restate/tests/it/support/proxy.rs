//! A proxy between the server and a worker, for networks that are cut.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub(crate) struct Proxy {
    pub(crate) port: u16,
    network: Arc<watch::Sender<Network>>,
    cut_off: Arc<Notify>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Copy, PartialEq)]
enum Network {
    Works,
    /// Connections are closed towards the server, and no new ones are accepted. The worker isn't told, and
    /// hears nothing more.
    HalfCut,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let network = Arc::new(watch::Sender::new(Network::Works));

        let cut_off = Arc::new(Notify::new());
        let watched = Arc::clone(&network);
        let notified = Arc::clone(&cut_off);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let network = watched.subscribe();
                tokio::spawn(connect(client, port, network, Arc::clone(&notified)));
            }
        });

        Self {
            port: own,
            network,
            cut_off,
            accepting,
        }
    }

    /// Cuts the connections so that only the server notices. Later ones work.
    pub(crate) async fn cut_unnoticed(&self) {
        self.network.send_replace(Network::HalfCut);
        self.cut_off.notified().await;
        self.mend();
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

async fn connect(
    client: TcpStream,
    port: u16,
    network: watch::Receiver<Network>,
    cut_off: Arc<Notify>,
) {
    if *network.borrow() == Network::HalfCut {
        return;
    }

    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let Ok(mut worker) = TcpStream::connect(address).await else {
        return;
    };

    {
        let (from_client, to_client) = client.into_split();
        let (from_worker, to_worker) = worker.split();
        let mut cut = network;
        let is_cut = |network: &Network| *network == Network::HalfCut;
        let half = tokio::select! {
            () = copy(from_client, to_worker) => false,
            () = copy(from_worker, to_client) => false,
            cut = cut.wait_for(is_cut) => cut.is_ok(),
        };
        if !half {
            return;
        }
    }

    cut_off.notify_one();
    // Takes what the worker sends, until the worker closes the connection.
    let mut lost = tokio::io::sink();
    let _ = tokio::io::copy(&mut worker, &mut lost).await;
}

async fn copy(mut from: impl AsyncReadExt + Unpin, mut to: impl AsyncWriteExt + Unpin) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
