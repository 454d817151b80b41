//! Many items and several branches: a batch with a retry for each item, a flow with a loop over
//! each item, two branches that run in parallel and are joined, and the error of an item that
//! fails.
//!
//! ```text
//! harbour  13.9°  █████████████      calls: 1, readings: 5
//! ridge     9.7°  █████████          calls: 2, readings: 4
//! forest   12.0°  ████████████       calls: 1, readings: 5
//! summit   12.0°  ████████████       calls: 3, readings: 5
//! lake      7.8°  ███████            calls: 1, readings: 4
//! vineyard 15.9°  ███████████████    calls: 1, readings: 5
//! warmest: vineyard, mean: 11.9°
//! 33 steps, at most 3 calls at a time
//!
//! with a wreck among them:
//! flow `survey`, node `wake`, item 2: exec failed after 3 attempts: wreck does not answer call 3
//! item: Some(2), attempts: Some(3)
//! stations changed: 0
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cogwork::flow::{
    Action, Backoff, Batch, Branches, BuildError, Each, Flow, Node, from_exec_with, from_fn,
    from_phases,
};
use serde::{Deserialize, Serialize};

/// The state: stations, and the results.
#[derive(Default)]
struct Survey {
    stations: Vec<Station>,
    chart: String,
    summary: String,
}

/// An item with its own state.
#[derive(Clone, Serialize, Deserialize)]
struct Station {
    name: String,
    /// The number of calls until it answered.
    calls: u32,
    /// Temperatures in tenths of a degree.
    readings: Vec<i32>,
}

impl Station {
    fn last(&self) -> i32 {
        self.readings.last().copied().unwrap_or_default()
    }
}

/// Remote stations. Some only answer the second or third call, and one never answers.
#[derive(Clone, Default)]
struct Radio(Arc<Mutex<Traffic>>);

#[derive(Default)]
struct Traffic {
    calls: HashMap<String, u32>,
    talking: usize,
    most_talking: usize,
}

impl Radio {
    async fn call(&self, name: String) -> Result<u32, String> {
        let calls = self.traffic(|traffic| {
            traffic.talking += 1;
            traffic.most_talking = traffic.most_talking.max(traffic.talking);
            let calls = traffic.calls.entry(name.clone()).or_default();
            *calls += 1;

            *calls
        });

        tokio::time::sleep(Duration::from_millis(5)).await;
        self.traffic(|traffic| traffic.talking -= 1);
        let needed = match name.as_str() {
            "summit" => 3,
            "ridge" => 2,
            "wreck" => u32::MAX,
            _ => 1,
        };

        if calls < needed {
            Err(format!("{name} does not answer call {calls}"))
        } else {
            Ok(calls)
        }
    }

    fn traffic<T>(&self, look: impl FnOnce(&mut Traffic) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Calls a station, at most three times. Each item is retried separately.
fn wake(radio: &Radio) -> impl Node<String, Exec = u32> + use<> {
    from_exec_with(radio.clone(), async |radio, name| radio.call(name).await)
        .retry(Backoff::fixed::<3>(Duration::from_millis(1)))
}

/// A flow over one station that measures until two readings agree.
fn settle() -> Result<Flow<Station>, Box<dyn Error>> {
    let measure = from_phases(
        |station: &mut Station| (station.name.len() as i32, station.readings.len() as u32),
        // The reading gets closer to the true value each time.
        |(seed, count)| async move { Ok::<_, String>(20 * seed - (seed * 40) / 4_i32.pow(count)) },
        |station, reading| {
            let steady = station
                .readings
                .last()
                .is_some_and(|last| (reading - last).abs() <= 10);
            station.readings.push(reading);
            Action::from_static(if steady { "steady" } else { "again" })
        },
    )
    .with_actions(["again", "steady"]);

    let flow = Flow::builder("settle")
        .start("measure")
        .node("measure", measure)
        .edge("measure", "again", "measure")
        .end("measure", "steady")
        .build()?;

    Ok(flow)
}

/// The state of a branch: the stations, and a text about them.
type Part = (Vec<Station>, String);

fn branch(name: &str, write: fn(&[Station]) -> String) -> Result<Flow<Part>, BuildError> {
    let write = from_fn(move |(stations, text): &mut Part| *text = write(stations));
    Flow::from_node(name, write)
}

fn chart(stations: &[Station]) -> String {
    let line = |station: &Station| {
        let Station {
            name,
            calls,
            readings,
        } = station;

        let degrees = f64::from(station.last()) / 10.0;
        let bar = "█".repeat(usize::try_from(station.last() / 10).unwrap_or_default());
        format!(
            "{name:<8} {degrees:>4.1}°  {bar:<18} calls: {calls}, readings: {}\n",
            readings.len()
        )
    };
    stations.iter().map(line).collect()
}

fn summary(stations: &[Station]) -> String {
    let warmest = stations.iter().max_by_key(|station| station.last());
    let mean =
        f64::from(stations.iter().map(Station::last).sum::<i32>()) / 10.0 / stations.len() as f64;
    format!(
        "warmest: {}, mean: {mean:.1}°",
        warmest.map_or("none", |station| &station.name)
    )
}

fn survey(radio: &Radio) -> Result<Flow<Survey>, Box<dyn Error>> {
    let part = |survey: &Survey| (survey.stations.clone(), String::new());
    let names = |survey: &Survey| {
        survey
            .stations
            .iter()
            .map(|station| station.name.clone())
            .collect::<Vec<_>>()
    };
    let flow = Flow::builder("survey")
        .batch(
            "wake",
            Batch::at_most(3, wake(radio), names, |survey, calls| {
                for (station, calls) in survey.stations.iter_mut().zip(calls) {
                    station.calls = calls;
                }
            }),
        )
        .each(
            "settle",
            Each::at_most(
                2,
                settle()?,
                |survey: &Survey| survey.stations.clone(),
                |survey, stations| survey.stations = stations,
            ),
        )
        .branches(
            "report",
            Branches::new()
                .branch(
                    "chart",
                    branch("chart", chart)?,
                    part,
                    |survey, (_, text)| survey.chart = text,
                )
                .branch(
                    "summary",
                    branch("summary", summary)?,
                    part,
                    |survey, (_, text)| survey.summary = text,
                ),
        )
        .chain(["wake", "settle", "report"])
        .build()?;

    Ok(flow)
}

fn of(names: &[&str]) -> Survey {
    let station = |name: &&str| Station {
        name: (*name).to_owned(),
        calls: 0,
        readings: Vec::new(),
    };
    Survey {
        stations: names.iter().map(station).collect(),
        ..Survey::default()
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let radio = Radio::default();
    let flow = survey(&radio)?;

    let mut whole = of(&["harbour", "ridge", "forest", "summit", "lake", "vineyard"]);
    let ended = flow.run(&mut whole).await?;
    print!("{}", whole.chart);
    println!("{}", whole.summary);
    println!(
        "{} steps, at most {} calls at a time",
        ended.steps,
        radio.traffic(|traffic| traffic.most_talking)
    );

    // One station never answers. The other calls are dropped, and the state is not partly changed.
    println!("\nwith a wreck among them:");
    let mut broken = of(&["harbour", "lake", "wreck", "forest", "vineyard"]);
    let error = flow
        .run(&mut broken)
        .await
        .err()
        .ok_or("the wreck answered")?;

    println!("{error}");
    println!("item: {:?}, attempts: {:?}", error.item(), error.attempts());
    println!(
        "stations changed: {}",
        broken
            .stations
            .iter()
            .filter(|station| station.calls > 0)
            .count()
    );

    Ok(())
}
