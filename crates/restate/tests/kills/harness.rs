//! Kills at random moments, while several runs are in progress.

use std::time::{Duration, Instant};

use cogwork_flow::Proceeded;
use cogwork_flow::engine::MemoryJournal;
use futures_util::future::join_all;

use crate::Result;
use crate::flow::{ANSWER, SHORT, Story, flow};
use crate::place::{ForkOf, Order, Place, Record};
use crate::tally::Tally;
use crate::witness::{Witness, random};

/// How many runs are in progress at least, at any time.
const RUNS: usize = 8;

/// How long everything may take after the last kill.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) struct Harness<P> {
    place: P,
    tally: Tally,
    /// The runs that haven't ended.
    open: Vec<Order>,
    runs: u64,
    forks: u64,
    /// The final state of a run that nobody killed.
    undisturbed: Story,
    last_error: String,
}

impl<P: Place> Harness<P> {
    pub(crate) async fn new(place: P, witness: Witness) -> Result<Self> {
        Ok(Self {
            place,
            tally: Tally::new(witness),
            open: Vec::new(),
            runs: 0,
            forks: 0,
            undisturbed: undisturbed().await?,
            last_error: String::new(),
        })
    }

    /// Returns whether no call was made twice, and none was lost.
    pub(crate) async fn kill(mut self, kills: u64) -> Result<bool> {
        let mut of_server = 0;
        for kill in 1..=kills {
            while self.open.len() < RUNS {
                self.begin(None).await?;
            }
            if P::FORKS && kill % 4 == 0 && self.open.len() < 2 * RUNS {
                let fork = self.fork();
                self.begin(fork).await?;
            }
            self.tend(moment()).await?;

            if kill % 20 == 10 && self.place.kill_server().await? {
                of_server += 1;
            } else {
                self.kill_workers(kill).await?;
            }
            self.look().await;
            if kill % 20 == 0 {
                eprintln!("kill {kill}: {} runs and {} forks", self.runs, self.forks);
            }
        }

        let began = Instant::now();
        while !self.open.is_empty() {
            if began.elapsed() > PATIENCE {
                let runs: Vec<_> = self.open.iter().map(|order| &order.run).collect();
                let error = &self.last_error;
                return Err(
                    format!("these runs don't end: {runs:?}; the last error: {error}").into(),
                );
            }
            self.tend(Duration::from_millis(100)).await?;
        }

        println!(
            "runs: {}, forks: {}, kills of the server: {of_server}",
            self.runs, self.forks
        );
        self.tally.print(kills)
    }

    /// Starts a run, or a fork.
    async fn begin(&mut self, fork: Option<ForkOf>) -> Result<()> {
        let number = self.runs + self.forks + 1;
        let (count, kind) = match fork {
            Some(_) => (&mut self.forks, "fork"),
            None => (&mut self.runs, "run"),
        };
        *count += 1;

        let order = Order {
            run: format!("{kind}-{number}"),
            fork,
            folds: number.is_multiple_of(4),
        };
        // Until a server that was killed is back.
        while self.place.order(&order).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.open.push(order);
        Ok(())
    }

    /// Chooses a run in progress to fork, and a place in it, if there is one. What a snapshot has replaced
    /// cannot be forked.
    fn fork(&self) -> Option<ForkOf> {
        let origins: Vec<_> = self.open.iter().filter(|order| !order.folds).collect();
        let index = usize::try_from(random()).unwrap_or_default();
        let origin = origins.get(index.checked_rem(origins.len())?)?;

        let steps = self.tally.steps(&origin.run);
        let step = random().checked_rem(steps)? + 1;
        Some(ForkOf {
            run: origin.run.clone(),
            step: Some(step).filter(|_| random().is_multiple_of(2)),
        })
    }

    /// Answers what waits for that long, and takes note of what has ended.
    async fn tend(&mut self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        loop {
            let tended = self.open.iter().map(|order| self.place.tend(&order.run));
            let tended = join_all(tended).await;
            let orders = std::mem::take(&mut self.open);
            for (order, tended) in orders.into_iter().zip(tended) {
                match tended {
                    Ok(Some(story)) => self.ended(&order, &story).await?,
                    Ok(None) => self.open.push(order),
                    Err(error) => {
                        // The server may be down, or the run in use.
                        self.last_error = error.to_string();
                        self.open.push(order);
                    }
                }
            }

            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            tokio::time::sleep(left.min(Duration::from_millis(20))).await;
        }
    }

    async fn ended(&mut self, order: &Order, story: &Story) -> Result<()> {
        let mut record = Record::new();
        for _ in 0..100 {
            record = self.place.record(&order.run).await.unwrap_or_default();
            if story
                .used
                .iter()
                .all(|made| record.contains_key(made.step()))
            {
                break;
            }
            // A server that was just started doesn't show all of it.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.tally
            .ended(&order.run, story, &self.undisturbed, record)
    }

    /// Kills a worker, and now and then all of them at once.
    async fn kill_workers(&mut self, kill: u64) -> Result<()> {
        let count = self.place.workers().len();
        let one = usize::try_from(kill)? % count;
        let victims = if kill.is_multiple_of(5) {
            0..count
        } else {
            one..one + 1
        };

        for worker in self
            .place
            .workers()
            .get_mut(victims.clone())
            .unwrap_or_default()
        {
            worker.kill()?;
        }
        // Answers also arrive while nobody is there.
        if random().is_multiple_of(2) {
            self.tend(Duration::ZERO).await?;
        }
        for worker in self.place.workers().get_mut(victims).unwrap_or_default() {
            worker.start_again()?;
        }
        Ok(())
    }

    /// Looks at what is on record, which must still be there later.
    async fn look(&mut self) {
        for order in &self.open {
            if let Ok(record) = self.place.record(&order.run).await {
                self.tally.look(&order.run, record);
            }
        }
    }
}

/// Returns when to kill: in the first milliseconds of a process, while it reads its runs, or later.
fn moment() -> Duration {
    let within = match random() % 3 {
        0 => 10_000,
        1 => 80_000,
        _ => 400_000,
    };
    Duration::from_micros(random() % within)
}

async fn undisturbed() -> Result<Story> {
    let folder = tempfile::tempdir()?;
    let flow = flow(&Witness::within(folder.path()))?;
    let mut run = flow.begin().with_journal(MemoryJournal::new("undisturbed"));
    let mut story = Story::default();

    loop {
        match run.proceed(&mut story).await? {
            Proceeded::Ended(_) => return Ok(story),
            Proceeded::Paused(paused) if paused.until.is_some() => tokio::time::sleep(SHORT).await,
            Proceeded::Paused(paused) => run.deliver(&paused.event, &ANSWER).await?,
        }
    }
}
