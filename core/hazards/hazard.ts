/**
 * Hazards: structured facts about one stream program, found by the engine. A rule words a hazard and offers the fix; a
 * hazard itself carries no text.
 */
import type { BlockId, EventId, GraphId, OriginId, StepIndex, StreamId } from '../program/program.ts';

export type Hazard =
  | OrderHazard
  | LifetimeHazard
  | UnjoinedEscape
  | UnrecordedWait
  | ReversedWait
  | RedundantRecordStream
  | HostHazard
  | RerecordedEvent
  | LateRecordStream
  | CaptureFault
  | RedundantSync
  | UnusedEvent
  | TooManyStreams
  | ExternalStreamZero
  | SerializedStreams;

/** Two accesses of overlapping bytes, one of them a write, on two streams without an order. */
export interface OrderHazard {
  readonly kind: 'order';
  readonly conflict: 'read-after-write' | 'write-after-read' | 'write-after-write';
  readonly block: BlockId;
  /** Overlap in bytes, `end` exclusive; undefined: the whole block. */
  readonly start?: number;
  readonly end?: number;
  readonly first: StepIndex;
  readonly firstStream: StreamId;
  readonly second: StepIndex;
  readonly secondStream: StreamId;
  /** Waits of the second stream (or the host) for the first that exist but cover too little: what the reader tried. */
  readonly nearest: readonly StepIndex[];
}

/** The last reference goes while another stream may still use the block, and its pool can hand it out again. */
export interface LifetimeHazard {
  readonly kind: 'lifetime';
  readonly block: BlockId;
  readonly allocatedOn: StreamId;
  readonly allocation: StepIndex;
  readonly release: StepIndex;
  /** The last use on a stream that the allocating stream is not after. */
  readonly use: StepIndex;
  readonly useStream: StreamId;
  /** The allocation (or `outside` step) that can get, or got, the block. */
  readonly reuse: StepIndex;
  /** The block that really got overlapping addresses; undefined: the reuse is possible, not seen. */
  readonly nextBlock?: BlockId;
}

/** A tensor is handed to a receiver whose stream is not after the work that makes it. */
export interface UnjoinedEscape {
  readonly kind: 'unjoined';
  readonly block: BlockId;
  readonly write: StepIndex;
  readonly writeStream: StreamId;
  readonly escape: StepIndex;
  readonly escapeStream: StreamId;
}

/** A wait (of a stream or the host) for an event without any record issued before. */
export interface UnrecordedWait {
  readonly kind: 'unrecorded';
  readonly event: EventId;
  readonly wait: StepIndex;
}

/**
 * A wait that orders nothing that is needed, while an order hazard exists that the same wait with its two streams
 * swapped, or moved after the first access, would settle.
 */
export interface ReversedWait {
  readonly kind: 'reversed';
  readonly event: EventId;
  readonly record: StepIndex;
  readonly wait: StepIndex;
  /** `swapped`: the streams are the wrong way round; `early`: the wait comes before the work it should cover. */
  readonly how: 'swapped' | 'early';
  /** The order hazards that it should have settled, as (first, second) steps. */
  readonly settles: readonly (readonly [StepIndex, StepIndex])[];
}

/** A record_stream that cannot change anything. */
export interface RedundantRecordStream {
  readonly kind: 'redundant-record-stream';
  readonly call: StepIndex;
  readonly block: BlockId;
  readonly why: 'allocating-stream' | 'joined-before-release';
  /** The join (wait or host wait) that makes it needless. */
  readonly join?: StepIndex;
}

/** Host and device touch one host buffer without an order. */
export interface HostHazard {
  readonly kind: 'host';
  readonly conflict: 'host-read-before-copy-done' | 'host-write-during-copy';
  readonly block: BlockId;
  readonly first: StepIndex;
  readonly firstStream: StreamId;
  readonly second: StepIndex;
}

/**
 * A record that takes the place of an earlier one of the same event before anything has waited for that, while a later
 * wait for the event needs it.
 */
export interface RerecordedEvent {
  readonly kind: 'rerecorded';
  readonly event: EventId;
  /** The record that is lost. */
  readonly lost: StepIndex;
  readonly lostStream: StreamId;
  /** The one that takes its place. */
  readonly record: StepIndex;
  readonly recordStream: StreamId;
  readonly wait: StepIndex;
  /** The missing orders that the lost record would have made, as (first, second) steps. */
  readonly settles: readonly (readonly [StepIndex, StepIndex])[];
}

/** A record_stream that misses the block it should protect: that is released already, or it is another one. */
export interface LateRecordStream {
  readonly kind: 'late-record-stream';
  readonly call: StepIndex;
  /** The block that the call names. */
  readonly block: BlockId;
  /** `released`: the block's memory had gone back. `derived`, `replaced`: the block was made from, or put in the place of, `unprotected`. */
  readonly why: 'released' | 'derived' | 'replaced';
  readonly unprotected: BlockId;
  readonly release: StepIndex;
  readonly use: StepIndex;
  readonly useStream: StreamId;
}

/** What a graph capture does not allow, or silently leaves out of the graph. */
export type CaptureFault = CaptureUnjoined | CaptureExternalEvent | CaptureIllegalSync | CaptureRecordStream;

/** A stream was forked into a capture, and the capture ends before its stream waits for that one's work. */
export interface CaptureUnjoined {
  readonly kind: 'capture-unjoined';
  readonly graph: GraphId;
  /** The wait through which the stream became a part of the capture. */
  readonly fork: StepIndex;
  readonly stream: StreamId;
  /** Its last work, which nothing joins. */
  readonly launch: StepIndex;
  readonly captureStream: StreamId;
  readonly end: StepIndex;
}

/** A wait, by a stream or the host, for an event on the other side of a capture's border. */
export interface CaptureExternalEvent {
  readonly kind: 'capture-external-event';
  readonly graph: GraphId;
  readonly event: EventId;
  readonly record: StepIndex;
  readonly wait: StepIndex;
  /** `into`: recorded outside, waited for inside; `out-of`: the other way round. */
  readonly way: 'into' | 'out-of';
}

/** The host synchronizes while a capture is open. */
export interface CaptureIllegalSync {
  readonly kind: 'capture-illegal-sync';
  readonly graph: GraphId;
  readonly begin: StepIndex;
  readonly sync: StepIndex;
}

/** A record_stream while a capture is open. */
export interface CaptureRecordStream {
  readonly kind: 'capture-record-stream';
  readonly graph: GraphId;
  readonly begin: StepIndex;
  readonly call: StepIndex;
  readonly block: BlockId;
}

/** A wait, by a stream or the host, for what it comes after already. */
export interface RedundantSync {
  readonly kind: 'redundant-sync';
  readonly wait: StepIndex;
  /** `same-stream`: a stream waits for itself; `ordered`: an earlier wait covers all of it. */
  readonly why: 'same-stream' | 'ordered';
  /** The wait that covers it. */
  readonly earlier?: StepIndex;
}

/** An event is recorded, and nothing ever waits for it, asks it or times with it. */
export interface UnusedEvent {
  readonly kind: 'unused-event';
  readonly event: EventId;
  readonly record: StepIndex;
}

/** A stream is asked for by the handle 0: it is not the default stream, whose handle that is. */
export interface ExternalStreamZero {
  readonly kind: 'external-stream-zero';
  readonly stream: StreamId;
  readonly origin: OriginId;
}

/** One place makes more streams of one priority than the pool has: several of them are the same queue. */
export interface TooManyStreams {
  readonly kind: 'too-many-streams';
  readonly origin: OriginId;
  readonly count: number;
}

/** A wait that keeps independent work on several side streams from overlapping. */
export interface SerializedStreams {
  readonly kind: 'serialized-streams';
  readonly wait: StepIndex;
  /** `host`: the host waits in each turn of a loop; `stream`: one side stream waits for another. */
  readonly how: 'host' | 'stream';
  readonly awaited?: StreamId;
  /** The work that could have started. */
  readonly next: StepIndex;
}
