//! What carries messages between the members of a group.

use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ParamId;
use crate::data::Buffer;
use crate::error::{Error, Name};
use crate::op::Meta;

/// One member's end of what connects a group. Dropping it tells the others that this member has left.
///
/// Messages are exchanged in rounds, numbered alike on every member: each member posts one message per round, which
/// holds something for every member, and collects what the others posted for it. A transport compares the headers of a
/// round ([`Header::odd_one_out`]) before data moves, and turns a difference, a member that left and a timeout into an
/// `Err` on every member.
pub trait Transport: Debug + Send + Sync + 'static {
    /// This member's place among the members.
    fn rank(&self) -> usize;

    /// The number of members.
    fn size(&self) -> usize;

    /// Hands over this member's message of a round, without waiting for others.
    ///
    /// # Errors
    /// If the group is broken, or this message breaks it.
    fn post(&self, round: u64, message: Message) -> Result<(), Error>;

    /// Whether [`Transport::collect`] would return without waiting.
    fn is_ready(&self, round: u64) -> bool;

    /// Waits for what each member, in the order of ranks, posted for this one.
    ///
    /// # Errors
    /// If the group is broken or the time is over.
    fn collect(&self, round: u64, timeout: Duration) -> Result<Vec<Vec<Part>>, Error>;
}

/// A transport that can move the memory of backend `B`.
#[diagnostic::on_unimplemented(
    message = "the transport `{Self}` cannot carry the memory of `{B}`",
    label = "`{Self}` carries nothing of `{B}`",
    note = "`InProcess` carries every plain backend; a transport of your own implements `Transport` and `Carries<{B}>`"
)]
pub trait Carries<B>: Transport {}

/// What a member posts in a round.
#[derive(Clone, Debug)]
pub struct Message {
    /// What the member is about to do.
    pub header: Header,
    /// What it has for each member, by rank.
    pub parts: Vec<Vec<Part>>,
}

/// What a member is about to do, in which all must agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The operation with its arguments.
    pub op: Name,
    /// The tensors it is about.
    pub entries: Vec<Entry>,
}

/// A tensor that an operation is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The parameter, if it is one.
    pub param: Option<ParamId>,
    /// The shape and the element type.
    pub meta: Meta,
}

/// Some elements of a shared buffer.
#[derive(Clone, Debug)]
pub struct Part {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// The elements.
    pub range: Range<usize>,
}

impl Part {
    pub(super) fn whole(buffer: Arc<Buffer>) -> Self {
        let range = 0..buffer.len();
        Part { buffer, range }
    }
}

impl Message {
    /// A message that has the same for every member.
    pub(super) fn to_all(header: Header, parts: Vec<Part>, size: usize) -> Self {
        Message {
            header,
            parts: vec![parts; size],
        }
    }
}

impl Header {
    /// The error for the first member that differs from most of the others; of two halves, the one without rank 0
    /// differs. `None` if all are alike.
    ///
    /// ```
    /// use keyway::collective::Header;
    /// let header = |op: &'static str| Header { op: op.into(), entries: vec![] };
    /// let error = Header::odd_one_out(&[&header("barrier"), &header("all_reduce"), &header("barrier")]);
    /// assert!(matches!(error, Some(keyway::Error::Collective { rank: 1, .. })));
    /// assert!(Header::odd_one_out(&[&header("barrier"); 3]).is_none());
    /// ```
    pub fn odd_one_out(headers: &[&Header]) -> Option<Error> {
        let like = |header: &Header| headers.iter().filter(|&&other| other == header).count();
        // Most often all are alike, which one pass tells.
        if headers.iter().all(|&header| header == headers[0]) {
            return None;
        }
        // The first of those with the greatest count; `max_by_key` takes the last, hence the reversal.
        let norm = (0..headers.len()).rev().max_by_key(|&rank| like(headers[rank]))?;
        let rank = headers.iter().position(|&header| header != headers[norm])?;
        Some(headers[rank].differs_from(headers[norm], rank, norm))
    }

    fn differs_from(&self, other: &Header, rank: usize, norm: usize) -> Error {
        let place = (0..self.entries.len().max(other.entries.len()))
            .find(|&i| self.entries.get(i) != other.entries.get(i));
        let entry = |header: &Header| place.and_then(|i| header.entries.get(i).cloned());
        let (mine, theirs) = (entry(self), entry(other));
        // Where sets of parameters differ by one that only one side has, that is the one with the lesser name, since
        // both are in order.
        let param_of = |entry: &Option<Entry>| entry.as_ref().and_then(|entry| entry.param.clone());
        let param = match (param_of(&mine), param_of(&theirs)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let message = match &param {
            Some(id) if self.op == other.op => {
                let says = |header: &Header| match header
                    .entries
                    .iter()
                    .find(|entry| entry.param.as_ref() == Some(id))
                {
                    Some(entry) => format!("has it as {}", Described(&entry.meta)),
                    None => "does not have it".into(),
                };
                format!("{}, rank {norm} {}", says(self), says(other))
            }
            _ => {
                let says = |header: &Header, entry: &Option<Entry>| match entry {
                    Some(entry) => format!("{} of {}", header.op, Described(&entry.meta)),
                    None => header.op.to_string(),
                };
                format!(
                    "started {}, rank {norm} started {}",
                    says(self, &mine),
                    says(other, &theirs)
                )
            }
        };
        Error::Collective {
            op: other.op.clone(),
            param: param.map(|id| id.to_string()),
            rank,
            message,
        }
    }

    /// The parameter, where the operation is about one alone.
    pub(super) fn param(&self) -> Option<String> {
        match &self.entries[..] {
            [entry] => entry.param.as_ref().map(ParamId::to_string),
            _ => None,
        }
    }
}

struct Described<'a>(&'a Meta);
impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.dtype, self.0.shape)
    }
}
