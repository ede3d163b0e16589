/**
 * The stream program: what a program asks of streams, events, memory and host, in the order in which the host asks for
 * it. Two front ends build it (Python source, recorded traces); past it nothing branches on which one did. It speaks
 * CUDA: launch, record, wait, allocate, release.
 *
 *     allocate x on copy          copy_ (copy: w x)          record e on copy
 *     wait e on compute           mul (compute: r x, w y)    release x
 *
 * Ids are dense indices into the tables of the same program (`stream` into `streams`, and so on), so the engine can use
 * plain arrays. Deliberately unknown here: Python, files, times, formats, rules.
 */

export type StreamId = number & { readonly __stream?: never };
/** One event *life*: a handle that is destroyed and handed out again is another event. */
export type EventId = number & { readonly __event?: never };
/** One *life* of one block of memory, from its allocation to its release. */
export type BlockId = number & { readonly __block?: never };
export type ThreadId = number & { readonly __thread?: never };
export type GraphId = number & { readonly __graph?: never };
export type OriginId = number & { readonly __origin?: never };
/** Index into `steps`. */
export type StepIndex = number & { readonly __step?: never };

export interface StreamProgram {
  readonly streams: readonly StreamEntry[];
  readonly events: readonly EventEntry[];
  readonly blocks: readonly BlockEntry[];
  readonly threads: readonly ThreadEntry[];
  readonly origins: readonly Origin[];
  /** Host order. With several host threads: the order in which their calls were issued. */
  readonly steps: readonly Step[];
  /**
   * Where the call from outside begins that is judged. What earlier calls did to its object lies before: between them and it
   * the host may have waited. Source only.
   */
  readonly entered?: StepIndex;
  /**
   * Ascending: before these steps code ran that the program does not show. What it launched, and when the host took a
   * time, is not known there. Source only.
   */
  readonly blind?: readonly StepIndex[];
}

export interface StreamEntry {
  /** What the program calls it: `copy`, `self.side`, `stream 13`, `the current stream`. */
  readonly name: string;
  /** Device index; -1 when unknown. */
  readonly device: number;
  readonly isDefault: boolean;
  /** `cudaStream_t`, in hexadecimal, where a trace knows it. */
  readonly handle?: string;
  /** Unknown streams (a parameter nobody passes, a foreign handle) are never accused, only followed. */
  readonly unknown?: boolean;
  /**
   * Given by the entry's caller, and nothing here waits for it: what is left on it is for the caller to order. Source
   * only.
   */
  readonly lent?: boolean;
  /** Not made here, but kept by an object that was given: it may be what others call their current stream. Source only. */
  readonly given?: boolean;
  /** Taken from a container by an index that is not known: which of its streams it is nobody knows. Source only. */
  readonly picked?: boolean;
  /** Another function waits for what is left on it. Source only. */
  readonly joinedElsewhere?: boolean;
  /** A process group runs its collectives here; the handle's `wait()` is what orders other streams after them. */
  readonly collective?: boolean;
  /** … of a group that the program was given: it may be the same as another one that it was given. Source only. */
  readonly givenGroup?: boolean;
  /** Where the program makes the stream, and with which priority (0: the usual one). Source only. */
  readonly made?: { readonly origin: OriginId; readonly priority: number };
  /** Where it is asked for by the handle 0, which is taken for "no handle": it is some stream of the pool. Source only. */
  readonly zeroHandle?: OriginId;
}

export interface EventEntry {
  readonly name: string;
  /** `elapsed_time` reads it: recording it has a purpose without any wait. */
  readonly timed?: boolean;
  /** All that is ever done with the event is in this program: nobody else can wait for it, or ask it. Source only. */
  readonly followed?: boolean;
  readonly unknown?: boolean;
  /** The place that makes it: events of one place are the slots of one ring. Source only. */
  readonly made?: string;
  /** One of several of a container that an index picked which is not known: a record through it may be this one's. Source only. */
  readonly picked?: boolean;
  /** Others hold it while the code runs that waits for it, and may have recorded it before. Source only. */
  readonly shared?: boolean;
}

export type MemoryKind = 'device' | 'pinned' | 'pageable';

export interface BlockEntry {
  /** What the program calls the tensor: `x`, `self.buffer`, `block 0x7f…`. */
  readonly name: string;
  readonly memory: MemoryKind;
  /** Whether there is evidence that this is CUDA memory (source only; traces know). Without it nothing is accused. */
  readonly evidence: boolean;
  /** Bytes, where known. */
  readonly size?: number;
  /** Address, where a trace knows it: two lives with overlapping addresses are a reuse. */
  readonly address?: number;
  /** The stream that was current at the allocation; its pool gets the block back. Undefined: not known. */
  readonly stream?: StreamId;
}

export interface ThreadEntry {
  readonly name: string;
}

/**
 * Where a step comes from. In source the chain of frames, outermost first, whose last entry holds the step itself; in a
 * trace the row. Rules and fixes use it; the engine only carries it.
 */
export type Origin = SourceOrigin | TraceOrigin;

export interface SourceOrigin {
  readonly kind: 'source';
  /** Outermost first; the last frame's range is the expression of the step, the others' ranges are call sites. */
  readonly frames: readonly SourceFrame[];
  /** Index into `frames` of the frame that selected the current stream; -1: selected by the caller of the entry. */
  readonly streamFrame: number;
}

export interface SourceFrame {
  /** Index into the `activations` of the lowered path: one per call that was executed. */
  readonly activation: number;
  readonly file: string;
  /** UTF-16 offsets into the file. */
  readonly start: number;
  readonly end: number;
}

export interface TraceOrigin {
  readonly kind: 'trace';
  /** Row of the file, from 0, or -1. */
  readonly row: number;
  /** Innermost Python frame of the user's code, where recorded; lines from 1. */
  readonly file?: string;
  readonly line?: number;
  /** The call stack: index into the trace's sites; steps with one site came through the same calls. */
  readonly site?: number;
  /** Index into the trace's device slices of the first kernel or copy of this step, or -1. */
  readonly slice?: number;
}

/** `always`: on every path of the entry that reaches it; `some-paths`: it depends on a branch that is not known. */
export type Certainty = 'always' | 'some-paths';

export interface Access {
  readonly block: BlockId;
  readonly write: boolean;
  /** Byte range in the block, `end` exclusive. Undefined: the whole block. */
  readonly start?: number;
  readonly end?: number;
  /** The range is a lower bound of what may be touched or is not known at all: it never makes a finding by itself. */
  readonly unknownRange?: boolean;
  /** Of rows that a table picks, and nobody knows which: another access of this kind may be to others. */
  readonly rows?: true;
}

interface StepBase {
  readonly thread: ThreadId;
  readonly origin: OriginId;
}

/** A kernel, a copy or a whole operator: its accesses happen on `stream` in FIFO order. */
export interface LaunchStep extends StepBase {
  readonly kind: 'launch';
  readonly stream: StreamId;
  readonly name: string;
  readonly accesses: readonly Access[];
  /** The operator allocates its result itself: `allocate` steps for it come just before. */
  readonly copy?: 'h2d' | 'd2h' | 'd2d';
  /** Stands for what the caller did before the entry started; its origin is where the entry first uses the tensor. */
  readonly before?: true;
}

export interface RecordStep extends StepBase {
  readonly kind: 'record';
  readonly event: EventId;
  readonly stream: StreamId;
}

/** `stream` waits for the latest record of `event` that the host has issued; none issued: no effect. */
export interface WaitStep extends StepBase {
  readonly kind: 'wait';
  readonly event: EventId;
  readonly stream: StreamId;
  /** The wait comes from inside the framework (autograd, collectives, `copy_` between devices), not from the user. */
  readonly implicit?: boolean;
  /** As for a wait of the host. */
  readonly chosenDevice?: number;
}

/** The host blocks until the work enqueued so far is done: all later work of this thread is ordered after it. */
export interface HostWaitStep extends StepBase {
  readonly kind: 'hostWait';
  readonly on:
    | { readonly kind: 'event'; readonly event: EventId }
    | { readonly kind: 'stream'; readonly stream: StreamId }
    | { readonly kind: 'device'; readonly device: number };
  /** A side effect (`.item()`, a blocking copy), not a synchronization that somebody wrote. */
  readonly implicit?: boolean;
  /**
   * The program has chosen a device for it, or around it, of which nobody knows which it is: one number, one device. Another
   * number, or none, may be another device. Source only.
   */
  readonly chosenDevice?: number;
}

/** A poll that said "done": the same order as a hostWait. */
export interface PollStep extends StepBase {
  readonly kind: 'poll';
  readonly on: HostWaitStep['on'];
}

/** The CPU reads or writes host memory. */
export interface HostAccessStep extends StepBase {
  readonly kind: 'hostAccess';
  readonly name: string;
  readonly access: Access;
}

export interface AllocateStep extends StepBase {
  readonly kind: 'allocate';
  readonly block: BlockId;
  readonly stream: StreamId;
}

/** The last host reference goes: the block returns to its allocating stream's pool. */
export interface ReleaseStep extends StepBase {
  readonly kind: 'release';
  readonly block: BlockId;
  /** Source: whether a statement drops it (`del`, rebinding) or a scope ends. */
  readonly how?: 'statement' | 'scope';
  /** Source: what the statement puts in its place. */
  readonly successor?: BlockId;
}

export interface RecordStreamStep extends StepBase {
  readonly kind: 'recordStream';
  readonly block: BlockId;
  readonly stream: StreamId;
}

export interface CaptureBeginStep extends StepBase {
  readonly kind: 'captureBegin';
  readonly graph: GraphId;
  readonly stream: StreamId;
}

export interface CaptureEndStep extends StepBase {
  readonly kind: 'captureEnd';
  readonly graph: GraphId;
}

/** One ordered operation on `stream` with all accesses of the captured work. */
export interface ReplayStep extends StepBase {
  readonly kind: 'replay';
  readonly graph: GraphId;
  readonly stream: StreamId;
}

/** `thread` starts `child`: the child's work is ordered after what the host waited for so far. */
export interface ForkStep extends StepBase {
  readonly kind: 'fork';
  readonly child: ThreadId;
}

export interface JoinStep extends StepBase {
  readonly kind: 'join';
  readonly child: ThreadId;
}

/**
 * A tensor leaves the code that is looked at (return, yield to an unknown caller) while `stream` is current for the
 * receiver. Source only: what makes `unjoined-output`.
 */
export interface EscapeStep extends StepBase {
  readonly kind: 'escape';
  readonly block: BlockId;
  readonly stream: StreamId;
  readonly how: 'return' | 'yield';
}

/** Code outside may run here and allocate on `stream` (the caller between two calls or two `next`). Source only. */
export interface OutsideStep extends StepBase {
  readonly kind: 'outside';
  readonly stream: StreamId;
}

export type Step =
  | LaunchStep
  | RecordStep
  | WaitStep
  | HostWaitStep
  | PollStep
  | HostAccessStep
  | AllocateStep
  | ReleaseStep
  | RecordStreamStep
  | CaptureBeginStep
  | CaptureEndStep
  | ReplayStep
  | ForkStep
  | JoinStep
  | EscapeStep
  | OutsideStep;
