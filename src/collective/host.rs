//! The operations on host buffers, as rounds of messages.

use std::sync::Arc;

use super::member::{Flow, Member, Rounds};
use super::reduce::{concat, reduce};
use super::transport::{Header, Message, Part};
use super::{Pending, ReduceKind};
use crate::data::Buffer;
use crate::error::Error;

/// From this many elements on, three or more members share the work of a reduction, at the price of a second round.
const SHARED_FROM: usize = 4096;

type Result<T> = std::result::Result<T, Error>;
type Received = Vec<Vec<Part>>;

/// Reduces each buffer over the members.
///
/// Each member reduces its own chunk of every buffer, and the chunks are shared. Where that would not pay, each member
/// reduces everything for itself. The order of additions, and so every bit, is the same.
pub(super) fn all_reduce(
    member: &Arc<Member>,
    kind: ReduceKind,
    header: Header,
    buffers: Vec<Buffer>,
) -> Result<Pending<Vec<Buffer>>> {
    let size = member.size();
    let elements: usize = buffers.iter().map(Buffer::len).sum();
    let wholes: Vec<Part> = buffers
        .into_iter()
        .map(|buffer| Part::whole(Arc::new(buffer)))
        .collect();
    if size <= 2 || elements < SHARED_FROM {
        let finish = move |received: Received| Flow::Done(across(&received, |parts| reduce(kind, parts)));
        let message = Message::to_all(header, wholes, size);
        return member.submit(message, Rounds::One, Box::new(finish));
    }
    let chunk = |part: &Part, rank: usize| Part {
        buffer: part.buffer.clone(),
        range: part.range.len() * rank / size..part.range.len() * (rank + 1) / size,
    };
    let parts = (0..size)
        .map(|rank| wholes.iter().map(|part| chunk(part, rank)).collect())
        .collect();
    let share = move |received: Received| {
        let reduced = across(&received, |parts| reduce(kind, parts));
        let reduced = reduced
            .into_iter()
            .map(|buffer| Part::whole(Arc::new(buffer)))
            .collect();
        let join = |received: Received| Flow::Done(across(&received, |chunks| concat(chunks, 1)));
        Flow::Share(reduced, Box::new(join))
    };
    member.submit(Message { header, parts }, Rounds::Two, Box::new(share))
}

/// Gives every member the root's buffer; `buffer` is there on the root, which gets nothing back.
pub(super) fn broadcast(
    member: &Arc<Member>,
    root: usize,
    header: Header,
    buffer: Option<Buffer>,
) -> Result<Pending<Vec<Buffer>>> {
    let part = buffer.map(|buffer| Part::whole(Arc::new(buffer)));
    let for_rank = |rank: usize| part.iter().filter(|_| rank != root).cloned().collect();
    let parts = (0..member.size()).map(for_rank).collect();
    let finish = |received: Received| {
        let parts = received.into_iter().flatten();
        Flow::Done(parts.map(|part| Arc::unwrap_or_clone(part.buffer)).collect())
    };
    member.submit(Message { header, parts }, Rounds::One, Box::new(finish))
}

/// Joins the members' buffers, which have `outer` rows each.
pub(super) fn all_gather(
    member: &Arc<Member>,
    header: Header,
    buffer: Buffer,
    outer: usize,
) -> Result<Pending<Vec<Buffer>>> {
    let part = Part::whole(Arc::new(buffer));
    let message = Message::to_all(header, vec![part], member.size());
    let finish = move |received: Received| Flow::Done(across(&received, |parts| concat(parts, outer)));
    member.submit(message, Rounds::One, Box::new(finish))
}

/// Reduces the buffers that all members have for this one; `buffers` are by rank.
pub(super) fn reduce_scatter(
    member: &Arc<Member>,
    kind: ReduceKind,
    header: Header,
    buffers: Vec<Buffer>,
) -> Result<Pending<Vec<Buffer>>> {
    let for_rank = |buffer| vec![Part::whole(Arc::new(buffer))];
    let parts = buffers.into_iter().map(for_rank).collect();
    let finish = move |received: Received| Flow::Done(across(&received, |parts| reduce(kind, parts)));
    member.submit(Message { header, parts }, Rounds::One, Box::new(finish))
}

/// Joins the buffers that all members have for this one, which have `outer` rows each; `buffers` are by rank.
pub(super) fn all_to_all(
    member: &Arc<Member>,
    header: Header,
    buffers: Vec<Buffer>,
    outer: usize,
) -> Result<Pending<Vec<Buffer>>> {
    let for_rank = |buffer| vec![Part::whole(Arc::new(buffer))];
    let parts = buffers.into_iter().map(for_rank).collect();
    let finish = move |received: Received| Flow::Done(across(&received, |parts| concat(parts, outer)));
    member.submit(Message { header, parts }, Rounds::One, Box::new(finish))
}

/// Applies `f`, for each tensor, to what every member sent of it, in the order of ranks.
fn across(received: &Received, f: impl Fn(&[&Part]) -> Buffer) -> Vec<Buffer> {
    (0..received[0].len())
        .map(|tensor| f(&received.iter().map(|parts| &parts[tensor]).collect::<Vec<_>>()))
        .collect()
}
