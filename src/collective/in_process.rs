//! Members as threads of one process: messages change hands, nothing is copied.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::transport::{Carries, Header, Message, Part, Transport};
use crate::backend::PlainBackend;
use crate::error::Error;

/// The transport between threads of one process.
pub struct InProcess(End<StdMonitor<State>>);

impl InProcess {
    /// The ends of a group of `size` members, by rank.
    pub fn open(size: usize) -> Vec<InProcess> {
        End::open(size).into_iter().map(InProcess).collect()
    }
}

impl<B: PlainBackend> Carries<B> for InProcess {}

impl Transport for InProcess {
    fn rank(&self) -> usize {
        self.0.rank
    }
    fn size(&self) -> usize {
        self.0.size
    }
    fn post(&self, round: u64, message: Message) -> Result<(), Error> {
        self.0.post(round, message)
    }
    fn is_ready(&self, round: u64) -> bool {
        self.0.is_ready(round)
    }
    fn collect(&self, round: u64, timeout: Duration) -> Result<Vec<Vec<Part>>, Error> {
        self.0.collect(round, timeout)
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InProcess(rank {} of {})", self.0.rank, self.0.size)
    }
}

/// One member's end; `M` is what the members meet at.
struct End<M: Monitor<State>> {
    rank: usize,
    size: usize,
    meeting: Arc<M>,
}

impl<M: Monitor<State>> End<M> {
    fn open(size: usize) -> Vec<Self> {
        let meeting = Arc::new(M::new(State::new(size)));
        let end = |rank| End {
            rank,
            size,
            meeting: meeting.clone(),
        };
        (0..size).map(end).collect()
    }

    fn post(&self, round: u64, message: Message) -> Result<(), Error> {
        self.meeting.update(|state| state.post(self.rank, round, message))
    }

    fn is_ready(&self, round: u64) -> bool {
        self.meeting.look(|state| state.is_ready(round))
    }

    fn collect(&self, round: u64, timeout: Duration) -> Result<Vec<Vec<Part>>, Error> {
        self.meeting
            .wait_for(timeout, |state| state.collect(self.rank, round))
            .unwrap_or_else(|| self.meeting.update(|state| Err(state.time_out(round, timeout))))
    }
}

impl<M: Monitor<State>> Drop for End<M> {
    fn drop(&mut self) {
        let how = if thread::panicking() {
            "panicked"
        } else {
            "left the group"
        };
        self.meeting.update(|state| state.leave(self.rank, how));
    }
}

/// What the members of a group share.
struct State {
    rounds: BTreeMap<u64, Round>,
    /// How each member went, if it did.
    gone: Vec<Option<&'static str>>,
    /// The first fault; after it, no round completes any more.
    fault: Option<Error>,
}

struct Round {
    messages: Vec<Option<Message>>,
    /// Every member has posted, and all headers are alike.
    agreed: bool,
    collected: usize,
}

impl State {
    fn new(size: usize) -> Self {
        State {
            rounds: BTreeMap::new(),
            gone: vec![None; size],
            fault: None,
        }
    }

    fn post(&mut self, rank: usize, round: u64, message: Message) -> Result<(), Error> {
        self.intact()?;
        let size = self.gone.len();
        let round = self.rounds.entry(round).or_insert_with(|| Round {
            messages: vec![None; size],
            agreed: false,
            collected: 0,
        });
        round.messages[rank] = Some(message);
        let headers: Vec<&Header> = round.headers().flatten().collect();
        if headers.len() == size {
            match Header::odd_one_out(&headers) {
                None => round.agreed = true,
                Some(error) => self.fault = Some(error),
            }
        } else if let Some((absent, how)) = (0..size).find_map(|absent| {
            let how = self.gone[absent]?;
            round.messages[absent].is_none().then_some((absent, how))
        }) {
            self.fault = Some(round.fault(absent, how));
        }
        self.intact()
    }

    fn is_ready(&self, round: u64) -> bool {
        self.fault.is_some() || self.rounds.get(&round).is_some_and(|round| round.agreed)
    }

    /// What was posted for `rank`, or the fault, if it is decided. A round that was complete before the fault counts.
    fn collect(&mut self, rank: usize, number: u64) -> Option<Result<Vec<Vec<Part>>, Error>> {
        match self.rounds.get_mut(&number) {
            Some(round) if round.agreed => {
                let messages = round.messages.iter_mut().flatten();
                let parts = messages
                    .map(|message| std::mem::take(&mut message.parts[rank]))
                    .collect();
                round.collected += 1;
                if round.collected == self.gone.len() {
                    self.rounds.remove(&number);
                }
                Some(Ok(parts))
            }
            _ => self.fault.clone().map(Err),
        }
    }

    fn time_out(&mut self, number: u64, timeout: Duration) -> Error {
        let fault = match self.rounds.get(&number) {
            Some(round) => {
                let absent = round.messages.iter().position(Option::is_none);
                let late = format!("did not take part within {timeout:?}");
                absent.map(|absent| round.fault(absent, &late))
            }
            None => None,
        };
        let fault = fault
            .unwrap_or_else(|| Error::argument("collect", format!("nothing was posted in round {number}")));
        self.fault.get_or_insert(fault).clone()
    }

    fn leave(&mut self, rank: usize, how: &'static str) {
        self.gone[rank] = Some(how);
        let waiting = self.rounds.values().find(|round| round.messages[rank].is_none());
        if let (None, Some(round)) = (&self.fault, waiting) {
            self.fault = Some(round.fault(rank, how));
        }
    }

    fn intact(&self) -> Result<(), Error> {
        self.fault.clone().map_or(Ok(()), Err)
    }
}

impl Round {
    fn headers(&self) -> impl Iterator<Item = Option<&Header>> {
        self.messages
            .iter()
            .map(|message| message.as_ref().map(|message| &message.header))
    }

    fn fault(&self, rank: usize, message: &str) -> Error {
        let header = self
            .headers()
            .flatten()
            .next()
            .expect("a round begins with a message");
        Error::Collective {
            op: header.op.clone(),
            param: header.param(),
            rank,
            message: message.into(),
        }
    }
}

/// A value under a lock, and a way to wait until it changes.
trait Monitor<S>: Send + Sync {
    fn new(state: S) -> Self;
    /// Changes the value and wakes whoever waits.
    fn update<R>(&self, f: impl FnOnce(&mut S) -> R) -> R;
    fn look<R>(&self, f: impl FnOnce(&S) -> R) -> R;
    /// Waits until `f` gives something, at most for the time given.
    fn wait_for<R>(&self, timeout: Duration, f: impl FnMut(&mut S) -> Option<R>) -> Option<R>;
}

/// The same monitor on the standard library's lock and on that of a tester that explores schedules.
macro_rules! monitor {
    ($name:ident, $($sync:ident)::+) => {
        struct $name<S> {
            state: $($sync)::+::Mutex<S>,
            changed: $($sync)::+::Condvar,
        }

        impl<S> $name<S> {
            /// No code of others runs under the lock, and every state is whole between statements that can panic.
            fn lock(&self) -> $($sync)::+::MutexGuard<'_, S> {
                self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
            }
        }

        impl<S: Send> Monitor<S> for $name<S> {
            fn new(state: S) -> Self {
                $name { state: $($sync)::+::Mutex::new(state), changed: $($sync)::+::Condvar::new() }
            }
            fn update<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
                let result = f(&mut self.lock());
                self.changed.notify_all();
                result
            }
            fn look<R>(&self, f: impl FnOnce(&S) -> R) -> R {
                f(&self.lock())
            }
            fn wait_for<R>(&self, timeout: Duration, mut f: impl FnMut(&mut S) -> Option<R>) -> Option<R> {
                let mut result = None;
                let waiting = |state: &mut S| {
                    result = f(state);
                    result.is_none()
                };
                let waited = self.changed.wait_timeout_while(self.lock(), timeout, waiting);
                drop(waited);
                result
            }
        }
    };
}

monitor!(StdMonitor, std::sync);
