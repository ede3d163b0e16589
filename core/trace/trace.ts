/**
 * A recorded (or simulated) run as every face uses it: columns of numbers for the timeline, and the stream program for
 * the engine. Every importer makes one of these.
 *
 * Times are nanoseconds from the start of the trace as float64 (exact below 2^53); -1 means not known. Strings are
 * interned in `strings`; a column that holds strings holds indices into it, -1 for none.
 *
 * All columns are typed arrays with exactly `length` elements, so that a Trace can be posted between threads (structured
 * clone), their buffers handed over instead of copied.
 */
import type { StreamProgram } from '../program/program.ts';

export interface Trace {
  readonly format: 'raceline' | 'kineto' | 'snapshot' | 'nsys';
  /** `raceline-executor 0.1.0`, `torch 2.11.0 profiler`; what wrote the file. */
  readonly producer: string;
  /** `gpu`: recorded on a device; `model`: times are modelled (meta device, built-in executor). */
  readonly clock: 'gpu' | 'model';
  /** Unix time of the start of the trace in nanoseconds, as decimal text; undefined if not known. */
  readonly unixStart?: string;
  /** Which process of a distributed run wrote the file, where it says so. */
  readonly rank?: number;
  /** Length of the trace in nanoseconds. */
  readonly duration: number;
  readonly strings: readonly string[];
  readonly streams: readonly TraceStream[];
  readonly threads: readonly TraceThread[];
  readonly sites: SiteColumns;
  readonly deviceSlices: DeviceSliceColumns;
  readonly hostSlices: HostSliceColumns;
  readonly marks: MarkColumns;
  readonly blocks: BlockColumns;
  readonly counters: CounterColumns;
  /** What the allocator went through beside handing out blocks; left out where the file does not say. */
  readonly allocatorEvents?: readonly AllocatorEvent[];
  /** Arrows that another tool has laid over the file: the critical path as HTA worked it out. Left out: there are none. */
  readonly arrows?: readonly Arrow[];
  /** Host time of each step of `program`, -1 where not known. Importers always give it. */
  readonly stepTime?: Float64Array;
  readonly counts: TraceCounts;
  /** What the file cannot tell, in whole sentences: "Waits are not recorded: …". Shown, never taken for "no wait". */
  readonly limits: readonly string[];
  /** What went wrong while reading; what could be read is here all the same. */
  readonly problems: readonly TraceProblem[];
  /** `false`: no step says what it touches, and nobody need look. Left out: the steps say. */
  readonly accesses?: false;
  /**
   * Steps in host order. Empty `steps` where the file knows no order (`limits` says so). Of a snapshot the tables are made
   * when they are asked for.
   */
  readonly program: StreamProgram;
}

export interface TraceProblem {
  readonly message: string;
  /** Byte offset in the (unpacked) file, and row from 0; -1 when they do not apply. */
  readonly offset: number;
  readonly row: number;
}

export interface TraceStream {
  /** `default`, `copy`, or `stream 13`. */
  readonly name: string;
  readonly device: number;
  readonly isDefault: boolean;
  /** The profiler's small number, -1 if not known. */
  readonly number: number;
  /** `cudaStream_t` in hexadecimal, '' if not known. */
  readonly handle: string;
  /** Index into `program.streams`, -1 if the program does not have it. */
  readonly programStream: number;
  /** Other objects of the program for the same stream: the pool of PyTorch has 32, the 33rd is the first again. */
  readonly aliases?: readonly string[];
}

export interface TraceThread {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
}

/** Python call sites: a site is a frame and its caller's site, so stacks share their tails. */
export interface SiteColumns {
  readonly length: number;
  readonly file: Int32Array;
  /** From 1; 0: unknown. */
  readonly line: Int32Array;
  readonly function: Int32Array;
  /** The caller's site, -1: outermost. */
  readonly parent: Int32Array;
}

export const deviceSliceKinds = ['kernel', 'copy', 'set'] as const;
export type DeviceSliceKind = (typeof deviceSliceKinds)[number];

/** Kernels, copies, memsets; grouped by stream, sorted by start within it. Overlaps on one stream are kept. */
export interface DeviceSliceColumns {
  readonly length: number;
  readonly stream: Int32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly name: Int32Array;
  /** Index into deviceSliceKinds. */
  readonly kind: Uint8Array;
  /** Bytes of a copy or memset, else -1. */
  readonly bytes: Float64Array;
  readonly correlation: Float64Array;
  /** The step of the program that launched it, -1 if not known. */
  readonly step: Int32Array;
  readonly site: Int32Array;
  /** The host slice (operator or runtime call) that launched it, -1 if not known. */
  readonly launcher: Int32Array;
}

export const hostSliceKinds = ['operator', 'runtime', 'annotation', 'python', 'sync'] as const;
export type HostSliceKind = (typeof hostSliceKinds)[number];

/** Host side; grouped by thread, sorted by start within it, nested by time. */
export interface HostSliceColumns {
  readonly length: number;
  readonly thread: Int32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly name: Int32Array;
  /** Index into hostSliceKinds. */
  readonly kind: Uint8Array;
  readonly site: Int32Array;
  /** Row of the file that says it; only of a profile or a run of our own that was opened alone. */
  readonly row?: Int32Array;
}

export const markKinds = ['record', 'wait', 'hostWait'] as const;
export type MarkKind = (typeof markKinds)[number];

/**
 * Event records and waits on streams, and host waits. `other` makes the edge: for a wait the mark of the record that it
 * is bound to, -1 if there is none or it is not known.
 */
export interface MarkColumns {
  readonly length: number;
  /** Index into markKinds. */
  readonly kind: Uint8Array;
  /** Stream of the record or of the waiting stream; for a hostWait the stream waited for; -1: device or not known. */
  readonly stream: Int32Array;
  readonly thread: Int32Array;
  /** Host time of the call. */
  readonly hostTime: Float64Array;
  /** Device time at which a record is reached or a wait ends; -1 if not known. */
  readonly deviceTime: Float64Array;
  /** How long a wait held its stream (or the host); 0 none, -1 not known. */
  readonly blocked: Float64Array;
  readonly other: Int32Array;
  /** 1: the edge is a guess from positions, not recorded. */
  readonly inferred: Uint8Array;
  /** 1: made by the framework itself (autograd, allocator), not written by the user. */
  readonly implicit: Uint8Array;
  readonly step: Int32Array;
  readonly site: Int32Array;
}

/** One row a block life, in order of allocation. */
export interface BlockColumns {
  readonly length: number;
  readonly address: Float64Array;
  readonly size: Float64Array;
  /** Pool: the allocating stream (index into `streams`), -1 unknown. */
  readonly stream: Int32Array;
  /** The four times; -1: not known or not in the trace. */
  readonly allocated: Float64Array;
  readonly releaseRequested: Float64Array;
  readonly lastUse: Float64Array;
  readonly reusable: Float64Array;
  readonly name: Int32Array;
  /** Sites of the allocation and of the release. */
  readonly allocationSite: Int32Array;
  readonly releaseSite: Int32Array;
  /** Index into `program.blocks`, -1 if the program does not have it. */
  readonly programBlock: Int32Array;
  /** 1: pinned host memory. Left out: the block's entry in the program says where it lies. */
  readonly pinned?: Uint8Array;
}

/** Bytes over time per device; one row a change. */
export interface CounterColumns {
  readonly length: number;
  readonly time: Float64Array;
  readonly allocated: Float64Array;
  readonly reserved: Float64Array;
  /** Released, but kept from reuse by record_stream. */
  readonly heldBack: Float64Array;
  /** Device of the row; left out: one device. A figure that the file does not have is -1. */
  readonly device?: Int32Array;
}

export interface TraceCounts {
  readonly kernels: number;
  /** Copies; memsets are counted apart. */
  readonly copies: number;
  readonly memsets: number;
  readonly records: number;
  /** Waits of streams for events. */
  readonly waits: number;
  /** Waits whose record is known. */
  readonly waitsWithRecord: number;
  readonly hostWaits: number;
  readonly allocations: number;
  readonly releases: number;
  /** Rows of the file about memory of any kind, host memory too; left out where they are the two above. */
  readonly memoryEvents?: number;
  /** Rows of the file of any kind: events of a profile, entries of a snapshot. */
  readonly rows?: number;
  /** Rows about synchronization: waits of streams and of the host, queries that said done. */
  readonly syncs?: number;
}

export interface Arrow {
  readonly fromTime: number;
  readonly toTime: number;
  /** An end lies on a stream or on a thread; -1: not there. */
  readonly fromStream: number;
  readonly fromThread: number;
  readonly toStream: number;
  readonly toThread: number;
  /** String: `critical_path_kernel_launch_delay`; -1: not said. */
  readonly kind: number;
}

export interface AllocatorEvent {
  /** `retry`: cached memory had to be given back before the request could be served; `outOfMemory`: it failed. */
  readonly kind: 'retry' | 'outOfMemory';
  readonly time: number;
  readonly device: number;
  /** What was asked of the driver. */
  readonly bytes: number;
  /** What a retry gave back; for a failure what was free on the device, -1: not known. */
  readonly free: number;
  readonly site: number;
}

/** A hazard of a run, worded; what `trace --format json` prints and the timeline lists. */
export interface TraceHazard {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'hint';
  /** `confirmed`: the two overlapped in time, or the block really was reused; else `latent`. */
  readonly status: 'confirmed' | 'latent';
  readonly message: string;
  readonly at: TracePlace;
  readonly related: readonly (TracePlace & { readonly message: string })[];
  /** How many times the same two source places raced. */
  readonly count: number;
  /** Marks in the timeline. -1: none. */
  readonly firstSlice: number;
  readonly secondSlice: number;
  readonly block: number;
  /** Time extent to show, in nanoseconds. */
  readonly start: number;
  readonly end: number;
}

export interface TracePlace {
  readonly file: string;
  /** From 1; 0: not known. */
  readonly line: number;
}
