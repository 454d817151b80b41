//! A process, as the lease protocol sees it: messages to the database may be late or lost, the clock is
//! wrong, and the process may be suspended or die at any time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::model::{Claimed, Line, Model, RowState, Status, Taker, Time};
use crate::mutex::lock;
use crate::protocol::server::Clock;
use crate::protocol::{Delays, Durations, Held, Lease, Leases, Server, Verdict, Written};
use crate::world::World;

pub(crate) const LEASE: Duration = Duration::from_secs(30);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) world: Arc<World>,
    pub(crate) leases: Leases<Self>,
    pub(crate) life: Arc<Life>,
    /// The last lease on each run.
    newest: Mutex<HashMap<i64, i64>>,
    rate: f64,
}

/// Whether a process goes on.
#[derive(Default)]
pub(crate) struct Life(Mutex<LifeState>);

#[derive(Default)]
struct LifeState {
    is_dead: bool,
    suspended_until: Option<Instant>,
}

impl Life {
    pub(crate) fn end(&self) {
        lock(&self.0).is_dead = true;
    }

    pub(crate) fn suspend(&self, duration: Duration) {
        lock(&self.0).suspended_until = Some(Instant::now() + duration);
    }

    /// Waits while the process is suspended, and forever if it is dead. A process does nothing without
    /// passing here.
    pub(crate) async fn goes_on(&self) {
        loop {
            let state = {
                let state = lock(&self.0);
                (state.is_dead, state.suspended_until)
            };

            match state {
                (true, _) => std::future::pending().await,
                (false, Some(until)) if until > Instant::now() => {
                    tokio::time::sleep_until(until).await;
                }
                _ => return,
            }
        }
    }
}

/// The server didn't answer.
#[derive(Debug)]
pub(crate) struct NoAnswer;

/// A change of a run: one step, and the end of the run if it is the last one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) held: Held,
    pub(crate) row: RowState,
    /// The number of lines before that.
    pub(crate) before: usize,
    pub(crate) line: Line,
    pub(crate) ends: bool,
    /// Whether all earlier lines are replaced with this one.
    pub(crate) folds: bool,
}

impl Change {
    fn is_append(&self) -> bool {
        !self.ends && !self.folds && !self.row.has_failures
    }

    /// The number of lines after that.
    pub(crate) fn after(&self) -> usize {
        if self.folds { 1 } else { self.before + 1 }
    }

    pub(crate) fn row_after(&self) -> RowState {
        RowState {
            version: self.row.version + i64::from(!self.is_append()),
            has_failures: false,
        }
    }

    fn execute(&self, model: &mut Model) -> Written {
        let version = self.row.version;
        if self.is_append() {
            return model.append(self.held, version, self.before, self.line);
        }

        model.edit(self.held, version, |row| {
            if self.folds {
                row.folded.append(&mut row.lines);
            }
            row.lines.push(self.line);
            if self.ends {
                row.status = Status::Ended;
            }
        })
    }
}

impl Process {
    pub(crate) fn start(world: &Arc<World>, name: String) -> Arc<Self> {
        // From half as fast as the clock of the database to twice as fast.
        let rate = 2.0_f64.powf(world.random() * 2.0 - 1.0);

        Arc::new_cyclic(|this| Self {
            name,
            world: Arc::clone(world),
            leases: Leases::new(this.clone()),
            life: Arc::default(),
            newest: Mutex::default(),
            rate,
        })
    }

    pub(crate) fn keep(self: &Arc<Self>, held: Held) -> Lease<Self> {
        lock(&self.newest).insert(held.key, held.fence);
        self.leases.keep(self, held)
    }

    /// Returns whether this process has taken the run again, with another lease.
    pub(crate) fn has_newer(&self, held: Held) -> bool {
        lock(&self.newest)[&held.key] != held.fence
    }

    /// Executes something in the database, and returns the answer if it arrives in time. What wasn't
    /// answered may have been executed, or may still be.
    pub(crate) async fn request<T: Send + 'static>(
        &self,
        execute: impl FnOnce(&mut Model, Time) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.life.goes_on().await;

        let (answer, answered) = oneshot::channel();
        let message = Message::new(&self.world);
        let world = Arc::clone(&self.world);
        tokio::spawn(async move {
            if let Some(done) = message.deliver(&world, execute).await {
                let _ = answer.send(done);
            }
        });
        let answered = tokio::time::timeout(STATEMENT_TIMEOUT, answered).await;

        self.life.goes_on().await;
        match answered {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) | Err(_) => Err(NoAnswer),
        }
    }

    fn taker(name: &str) -> Taker<'_> {
        Taker {
            worker: name,
            lease: LEASE,
        }
    }
}

/// What happens to a request and its answer.
struct Message {
    there: Duration,
    back: Duration,
    is_lost: bool,
    is_answer_lost: bool,
}

impl Message {
    fn new(world: &World) -> Self {
        // One in a hundred takes up to two leases.
        let seconds = if world.happens(0.01) { 60.0 } else { 0.05 };
        let message = Self {
            there: world.within(seconds),
            back: world.within(0.05),
            is_lost: world.happens(0.005),
            is_answer_lost: world.happens(0.01),
        };

        let is_lost = message.is_lost || message.is_answer_lost;
        world.count(|seen| {
            seen.requests += 1;
            seen.lost_messages += u64::from(is_lost);
        });
        message
    }

    /// Returns `None` if there is no answer, because a message was lost or the server was restarted.
    async fn deliver<T>(
        self,
        world: &World,
        execute: impl FnOnce(&mut Model, Time) -> T,
    ) -> Option<T> {
        let restarts = lock(&world.network).restarts;
        tokio::time::sleep(self.there).await;
        if self.is_lost || !is_up(&lock(&world.network), world.now(), restarts) {
            return None;
        }

        let done = execute(&mut lock(&world.database), world.now());

        tokio::time::sleep(self.back).await;
        let is_up = is_up(&lock(&world.network), world.now(), restarts);
        (is_up && !self.is_answer_lost).then_some(done)
    }
}

fn is_up(network: &MutexGuard<'_, crate::world::Network>, now: Time, restarts: u64) -> bool {
    network.restarts == restarts && network.down_until <= now
}

/// A clock that is too fast or too slow, and jumps.
pub(crate) struct WrongClock {
    world: Arc<World>,
    life: Arc<Life>,
    rate: f64,
}

#[async_trait]
impl Clock for WrongClock {
    fn now(&self) -> Instant {
        let elapsed = self.world.started.elapsed().mul_f64(self.rate);
        let jump = if self.world.happens(0.02) {
            self.world.within(600.0)
        } else {
            Duration::ZERO
        };

        self.world.started + elapsed + jump
    }

    async fn sleep(&self, duration: Duration) {
        let real = duration.div_f64(self.rate);

        // While it sleeps, the clock may jump forwards or backwards.
        let real = if self.world.happens(0.02) {
            real.mul_f64(self.world.random() * 4.0)
        } else {
            real
        };

        tokio::time::sleep(real).await;
        self.life.goes_on().await;
    }
}

#[async_trait]
impl Server for Process {
    type Error = NoAnswer;
    type Wanted = ();
    type Claimed = Claimed;
    type Change = Change;
    type Clock = WrongClock;

    fn clock(&self) -> WrongClock {
        WrongClock {
            world: Arc::clone(&self.world),
            life: Arc::clone(&self.life),
            rate: self.rate,
        }
    }

    fn durations(&self) -> Durations {
        Durations {
            lease: LEASE,
            patience: LEASE,
        }
    }

    fn delays(&self) -> Delays {
        let delays = (0..6).map(|power| Duration::from_millis(50 << power));
        Box::new(delays.chain(std::iter::repeat(Duration::from_secs(1))))
    }

    fn is_passing(_: &NoAnswer) -> bool {
        true
    }

    async fn wake_due(&self) -> Result<Option<f64>, NoAnswer> {
        let woken = self.request(|model, now| {
            model.wake_due(now);
            model.next_due(now)
        });
        woken.await
    }

    async fn claim(&self, (): &(), most: usize) -> Result<Vec<Claimed>, NoAnswer> {
        let name = self.name.clone();
        let world = Arc::clone(&self.world);
        let claimed = self.request(move |model, now| {
            let taker = Self::taker(&name);
            let Some(limits) = world.scale.limits else {
                return model.claim(taker, most, now);
            };

            let claimed = model.claim_limited(taker, most, limits, now);
            world.check_limits(model, limits);
            claimed
        });
        claimed.await
    }

    async fn renew(&self, leases: &[Held]) -> Result<Vec<i64>, NoAnswer> {
        let leases = leases.to_vec();
        let renewed = self.request(move |model, now| model.renew(&leases, LEASE, now));
        renewed.await
    }

    async fn release(&self, lease: Held, verdict: &Verdict) -> Result<(), NoAnswer> {
        let verdict = verdict.clone();
        let released = self.request(move |model, now| model.release(lease, &verdict, now));
        released.await
    }

    async fn write(&self, change: &Change) -> Result<Written, NoAnswer> {
        let world = Arc::clone(&self.world);
        let change = *change;

        let written = self.request(move |model, _| {
            let written = change.execute(model);
            if written == Written::Yes {
                world.check_write(model, &change);
            }
            written
        });
        written.await
    }

    async fn is_written(&self, change: &Change) -> Result<bool, NoAnswer> {
        let held = change.held;
        let after = change.after();
        let version = change.row_after().version;
        let written = self.request(move |model, _| model.is_written(held, version, after));
        written.await
    }
}
