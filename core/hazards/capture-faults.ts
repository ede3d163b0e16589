/**
 * What goes wrong at the border of a graph capture. A side stream becomes a part of the capture when it waits for an
 * event recorded in it, and must be waited for, through such events, before the capture ends:
 *
 *     capture g on root    record e on root    side waits e    side: …    record f on side    root waits f    end g
 *
 * The host may not synchronize meanwhile, events do not cross the border, and record_stream is no part of a graph.
 * Deliberately unknown here: what the captured work touches (captures.ts).
 */
import type {
  EventId,
  GraphId,
  HostWaitStep,
  StepIndex,
  StreamId,
  StreamProgram,
  ThreadId,
  WaitStep,
} from '../program/program.ts';
import type { CaptureFault } from './hazard.ts';
import type { Places } from './places.ts';

/** A stream of an open capture. */
interface Member {
  /** Per stream the last captured work that this one comes after. */
  readonly known: Map<StreamId, StepIndex>;
  /** The wait through which it came in, or was forked again. */
  fork: StepIndex;
  /** The fork behind which its first work lies that nothing has joined. */
  unjoined: StepIndex;
  lastLaunch: StepIndex;
}

interface Capture {
  readonly graph: GraphId;
  readonly begin: StepIndex;
  readonly stream: StreamId;
  readonly thread: ThreadId;
  readonly members: Map<StreamId, Member>;
}

/** The latest record of an event; `capture` is missing where it lies in none. */
interface Recorded {
  readonly record: StepIndex;
  readonly capture?: Capture;
  readonly known: ReadonlyMap<StreamId, StepIndex>;
}

const nothing: ReadonlyMap<StreamId, StepIndex> = new Map();

export function findCaptureFaults(program: StreamProgram, places: Places): readonly CaptureFault[] {
  if (!program.steps.some(({ kind }) => kind === 'captureBegin')) return [];
  return new CaptureScan(program, places).run();
}

class CaptureScan {
  readonly #program: StreamProgram;
  readonly #places: Places;
  readonly #open = new Map<GraphId, Capture>();
  readonly #records = new Map<EventId, Recorded>();
  readonly #faults = new Map<string, CaptureFault>();

  constructor(program: StreamProgram, places: Places) {
    this.#program = program;
    this.#places = places;
  }

  run(): readonly CaptureFault[] {
    const { steps } = this.#program;
    for (let i = 0; i < steps.length; i++) this.#take(i);
    return [...this.#faults.values()];
  }

  #take(at: StepIndex): void {
    const step = this.#program.steps[at]!;
    switch (step.kind) {
      case 'captureBegin': {
        const origin: Member = { known: new Map(), fork: at, unjoined: -1, lastLaunch: -1 };
        this.#open.set(step.graph, {
          graph: step.graph,
          begin: at,
          stream: step.stream,
          thread: step.thread,
          members: new Map([[step.stream, origin]]),
        });
        break;
      }
      case 'captureEnd': {
        const capture = this.#open.get(step.graph);
        this.#open.delete(step.graph);
        if (capture) this.#end(capture, at);
        break;
      }
      case 'launch':
        this.#launch(at, step.stream);
        break;
      case 'record': {
        const capture = this.#captureOf(step.stream);
        const known = capture ? new Map(capture.members.get(step.stream)!.known) : nothing;
        this.#records.set(step.event, { record: at, ...(capture ? { capture } : {}), known });
        break;
      }
      case 'wait':
        this.#wait(at, step);
        break;
      case 'hostWait':
        this.#hostWait(at, step);
        break;
      case 'recordStream': {
        const capture = this.#openOn(step.thread);
        if (capture)
          this.#report(at, {
            kind: 'capture-record-stream',
            graph: capture.graph,
            begin: capture.begin,
            call: at,
            block: step.block,
          });
        break;
      }
    }
  }

  #launch(at: StepIndex, stream: StreamId): void {
    const capture = this.#captureOf(stream);
    const member = capture?.members.get(stream);
    if (!capture || !member) return;
    if (stream !== capture.stream && this.#isJoined(capture, stream, member)) member.unjoined = member.fork;
    member.lastLaunch = at;
    member.known.set(stream, at);
  }

  #wait(at: StepIndex, step: WaitStep): void {
    const recorded = this.#records.get(step.event);
    if (!recorded) return;
    const waiting = this.#captureOf(step.stream);
    const from = recorded.capture;
    if (from && this.#open.has(from.graph) && (!waiting || waiting === from)) {
      let member = from.members.get(step.stream);
      if (!member) {
        member = { known: new Map(), fork: at, unjoined: -1, lastLaunch: -1 };
        from.members.set(step.stream, member);
      } else if (this.#isJoined(from, step.stream, member)) member.fork = at;
      for (const [stream, launch] of recorded.known)
        member.known.set(stream, Math.max(launch, member.known.get(stream) ?? -1));
      return;
    }
    if (step.implicit || !this.#isKnown(step.event, step.stream)) return;
    const event = { event: step.event, record: recorded.record, wait: at };
    if (waiting && !from)
      this.#report(at, { kind: 'capture-external-event', graph: waiting.graph, ...event, way: 'into' });
    else if (from) this.#report(at, { kind: 'capture-external-event', graph: from.graph, ...event, way: 'out-of' });
  }

  #hostWait(at: StepIndex, step: HostWaitStep): void {
    const capture = this.#openOn(step.thread);
    if (step.on.kind === 'event') {
      const recorded = this.#records.get(step.on.event);
      const from = recorded?.capture;
      if (step.implicit || !from || this.#program.events[step.on.event]!.unknown) return;
      if (capture === from) this.#report(at, { kind: 'capture-illegal-sync', ...placeOf(capture), sync: at });
      else if (!this.#open.has(from.graph))
        this.#report(at, {
          kind: 'capture-external-event',
          graph: from.graph,
          event: step.on.event,
          record: recorded.record,
          wait: at,
          way: 'out-of',
        });
      return;
    }
    if (!capture || (step.implicit && !this.#readsDevice(at, step))) return;
    if (step.on.kind === 'stream' && this.#program.streams[step.on.stream]!.unknown) return;
    this.#report(at, { kind: 'capture-illegal-sync', ...placeOf(capture), sync: at });
  }

  /** Whether the wait is that of an operation on memory of which it is certain that it is a GPU's. */
  #readsDevice(at: StepIndex, { on, origin }: HostWaitStep): boolean {
    const before = this.#program.steps[at - 1];
    if (before?.kind !== 'launch' || before.origin !== origin || on.kind !== 'stream') return false;
    // A copy to the device may have nothing to do, where the tensor is there already.
    if (before.stream !== on.stream || before.copy === 'h2d') return false;
    return before.accesses.some(({ block }) => {
      const { memory, evidence } = this.#program.blocks[block]!;
      return memory === 'device' && evidence;
    });
  }

  #end(capture: Capture, at: StepIndex): void {
    for (const [stream, member] of capture.members) {
      if (stream === capture.stream || this.#program.streams[stream]!.unknown) continue;
      if (this.#isJoined(capture, stream, member)) continue;
      this.#report(member.unjoined, {
        kind: 'capture-unjoined',
        graph: capture.graph,
        fork: member.unjoined,
        stream,
        launch: member.lastLaunch,
        captureStream: capture.stream,
        end: at,
      });
    }
  }

  /** Whether the capturing stream comes after all captured work of the member. */
  #isJoined(capture: Capture, stream: StreamId, { lastLaunch }: Member): boolean {
    return (capture.members.get(capture.stream)!.known.get(stream) ?? -1) >= lastLaunch;
  }

  #isKnown(event: EventId, stream: StreamId): boolean {
    return !this.#program.events[event]!.unknown && !this.#program.streams[stream]!.unknown;
  }

  #captureOf(stream: StreamId): Capture | undefined {
    for (const capture of this.#open.values()) if (capture.members.has(stream)) return capture;
    return undefined;
  }

  #openOn(thread: ThreadId): Capture | undefined {
    for (const capture of this.#open.values()) if (capture.thread === thread) return capture;
    return undefined;
  }

  #report(at: StepIndex, fault: CaptureFault): void {
    const key = `${fault.kind} ${this.#places.chain(at)}`;
    if (!this.#faults.has(key)) this.#faults.set(key, fault);
  }
}

function placeOf({ graph, begin }: Capture): { readonly graph: GraphId; readonly begin: StepIndex } {
  return { graph, begin };
}
