//! The service with tickets is killed at random while clients follow and a person answers. Each client
//! sees each event once and in order. `COGWORK_LONG_TESTS=1` kills it more often.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program;

const TICKETS: usize = 6;
const MOST_TIME: Duration = Duration::from_secs(180);

/// The service, which is started again after each kill. Its address changes.
pub(crate) struct Service {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Service {
    pub(crate) fn start(example: &str, store: &Path) -> Self {
        let mut command: Command = program::example(example);
        let mut process = command
            .arg(store)
            .arg("0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line.split(',').next().unwrap().trim();
        let address = address.trim_start_matches("http://").parse().unwrap();
        Self { process, address }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Where the service is now.
pub(crate) type Address = Arc<Mutex<SocketAddr>>;

pub(crate) fn send(address: &Address, request: &str) -> std::io::Result<TcpStream> {
    let address = *address.lock().unwrap();
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(request.as_bytes())?;
    Ok(stream)
}

/// Sends JSON, again and again until it is answered. Returns the status.
pub(crate) fn post(address: &Address, path: &str, body: &Value) -> u16 {
    let body = body.to_string();
    let length = body.len();
    let request = format!(
        "POST /api{path} HTTP/1.1\r\nHost: service\r\nConnection: close\r\nAuthorization: Bearer staff\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    loop {
        let mut answer = String::new();
        let sent = send(address, &request);
        let read = sent.and_then(|mut stream| stream.read_to_string(&mut answer));
        let status = answer.split(' ').nth(1).map(str::parse);
        if let (Ok(_), Some(Ok(status))) = (read, status) {
            return status;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The events that a client saw, with their ids.
type Seen = Vec<(String, Value)>;

/// Follows a ticket to its end. A client that loses the service comes back with the last id. A person
/// approves the ticket as soon as it waits.
fn follow(address: &Address, ticket: &str, seen: &mut Seen) {
    let last = seen.last().map_or("", |(id, _)| id);
    let request = format!(
        "GET /api/run/events?id={ticket} HTTP/1.1\r\nHost: service\r\nLast-Event-ID: {last}\r\n\r\n"
    );
    let Ok(stream) = send(address, &request) else {
        return;
    };

    let mut id = String::new();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        if let Some(next) = line.strip_prefix("id: ") {
            next.clone_into(&mut id);
        }
        let data = line.strip_prefix("data: ");
        let Some(data) = data.filter(|_| !id.is_empty()) else {
            continue;
        };
        // One that was cut off is complete the next time.
        let Ok(event) = serde_json::from_str(data) else {
            return;
        };
        seen.push((std::mem::take(&mut id), event));
        if is_end(seen) {
            return;
        }
    }
}

fn is_end(seen: &Seen) -> bool {
    seen.last()
        .is_some_and(|(_, event)| event["type"] == "ended")
}

fn client(address: &Address, number: usize) -> Seen {
    let ticket = format!("ticket-{number}");
    let input = json!({"customer": "Ada", "text": "My kettle leaks."});
    // The service may have been killed before it said that the ticket is there.
    let start = json!({"flow": "ticket", "id": ticket, "input": input});
    let started = post(address, "/runs", &start);
    assert_eq!(started, 200);

    let began = Instant::now();
    let mut seen = Seen::new();
    while !is_end(&seen) {
        assert!(began.elapsed() < MOST_TIME, "{ticket}: {seen:?}");
        follow(address, &ticket, &mut seen);
        thread::sleep(Duration::from_millis(20));
    }
    seen
}

/// Approves each ticket once it waits. The answer may be there already.
fn person(address: &Address, number: usize) {
    let body = json!({"id": format!("ticket-{number}"), "event": "approval", "answer": true});
    let began = Instant::now();
    while post(address, "/run/answers", &body) != 200 && began.elapsed() < MOST_TIME / 20 {
        thread::sleep(Duration::from_millis(50));
    }
}

fn is_killed_while_clients_follow(store: &Path, kills: u32) {
    let mut service = Service::start("tickets_service", store);
    let address = Address::new(Mutex::new(service.address));

    let mut all = Vec::new();
    let mut left = kills;
    let mut round = 0;
    while left > 0 {
        let tickets = round * TICKETS..(round + 1) * TICKETS;
        let clients: Vec<_> = tickets
            .clone()
            .flat_map(|number| [number; 2])
            .map(|number| {
                let address = Arc::clone(&address);
                thread::spawn(move || client(&address, number))
            })
            .collect();
        let people = tickets.map(|number| {
            let address = Arc::clone(&address);
            thread::spawn(move || person(&address, number))
        });
        let people: Vec<_> = people.collect();

        // A different moment each time: while tickets are drafted, wait, are answered or sent.
        for kill in 0..left.min(5) {
            let moment = (kill * 97 + left * 41) % 400;
            thread::sleep(Duration::from_millis(u64::from(moment) + 30));
            service.kill();
            service = Service::start("tickets_service", store);
            *address.lock().unwrap() = service.address;
        }
        left -= left.min(5);
        round += 1;

        for person in people {
            person.join().unwrap();
        }
        all.extend(clients.into_iter().map(|client| client.join().unwrap()));
    }

    // Each ticket has one story, in this order, and both of its clients saw all of it.
    for seen in all {
        let types = seen
            .iter()
            .map(|(_, event)| event["type"].as_str().unwrap());
        let types: Vec<_> = types.collect();
        let expected = [
            "phase_finished",
            "paused",
            "phase_finished",
            "phase_finished",
            "ended",
        ];
        assert_eq!(types, expected, "{seen:?}");
        let (_, end) = seen.last().unwrap();
        let answer = end["answer"].as_str().unwrap();
        assert!(answer.starts_with("Dear Ada,"), "{answer}");
    }
    service.kill();
}

fn kills() -> u32 {
    match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 25,
        None => 4,
    }
}

#[test]
fn over_a_folder_each_client_sees_each_event_once() {
    let folder = tempfile::tempdir().unwrap();
    is_killed_while_clients_follow(&folder.path().join("tickets"), kills());
}

#[test]
fn over_a_database_each_client_sees_each_event_once() {
    let folder = tempfile::tempdir().unwrap();
    is_killed_while_clients_follow(&folder.path().join("tickets.db"), kills());
}
