/** Collectives: they run on the group's own stream; a handle's wait orders the current stream after them. */
import type { If, Node, Statement } from '../../python/ast.ts';
import { codeOf } from '../../python/code.ts';
import { type CollectiveShape, collectiveShape, functionalCollective } from '../../torch/collectives.ts';
import {
  ContextV,
  ExternalV,
  InstanceV,
  keyOf,
  ListV,
  NativeV,
  type StreamV,
  type TensorV,
  TupleV,
  Unknown,
  type Value,
  WorkV,
} from '../values.ts';
import { walk } from '../names.ts';
import { call, type Keywords, noKeywords, tensorsIn, unknownCall } from './calls.ts';
import { itemsOf } from './iteration.ts';
import type { Machine } from './machine.ts';
import { isHost, selectionFor } from './memory.ts';
import { selectStream } from './streams.ts';
import { flag, tensorOf } from './tensors.ts';
import { resolved } from './truth.ts';

function groupStream(m: Machine, group: Value | undefined): StreamV {
  const value = group === undefined ? null : resolved(m, group);
  const isDefault = value === null || (value instanceof ExternalV && /\.WORLD$/.test(value.path));
  const key = `group:${isDefault ? 'default' : keyOf(value)}`;
  let stream = m.groupStreams.get(key);
  if (!stream) {
    stream = collectiveStream(m, "the process group's stream");
    if (value instanceof Unknown && value.origin !== 'result') m.builder.streams[stream.stream]!.givenGroup = true;
    m.groupStreams.set(key, stream);
  }
  return stream;
}

function collectiveStream(m: Machine, name: string): StreamV {
  const stream = m.newStream(name, m.device);
  m.builder.streams[stream.stream]!.collective = true;
  return stream;
}

/** `name` is the path below `torch.distributed`. */
export function collective(m: Machine, name: string, args: readonly Value[], keywords: Keywords, node: Node): Value {
  const shape = collectiveShape(name);
  if (shape) return run(m, name, shape, args, keywords, node);
  const functional = functionalCollective(name);
  if (functional) return runFunctional(m, name, functional, args, keywords);
  switch (name) {
    case 'get_rank':
    case 'get_world_size':
    case 'is_initialized':
    case 'is_available':
    case 'get_backend':
    case 'get_process_group_ranks': {
      const value = m.deriveUnknown(`dist:${name}:${args.map(keyOf).join()}`, name);
      value.plain = true;
      return value;
    }
    case 'init_process_group':
    case 'destroy_process_group':
    case 'monitored_barrier':
      return null;
    case 'new_group':
      return new Unknown('group', 'result');
    case 'P2POp': {
      const operation = m.temp(new NativeV('torch.distributed.P2POp'));
      for (const [i, key] of ['op', 'tensor', 'peer', 'group'].entries())
        operation.attributes.set(key, args[i] ?? keywords.get(key) ?? null);
      operation.attributes.set('…sometimes', isConditional(m, node));
      return operation;
    }
    case 'batch_isend_irecv':
      return runBatch(m, args[0] ?? keywords.get('p2p_op_list') ?? null) ?? unknownCall(m, name, args, keywords);
    case '_coalescing_manager':
      return coalescing(m, flag(m, keywords.get('async_ops') ?? args[2], node));
    case '_functional_collectives.wait_tensor': {
      const tensor = tensorOf(m, args[0]);
      if (tensor?.pending) workMethod(m, tensor.pending, 'wait', [], noKeywords);
      if (tensor) tensor.pending = undefined;
      return tensor ?? new Unknown(name, 'result');
    }
  }
  return unknownCall(m, `torch.distributed.${name}`, args, keywords);
}

function run(
  m: Machine,
  name: string,
  shape: CollectiveShape,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value {
  const at = (index: number | undefined, key: string): Value | undefined =>
    index === undefined ? undefined : (args[index] ?? keywords.get(key));
  const pick = (places: readonly (readonly [number, string])[]): TensorV[] =>
    places.flatMap(([index, key]) => {
      const value = at(index, key);
      return value === undefined ? [] : tensorsOf(m, value);
    });
  const reads = pick(shape.reads);
  const sender = name === 'broadcast' && (sends(m, at(1, 'src')) || reads.some(({ storage }) => storage.sent));
  const writes = sender ? [] : pick(shape.writes);
  if (name === 'broadcast' || name === 'isend') for (const { storage } of reads) storage.sent = true;
  const manager = m.coalescing;
  const async =
    shape.alwaysAsync || manager !== undefined || flag(m, keywords.get('async_op') ?? args[shape.asyncAt ?? 99], node);
  if (!async) {
    for (const tensor of [...writes, ...reads]) if (!isHost(tensor)) tensor.storage.kept = true;
    if (shape.blocksHost) m.hostWaitDevice(m.device, true);
    else m.launch(name, m.current(), reads.filter(onDevice), writes.filter(onDevice));
    // Host memory is moved by the host's own backend, and there when the call returns.
    for (const tensor of reads.filter(isHost)) m.hostAccess(name, tensor, false);
    for (const tensor of writes.filter(isHost)) m.hostAccess(name, tensor, true);
    return null;
  }
  const group = keywords.get('group') ?? (shape.groupAt === undefined ? undefined : args[shape.groupAt]);
  const work = launch(m, name, group, reads, writes, shape.blocksHost ? 'host' : 'work');
  if (!manager || shape.alwaysAsync) return work;
  manager.parts.push(work);
  return null;
}

/** Whether the path has gone where this rank is the one that sends: past `rank == src`, or a flag of the source's name. */
function sends(m: Machine, source_: Value | undefined): boolean {
  const source = source_ === undefined ? null : resolved(m, source_);
  const taken = (flag: Value | undefined): boolean =>
    flag === true || (flag instanceof Unknown && m.decisions.known(`t:${flag.id}`) === true);
  const self = m.frame.firstArgument;
  if (self instanceof InstanceV && source instanceof Unknown)
    for (const [name, value] of self.attributes)
      if (value === source && taken(self.attributes.get(`is_${name}`))) return true;
  if (source instanceof Unknown) {
    // `assert rank == edge.src`
    const equal = new RegExp(`^eq:(?:.*:)?${keyOf(source)}(?::|$)`);
    for (const [key, test] of m.derived) if (equal.test(key) && taken(test)) return true;
  }
  if (typeof source !== 'number') return false;
  for (const test of m.derived.values())
    if (test.comparison?.operator === '==' && test.comparison.than === source && /rank$/.test(test.comparison.of.name))
      if (taken(test)) return true;
  return false;
}

function onDevice(tensor: TensorV): boolean {
  return !isHost(tensor);
}

function tensorsOf(m: Machine, value: Value): TensorV[] {
  const found = tensorsIn(m, [value]);
  if (found.length > 0) return found;
  const tensor = tensorOf(m, value);
  return tensor ? [tensor] : [];
}

/** Runs on the group's stream, behind the current stream's work; the handle orders others after it. */
function launch(
  m: Machine,
  name: string,
  group: Value | undefined,
  reads: readonly TensorV[],
  writes: readonly TensorV[],
  form: WorkV['form'] = 'work',
): WorkV {
  const tensors = [...new Set([...writes, ...reads])].filter((tensor) => !isHost(tensor));
  for (const tensor of tensors) {
    // Used before the wait it is wrong on any backend.
    tensor.storage.device.prove();
    tensor.storage.kept = true;
  }
  const stream = groupStream(m, group);
  const start = m.builder.event('collective');
  m.emit({ kind: 'record', event: start, stream: m.current().stream.stream });
  m.emit({ kind: 'wait', event: start, stream: stream.stream, implicit: true });
  // Host memory is moved by the host's own backend.
  m.launch(name, { stream, activation: -1 }, reads.filter(onDevice), writes.filter(onDevice));
  return m.temp(new WorkV(markDone(m, stream), tensors, form));
}

function markDone(m: Machine, stream: StreamV): number {
  const done = m.builder.event('collective');
  m.emit({ kind: 'record', event: done, stream: stream.stream });
  return done;
}

/** The results wait for the collective where they are first used. */
function runFunctional(
  m: Machine,
  name: string,
  result: 'single' | 'list',
  args: readonly Value[],
  keywords: Keywords,
): Value {
  const given = args[0] ?? keywords.get('self') ?? keywords.get('inputs') ?? keywords.get('tensor');
  const reads = given === undefined ? [] : tensorsOf(m, given);
  const first = reads[0];
  if (!first || isHost(first)) return unknownCall(m, name, args, keywords);
  const made = (result === 'single' ? [first] : reads).map((tensor) =>
    m.allocate(`?${name.slice(name.lastIndexOf('.') + 1)}`, tensor.storage.device, selectionFor(m, tensor)),
  );
  const group = keywords.get('group') ?? args.find((arg, i) => i > 0 && resolved(m, arg) instanceof Unknown);
  const work = launch(m, name.slice(name.lastIndexOf('.') + 1), group, reads, made);
  for (const tensor of made) tensor.pending = work;
  return result === 'single' ? made[0]! : m.temp(new ListV(made));
}

/** All sends and receives are one launch; each of the handles stands for all of it. */
function runBatch(m: Machine, list: Value): Value | undefined {
  const operations = itemsOf(m, list, m.frame.node).map((item) => resolved(m, item));
  const reads: TensorV[] = [];
  const writes: TensorV[] = [];
  let group: Value | undefined;
  let sometimes = false;
  for (const operation of operations) {
    if (!(operation instanceof NativeV) || operation.path !== 'torch.distributed.P2POp') return undefined;
    const op = resolved(m, operation.attributes.get('op') ?? null);
    const tensors = tensorsOf(m, operation.attributes.get('tensor') ?? null);
    if (!(op instanceof ExternalV) || !/\bi(send|recv)$/.test(op.path)) return undefined;
    const receives = op.path.endsWith('irecv');
    (receives ? writes : reads).push(...tensors);
    if (receives && operation.attributes.get('…sometimes') === true) sometimes = true;
    group ??= operation.attributes.get('group');
  }
  if (operations.length === 0) return m.temp(new ListV([]));
  const from = m.builder.length;
  const work = launch(m, 'batch_isend_irecv', group, reads, writes);
  if (sometimes)
    for (let at = from; at < m.builder.length; at++) if (m.builder.emitted[at]!.kind === 'launch') m.relays.push(at);
  return m.temp(new ListV(operations.map(() => work)));
}

/** Whether it depends on a test of the function that it is run at all. */
function isConditional(m: Machine, { start, end }: Node): boolean {
  let found = false;
  if (m.frame.fn)
    walk(m.frame.fn.node, (part) => {
      if (found || end <= part.start || part.end <= start) return false;
      if (part.kind === 'If') found = [(part as If).body, (part as If).orelse].some((body) => holds(body, start));
      return !found;
    });
  return found;
}

function holds(body: readonly Statement[], place: number): boolean {
  const [first] = body;
  return first !== undefined && first.start <= place && place < body.at(-1)!.end;
}

/**
 * A path does not wait because of the rank that it runs on. Which ranks receive is a question of the rank, too, and how
 * the two go together is not known: this one may be one that only sends.
 */
export function skipsWait(m: Machine, { test, body, orelse, end }: If, taken: boolean): void {
  const { text } = m.frame.module.syntax;
  const code = (from: number, to: number): string => codeOf(text.slice(from, to));
  const said = (block: readonly Statement[]): string =>
    block.length === 0 ? '' : code(block[0]!.start, block.at(-1)!.end);
  const [chosen, other] = taken ? [body, orelse] : [orelse, body];
  // Past a branch that leaves lies the other one.
  const leaves = /^(?:Return|Continue)$/.test(chosen.at(-1)?.kind ?? '');
  const skipped = said(other) + (leaves ? code(end, m.frame.fn?.node.end ?? end) : '');
  if (!namesRank.test(code(test.start, test.end)) || waits.test(said(chosen)) || !waits.test(skipped)) return;
  for (const launch of m.relays.splice(0)) m.builder.readsOnly(launch);
}

const namesRank = /rank|stage|(?:^|[._\s])(?:is_)?(?:first|last|final|root|src|dst)\b/i;
const waits = /\bwait\w*\(/;

/** Collectives inside start together at its end; its `wait`, or its end where it is not asynchronous, is that of all. */
function coalescing(m: Machine, async: boolean): ContextV {
  const manager = m.temp(new NativeV('torch.distributed.coalescing'));
  let before: NativeV | undefined;
  return m.temp(
    new ContextV(() => {
      before = m.coalescing;
      m.coalescing = manager;
      return manager;
    }, () => {
      m.coalescing = before;
      if (!async) waitForAll(m, manager);
    }, [manager]),
  );
}

/** `wait` of the manager that coalesced collectives. */
export function waitForAll(m: Machine, manager: NativeV): void {
  for (const work of manager.parts) if (work instanceof WorkV) workMethod(m, work, 'wait', [], noKeywords);
}

export function workMethod(m: Machine, self: WorkV, name: string, args: readonly Value[], _keywords: Keywords): Value {
  switch (name) {
    case 'wait':
    case 'synchronize':
    case 'block_current_stream': {
      const selection = m.current();
      if (self.form === 'host') m.emit({ kind: 'hostWait', on: { kind: 'event', event: self.event }, implicit: true });
      m.emit({ kind: 'wait', event: self.event, stream: selection.stream.stream, implicit: true }, selection);
      return self.form === 'future' ? futureValue(m, self) : true;
    }
    case 'is_completed':
    case 'query':
    case 'done': {
      const value = new Unknown(name, 'result');
      value.plain = true;
      value.poll = { kind: 'event', event: self.event };
      return value;
    }
    case 'get_future':
      return m.temp(new WorkV(self.event, self.tensors, 'future'));
    case 'value':
      return futureValue(m, self);
    case 'then':
      return then(m, self, args[0] ?? null);
    case 'result':
    case 'get_future_result':
      return new Unknown(name, 'result');
  }
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

/** A list lets go of handles that hooks or other methods have left in it: who has them then shows at the end of the entry. */
export function dropHandles(m: Machine, items: Iterable<Value>, depth = 0): void {
  if (!m.entered || m.filling || m.settled > 0) return;
  for (const item of items)
    if (item instanceof WorkV && item.event < m.eventsBefore) m.droppedHandles.push({ work: item, origin: m.origin() });
    else if ((item instanceof TupleV || item instanceof ListV) && depth < 2) dropHandles(m, item.items, depth + 1);
}

/** `torch.futures.wait_all` waits for each, `collect_all` gives one future for all; undefined: some are not known. */
export function futuresTogether(m: Machine, given: readonly Value[], how: string): Value | undefined {
  const futures = given.map((item) => resolved(m, item)).filter((item) => item instanceof WorkV);
  if (futures.length < given.length) return undefined;
  if (how === 'wait_all') return m.temp(new ListV(futures.map((one) => workMethod(m, one, 'wait', [], noKeywords))));
  const all = m.temp(new NativeV('torch.distributed.coalescing'));
  all.parts = futures;
  return all;
}

function futureValue(m: Machine, self: WorkV): Value {
  return self.value ?? m.temp(new ListV([...self.tensors]));
}

/** The callback runs on a stream of the pool that is after the collective; the new future is done when its work is. */
function then(m: Machine, self: WorkV, callback: Value): Value {
  const stream = collectiveStream(m, "the future's stream");
  m.emit({ kind: 'wait', event: self.event, stream: stream.stream, implicit: true });
  const restore = selectStream(m, stream);
  let value: Value;
  try {
    value = call(m, callback, [m.temp(new WorkV(self.event, self.tensors, 'future'))], noKeywords, m.frame.node);
  } finally {
    restore();
  }
  return m.temp(new WorkV(markDone(m, stream), tensorsIn(m, [value]), 'future', value));
}
