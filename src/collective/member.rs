//! One member of a group: its operations in order, and its parameters.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use super::transport::{Entry, Header, Message, Part, Transport};
use super::{InProcess, ParamId, Pending};
use crate::autodiff::LeafId;
use crate::data::Buffer;
use crate::error::Error;
use crate::op::Meta;
use crate::op::random::{KeySource, philox};

/// What the members of a group agree on when it is opened.
#[derive(Clone, Debug)]
pub struct GroupOptions {
    /// How long a member waits for the others in one operation; 60 s by default.
    pub timeout: Duration,
    /// The seed that the members' random streams are derived from; 0 by default.
    pub seed: u64,
}

impl Default for GroupOptions {
    fn default() -> Self {
        GroupOptions {
            timeout: Duration::from_secs(60),
            seed: 0,
        }
    }
}

/// A place in a group: what a collective backend's device holds.
pub struct Member {
    transport: Box<dyn Transport>,
    rank: usize,
    size: usize,
    timeout: Duration,
    /// The random stream, unless the device's own serves.
    keys: Option<KeySource>,
    queue: Mutex<Queue>,
    params: Mutex<BTreeMap<ParamId, Registered>>,
}

/// A parameter, as long as one of its leaves is alive: a leaf holds the id whose life the weak reference tells.
struct Registered {
    meta: Meta,
    leaves: Vec<(Weak<str>, LeafId)>,
}

/// A parameter that is registered now.
pub(super) struct LiveParam {
    pub(super) id: ParamId,
    pub(super) meta: Meta,
    pub(super) leaf: LeafId,
}

/// Operations under way, which complete in order.
struct Queue {
    next_round: u64,
    jobs: VecDeque<Job>,
    fault: Option<Error>,
}

struct Job {
    header: Header,
    round: u64,
    then: Then,
    result: Arc<Slot>,
}

type Slot = Mutex<Option<Result<Vec<Buffer>, Error>>>;

/// What to do with what a round brought, by source rank.
pub(super) type Then = Box<dyn FnOnce(Vec<Vec<Part>>) -> Flow + Send>;

/// How an operation goes on after a round.
pub(super) enum Flow {
    Done(Vec<Buffer>),
    /// Another round, in which every member gets these parts.
    Share(Vec<Part>, Then),
}

/// The number of rounds that an operation takes.
#[derive(Clone, Copy)]
pub(super) enum Rounds {
    One = 1,
    Two = 2,
}

impl Member {
    /// Takes a place in a group.
    ///
    /// The random stream of rank 0 is that of the seed; those of other ranks are streams of their own, derived from
    /// the seed and the rank.
    pub fn new(transport: impl Transport, options: &GroupOptions) -> Self {
        let rank = transport.rank();
        Member {
            keys: Some(KeySource::new(stream(options.seed, rank))),
            ..Member::with_keys_of_device(transport, options.timeout)
        }
    }

    /// A group of one, which draws random numbers from the device's own stream.
    pub(super) fn alone() -> Self {
        let transport = InProcess::open(1).remove(0);
        Member::with_keys_of_device(transport, Duration::ZERO)
    }

    fn with_keys_of_device(transport: impl Transport, timeout: Duration) -> Self {
        let (rank, size) = (transport.rank(), transport.size());
        Member {
            transport: Box::new(transport),
            rank,
            size,
            timeout,
            keys: None,
            queue: Mutex::new(Queue {
                next_round: 0,
                jobs: VecDeque::new(),
                fault: None,
            }),
            params: Mutex::new(BTreeMap::new()),
        }
    }

    /// This member's place among the members.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of members.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The source of random keys, unless the device's own serves.
    pub(super) fn keys(&self) -> Option<&KeySource> {
        self.keys.as_ref()
    }

    /// The seed of this rank's random stream, for the seed of the group.
    pub(super) fn stream(&self, seed: u64) -> u64 {
        stream(seed, self.rank)
    }

    pub(super) fn is_alone(&self) -> bool {
        self.keys.is_none()
    }

    /// The parameters that are registered now: those of which a leaf is alive.
    pub fn params(&self) -> Vec<Entry> {
        entries(&self.live_params())
    }

    /// Waits until every member is here.
    ///
    /// # Errors
    /// If a member is missing, or does something else.
    pub fn barrier(self: &Arc<Self>) -> Result<(), Error> {
        self.agree("barrier", vec![], vec![]).map(drop)
    }

    /// Checks that every member has registered the same parameters.
    ///
    /// # Errors
    /// Names the first parameter that differs, and the rank.
    pub fn compare_params(self: &Arc<Self>) -> Result<(), Error> {
        self.agree("compare_params", self.params(), vec![]).map(drop)
    }

    /// Compares entries, and tells for which of them any member has set its flag.
    pub(crate) fn agree(
        self: &Arc<Self>,
        op: &'static str,
        entries: Vec<Entry>,
        flags: Vec<bool>,
    ) -> Result<Vec<bool>, Error> {
        self.start_agree(op, entries, flags)?.wait()
    }

    /// Starts [`Member::agree`].
    pub(super) fn start_agree(
        self: &Arc<Self>,
        op: &'static str,
        entries: Vec<Entry>,
        flags: Vec<bool>,
    ) -> Result<Pending<Vec<bool>>, Error> {
        if self.size == 1 {
            return Ok(Pending::new(|| Ok(flags)));
        }
        let header = Header {
            op: op.into(),
            entries,
        };
        let len = flags.len();
        let part = Part::whole(Arc::new(Buffer::Bool(flags)));
        let message = Message::to_all(header, vec![part], self.size);
        let any = move |received: Vec<Vec<Part>>| {
            let mut any = vec![false; len];
            for part in received.iter().flatten() {
                if let Buffer::Bool(flags) = &*part.buffer {
                    any.iter_mut().zip(flags).for_each(|(any, flag)| *any |= flag);
                }
            }
            Flow::Done(vec![Buffer::Bool(any)])
        };
        let result = self.submit(message, Rounds::One, Box::new(any))?;
        Ok(result.and_then(|buffers| match buffers.into_iter().next() {
            Some(Buffer::Bool(any)) => Ok(any),
            _ => unreachable!("`any` gives flags"),
        }))
    }

    /// Registers a leaf as a parameter, as long as `id` or a clone of it is held.
    pub(super) fn register(&self, id: &ParamId, leaf: LeafId, meta: Meta) -> Result<(), Error> {
        let mut params = lock(&self.params);
        // The key is a copy: it must not keep the leaf's id alive.
        let param = params
            .entry(ParamId::new(id.as_str()))
            .or_insert_with(|| Registered {
                meta: meta.clone(),
                leaves: vec![],
            });
        param.leaves.retain(|(held, _)| held.strong_count() > 0);
        if !param.leaves.is_empty() && param.meta != meta {
            return Err(Error::Collective {
                op: "set_distributed_params".into(),
                param: Some(id.to_string()),
                rank: self.rank,
                message: format!(
                    "another tensor has this name, and it is {} {} where this is {} {}",
                    param.meta.dtype, param.meta.shape, meta.dtype, meta.shape
                ),
            });
        }
        param.meta = meta;
        param.leaves.push((id.downgrade(), leaf));
        Ok(())
    }

    /// The parameters in the order of their names, each with its newest leaf.
    pub(super) fn live_params(&self) -> Vec<LiveParam> {
        let mut params = lock(&self.params);
        params.retain(|_, param| {
            param.leaves.retain(|(held, _)| held.strong_count() > 0);
            !param.leaves.is_empty()
        });
        let live = |(id, param): (&ParamId, &Registered)| {
            let &(_, leaf) = param.leaves.last()?;
            Some(LiveParam {
                id: id.clone(),
                meta: param.meta.clone(),
                leaf,
            })
        };
        params.iter().filter_map(live).collect()
    }

    /// Posts the first message of an operation, and lets those under way go on as far as they can without waiting.
    pub(super) fn submit(
        self: &Arc<Self>,
        message: Message,
        rounds: Rounds,
        then: Then,
    ) -> Result<Pending<Vec<Buffer>>, Error> {
        let mut queue = lock(&self.queue);
        if let Some(fault) = &queue.fault {
            return Err(fault.clone());
        }
        let round = queue.next_round;
        queue.next_round += rounds as u64;
        let result = Arc::new(Slot::default());
        let header = message.header.clone();
        if let Err(fault) = self.transport.post(round, message) {
            queue.fail(&fault);
            return Err(fault);
        }
        queue.jobs.push_back(Job {
            header,
            round,
            then,
            result: result.clone(),
        });
        while let Some(job) = queue.pop_ready(&*self.transport) {
            self.step(&mut queue, job);
        }
        let member = self.clone();
        Ok(Pending::new(move || member.finish(&result)))
    }

    /// Waits for the operations under way, in order, until the one that fills `result` is done.
    fn finish(&self, result: &Slot) -> Result<Vec<Buffer>, Error> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(result) = lock(result).take() {
                return result;
            }
            let Some(job) = queue.jobs.pop_front() else {
                return Err(Error::argument("wait", "the operation was given up by a panic"));
            };
            self.step(&mut queue, job);
        }
    }

    /// One round of the first operation under way.
    fn step(&self, queue: &mut Queue, job: Job) {
        let flow = self.transport.collect(job.round, self.timeout).map(job.then);
        let outcome = match flow {
            Ok(Flow::Done(buffers)) => Ok(Some(buffers)),
            Ok(Flow::Share(parts, then)) => {
                let round = job.round + 1;
                let message = Message::to_all(job.header.clone(), parts, self.size);
                self.transport.post(round, message).map(|()| {
                    queue.jobs.push_front(Job {
                        header: job.header,
                        round,
                        then,
                        result: job.result.clone(),
                    });
                    None
                })
            }
            Err(fault) => Err(fault),
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(buffers)) => *lock(&job.result) = Some(Ok(buffers)),
            Err(fault) => {
                *lock(&job.result) = Some(Err(fault.clone()));
                queue.fail(&fault);
            }
        }
    }
}

impl Queue {
    /// The first operation, if its round is complete.
    fn pop_ready(&mut self, transport: &dyn Transport) -> Option<Job> {
        self.jobs.front().filter(|job| transport.is_ready(job.round))?;
        self.jobs.pop_front()
    }

    /// Breaks the group for this member: what is under way fails, and what comes later.
    fn fail(&mut self, fault: &Error) {
        for job in self.jobs.drain(..) {
            *lock(&job.result) = Some(Err(fault.clone()));
        }
        self.fault = Some(fault.clone());
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}

pub(super) fn entries(params: &[LiveParam]) -> Vec<Entry> {
    let entry = |param: &LiveParam| Entry {
        param: Some(param.id.clone()),
        meta: param.meta.clone(),
    };
    params.iter().map(entry).collect()
}

/// The seed of a rank's random stream.
fn stream(seed: u64, rank: usize) -> u64 {
    if rank == 0 {
        return seed;
    }
    let [low, high, ..] = philox(seed, rank as u64);
    u64::from(low) | u64::from(high) << 32
}

/// What a panic leaves behind is whole: values are replaced under these locks, not taken apart.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
