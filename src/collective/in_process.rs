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
#[derive(Debug)]
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
        self.0.rank()
    }
    fn size(&self) -> usize {
        self.0.size()
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
}

impl<M: Monitor<State> + 'static> Transport for End<M> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
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

impl<M: Monitor<State>> fmt::Debug for End<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
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

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use shuttle::rand::Rng;

    use super::super::{GroupOptions, Member, ReduceKind, host};
    use super::*;
    use crate::data::Buffer;

    // Waits of this monitor never time out: a schedule in which a wake-up is lost, or a fault does not reach somebody
    // who waits, is reported as a deadlock.
    monitor!(ShuttleMonitor, shuttle::sync);

    const SCHEDULES: usize = 2000;

    fn header(op: &'static str) -> Header {
        Header {
            op: op.into(),
            entries: vec![],
        }
    }

    fn members(size: usize) -> Vec<Arc<Member>> {
        let member = |end| Arc::new(Member::new(end, &GroupOptions::default()));
        End::<ShuttleMonitor<State>>::open(size)
            .into_iter()
            .map(member)
            .collect()
    }

    /// Runs a function for each member, each on a thread of its own, in random schedules.
    fn explore<R: Send + 'static>(
        size: usize,
        f: impl Fn(Arc<Member>) -> R + Send + Sync + Copy + 'static,
        check: impl Fn(Vec<R>) + Send + Sync + 'static,
    ) {
        let run = move || {
            let threads: Vec<_> = members(size)
                .into_iter()
                .map(|member| shuttle::thread::spawn(move || f(member)))
                .collect();
            check(threads.into_iter().map(|thread| thread.join().unwrap()).collect());
        };
        shuttle::check_random(run, SCHEDULES);
    }

    fn sum(member: &Arc<Member>, len: usize) -> Result<Vec<i32>, Error> {
        let share = Buffer::I32(vec![1 + member.rank() as i32; len]);
        let pending = host::all_reduce(member, ReduceKind::Sum, header("sum"), vec![share])?;
        match pending.wait()?.remove(0) {
            Buffer::I32(sum) => Ok(sum),
            other => panic!("{:?}", other.dtype()),
        }
    }

    fn rank_at_fault<T>(result: &Result<T, Error>) -> Option<usize> {
        match result {
            Err(Error::Collective { rank, .. }) => Some(*rank),
            _ => None,
        }
    }

    #[test]
    fn operations_of_one_and_two_rounds_complete() {
        let operations = |member: Arc<Member>| {
            member.barrier().unwrap();
            (sum(&member, 2).unwrap(), sum(&member, 4096).unwrap())
        };
        explore(3, operations, |results| {
            for (short, long) in results {
                assert_eq!((short, long), (vec![6; 2], vec![6; 4096]));
            }
        });
    }

    #[test]
    fn pending_results_are_waited_for_in_any_order() {
        let operations = |member: Arc<Member>| {
            let start = |len| {
                let share = Buffer::I32(vec![1 + member.rank() as i32; len]);
                host::all_reduce(&member, ReduceKind::Sum, header("sum"), vec![share]).unwrap()
            };
            let pending = [start(4096), start(1), start(4096)];
            let [a, b, c] = pending;
            let lens = if shuttle::rand::thread_rng().r#gen() {
                [a.wait(), b.wait(), c.wait()]
            } else {
                let (c, b) = (c.wait(), b.wait());
                [a.wait(), b, c]
            };
            lens.map(|result| result.unwrap()[0].len())
        };
        explore(3, operations, |results| assert_eq!(results, [[4096, 1, 4096]; 3]));
    }

    #[test]
    fn a_member_that_leaves_is_noticed_by_all() {
        let operations = |member: Arc<Member>| {
            let rank = member.rank();
            let first = sum(&member, 1);
            if rank == 1 {
                return (first, Err(Error::argument("test", "left")));
            }
            let second = sum(&member, 4096);
            (first, second)
        };
        explore(3, operations, |results| {
            for (rank, (first, second)) in results.iter().enumerate() {
                assert_eq!(first.as_ref().unwrap(), &[6]);
                assert!(rank == 1 || rank_at_fault(second) == Some(1), "{second:?}");
            }
        });
    }

    #[test]
    fn a_member_that_panics_between_two_rounds_is_noticed_by_all() {
        let operations = |member: Arc<Member>| {
            if member.rank() == 2 {
                let share = Buffer::I32(vec![1; 4096]);
                let pending = host::all_reduce(&member, ReduceKind::Sum, header("sum"), vec![share]).unwrap();
                let fall = AssertUnwindSafe(move || {
                    let _held = (member, pending);
                    std::panic::resume_unwind(Box::new("fall"));
                });
                assert!(catch_unwind(fall).is_err());
                return None;
            }
            Some((sum(&member, 4096).map(|sum| sum[0]), member.barrier()))
        };
        explore(3, operations, |results| {
            // Whether it came to the second round before it fell decides the sum, for all alike.
            let [Some(a), Some(b), None] = &results[..] else {
                panic!("{results:?}")
            };
            assert_eq!(a, b);
            assert!(a.0 == Ok(4) || rank_at_fault(&a.0) == Some(2), "{a:?}");
            assert_eq!(rank_at_fault(&a.1), Some(2));
            assert!(a.1.as_ref().unwrap_err().to_string().contains("panicked"));
        });
    }

    #[test]
    fn a_member_that_does_something_else_breaks_the_group_for_all() {
        let operations = |member: Arc<Member>| {
            let first = match member.rank() {
                1 => member.barrier(),
                _ => sum(&member, 1).map(drop),
            };
            (first, member.barrier())
        };
        explore(3, operations, |results| {
            for (first, second) in results {
                assert_eq!(rank_at_fault(&first), Some(1));
                assert_eq!(first, second);
            }
        });
    }
}
