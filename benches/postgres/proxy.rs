//! Counts what passes between clients and the server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_benches::BoxError;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// The name of the socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// A socket whose messages are passed on.
pub(crate) struct Proxy {
    folder: TempDir,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    round_trips: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

/// What was counted.
#[derive(Clone, Copy)]
pub(crate) struct Traffic {
    /// How often a client wrote something after an answer.
    pub(crate) round_trips: u64,
    /// Bytes to the server.
    pub(crate) sent: u64,
    /// Bytes from the server.
    pub(crate) received: u64,
}

impl Proxy {
    pub(crate) fn start(server: &Path) -> Result<Self, BoxError> {
        let folder = tempfile::tempdir()?;
        let listener = UnixListener::bind(folder.path().join(SOCKET))?;
        let counts = Arc::<Counts>::default();
        tokio::spawn(accept(listener, server.join(SOCKET), Arc::clone(&counts)));
        Ok(Self { folder, counts })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            round_trips: count(&self.counts.round_trips),
            sent: count(&self.counts.sent),
            received: count(&self.counts.received),
        }
    }
}

async fn accept(listener: UnixListener, server: PathBuf, counts: Arc<Counts>) {
    while let Ok((client, _)) = listener.accept().await {
        let counts = Arc::clone(&counts);
        let server = server.clone();
        tokio::spawn(async move {
            // Ends with an error when either side closes the connection.
            let _ = pass_on(client, &server, &counts).await;
        });
    }
}

async fn pass_on(mut client: UnixStream, server: &Path, counts: &Counts) -> std::io::Result<()> {
    let mut server = UnixStream::connect(server).await?;
    let mut request = vec![0; 65_536];
    let mut answer = vec![0; 65_536];
    let mut is_answered = true;

    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let bytes = part(&request, read?)?;
                counts.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                if is_answered {
                    counts.round_trips.fetch_add(1, Ordering::Relaxed);
                }
                is_answered = false;
                server.write_all(bytes).await?;
            }
            read = server.read(&mut answer) => {
                let bytes = part(&answer, read?)?;
                counts.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                is_answered = true;
                client.write_all(bytes).await?;
            }
        }
    }
}

/// Returns what was read. An end of the stream is an error.
fn part(buffer: &[u8], read: usize) -> std::io::Result<&[u8]> {
    let bytes = buffer.get(..read).filter(|bytes| !bytes.is_empty());
    bytes.ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}
