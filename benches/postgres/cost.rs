//! The cost of a step other than time: round trips, bytes, and processor time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cogwork_benches::{BoxError, print};
use tokio_postgres::Client;

use crate::Server;
use crate::proxy::{Proxy, Traffic};
use crate::steps::{Bench, Work};

const STEPS: u32 = 500;

/// Counts during many steps of each kind.
pub(crate) async fn measure(server: &Server, bytes: usize) -> Result<(), BoxError> {
    let Some(folder) = server.folder() else {
        print("costs", "not counted, because the server has no socket");
        return Ok(());
    };

    let direct = server.connect().await?;
    let postmaster = postmaster(&direct).await;
    let proxy = Proxy::start(&folder)?;
    let host = proxy.folder().display();
    let user = server.config.get_user().unwrap_or("postgres");
    let database = server.config.get_dbname().unwrap_or(user);
    let counted = Server::new(format!("host={host} user={user} dbname={database}"))?;
    let mut bench = Bench::new(&counted, bytes).await?;

    for work in bench.works() {
        // Connections are opened and statements prepared before.
        bench.execute(work, 10).await?;
        let client = match (work, &bench.peer) {
            (Work::Save(_), Some(peer)) => peer.pid(),
            _ => std::process::id(),
        };

        let before = Counted::now(&direct, &proxy, client, postmaster).await?;
        bench.execute(work, STEPS).await?;
        let after = Counted::now(&direct, &proxy, client, postmaster).await?;
        let name = format!("{bytes} bytes: {}", work.name());
        print(&name, after.since(&before));
    }
    Ok(())
}

struct Counted {
    traffic: Traffic,
    /// Bytes in the server's log, which is what it writes for each commit.
    log: i64,
    client: Duration,
    server: Option<Duration>,
}

impl Counted {
    async fn now(
        direct: &Client,
        proxy: &Proxy,
        client: u32,
        postmaster: Option<u32>,
    ) -> Result<Self, BoxError> {
        let log = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
        Ok(Self {
            traffic: proxy.traffic(),
            log: direct.query_one(log, &[]).await?.get(0),
            client: processor_time(client).unwrap_or_default(),
            server: postmaster.map(processor_time_of_children),
        })
    }

    /// Returns what one step costs.
    fn since(&self, before: &Self) -> String {
        let each = |count: u64| count as f64 / f64::from(STEPS);
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(STEPS);
        let round_trips = each(self.traffic.round_trips - before.traffic.round_trips);
        let sent = each(self.traffic.sent - before.traffic.sent);
        let received = each(self.traffic.received - before.traffic.received);
        let log = each(u64::try_from(self.log - before.log).unwrap_or_default());
        let client = micros(self.client.saturating_sub(before.client));
        let server = match (self.server, before.server) {
            (Some(after), Some(before)) => {
                format!("{:.0} µs", micros(after.saturating_sub(before)))
            }
            _ => "?".to_owned(),
        };

        format!(
            "{round_trips:.2} round trips, {sent:.0} bytes sent, {received:.0} received, {log:.0} written to \
             the log; processor: {client:.0} µs client, {server} server"
        )
    }
}

/// Returns the process id of the server, if it may be read.
async fn postmaster(direct: &Client) -> Option<u32> {
    let folder = direct.query_one("SHOW data_directory", &[]).await.ok()?;
    let file = Path::new(folder.get::<_, &str>(0)).join("postmaster.pid");
    fs::read_to_string(file).ok()?.lines().next()?.parse().ok()
}

/// Returns how long a process has used a processor, if this system has `/proc`.
fn processor_time(pid: u32) -> Option<Duration> {
    Some(Process::read(pid)?.time)
}

fn processor_time_of_children(parent: u32) -> Duration {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children = pids
        .filter_map(Process::read)
        .filter(|process| process.parent == parent);
    children.map(|process| process.time).sum()
}

struct Process {
    parent: u32,
    time: Duration,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;

        // The name of the program may contain spaces, but ends with the last bracket.
        let (_, fields) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();

        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            time: Duration::from_millis((ticks(11)? + ticks(12)?) * MILLIS_PER_TICK),
        })
    }
}

/// On all common systems with `/proc`.
const MILLIS_PER_TICK: u64 = 10;
