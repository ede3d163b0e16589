/**
 * Work of callees that nobody here knows. What a call under a selected stream reads and makes often shows only later,
 * when an argument or the result turns out to be a tensor: its launch stays open until then. Knows nothing of devices.
 */
import type { Access, BlockId, EventId, StreamId } from '../../program/program.ts';
import { access } from '../builder.ts';
import { type TensorV, Unknown, type Value, whole } from '../values.ts';
import type { Machine, Selection } from './machine.ts';
import { resolved } from './truth.ts';

export interface UnknownWork {
  /** Of a launch that is emitted already. */
  readonly accesses: Access[];
  /** Arguments that may turn out to be tensors; of `openGiven`, results that have. */
  readonly given: Unknown[];
  /** Tensors that it reads if it gives a tensor. */
  readonly reads: readonly TensorV[];
  /** What it gives is made by it, on its stream. */
  readonly makes: boolean;
  /** A wait of the host that it is taken for; a handle that gives a tensor lets the current stream wait instead. */
  hostWait?: number | undefined;
  /** It moves rows, and is told which. */
  rows?: boolean;
}

/** The launch of a callee that is not known, on the stream of `selection`; what it touches comes later. */
export function openWork(
  m: Machine,
  name: string,
  selection: Selection,
  args: Iterable<Value>,
  reads: readonly TensorV[],
  makes: boolean,
): UnknownWork | undefined {
  if (m.before > 0) return undefined;
  const given: Unknown[] = [];
  if (makes)
    for (const arg of args) {
      const value = resolved(m, arg);
      if (value instanceof Unknown && !value.plain && !value.tensor && value.hint === undefined) given.push(value);
    }
  const accesses: Access[] = [];
  m.builder.openLaunch({ kind: 'launch', stream: selection.stream.stream, name, accesses }, m.origin(selection));
  const work = { accesses, given, reads, makes };
  m.unknownWork.push(work);
  return work;
}

/** The launch of a callee of which nobody knows whether it computes what it gives. */
export function openGiven(m: Machine, name: string, selection: Selection): UnknownWork {
  const accesses: Access[] = [];
  m.builder.openLaunch({ kind: 'launch', stream: selection.stream.stream, name, accesses }, m.origin(selection));
  const work = { accesses, given: [], reads: [], makes: true };
  m.givenWork.push({ work, stream: selection.stream.stream });
  return work;
}

/**
 * What a call gave is ready on the stream that was current then, where the program says that it goes by that: it computes
 * with one part of it on this stream, and with another on a side stream for which this one waits afterwards. Who joins
 * has forked before.
 */
export function closeGiven({ builder, givenWork }: Machine): void {
  for (const { work, stream } of givenWork) {
    const blocks = new Set(work.given.map(({ tensor }) => tensor!.storage.block));
    if (blocks.size === 0) continue;
    const aside = new Map<StreamId, Set<BlockId>>();
    const joined = new Map<EventId, StreamId>();
    const forked = new Set<BlockId>();
    let here = false;
    for (const step of builder.emitted) {
      if (step.kind === 'launch' && builder.isComputed(step))
        for (const { block } of step.accesses) {
          if (!blocks.has(block)) continue;
          if (step.stream === stream) here = true;
          else aside.set(step.stream, (aside.get(step.stream) ?? new Set()).add(block));
        }
      else if (step.kind === 'record' && aside.has(step.stream)) joined.set(step.event, step.stream);
      else if (step.kind === 'wait' && !step.implicit && step.stream === stream)
        for (const block of aside.get(joined.get(step.event) ?? -1) ?? []) forked.add(block);
    }
    if (here) for (const { tensor } of work.given) if (forked.has(tensor!.storage.block)) add(work, tensor!, true);
  }
}

/** A value that the work gave is this tensor. */
export function gave(m: Machine, work: UnknownWork, tensor: TensorV): void {
  if (work.hostWait !== undefined) m.builder.cancel(work.hostWait);
  work.hostWait = undefined;
  for (const read of work.reads) add(work, read, false);
  if (work.makes) add(work, tensor, true);
}

/** The path is over: arguments that became tensors since were tensors when the callee got them. */
export function closeWork(work: UnknownWork): void {
  for (const { tensor } of work.given) if (tensor && tensor.storage.memory === 'device') add(work, tensor, false);
}

function add(work: UnknownWork, { storage, start, end }: TensorV, write: boolean): void {
  const touched = access(storage.block, write, start, end, whole);
  const added: Access = work.rows && !write ? { ...touched, rows: true } : touched;
  if (!work.accesses.some(({ block, start }) => block === added.block && start === added.start))
    work.accesses.push(added);
}
