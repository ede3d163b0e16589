/** Collectives: they run on the group's own stream; a handle's wait orders the current stream after them. */
import type { Node } from '../../python/ast.ts';
import { collectiveShape } from '../../torch/collectives.ts';
import { type StreamV, type TensorV, Unknown, type Value, WorkV, keyOf } from '../values.ts';
import { type Keywords, tensorsIn, unknownCall } from './calls.ts';
import type { Machine } from './machine.ts';
import { isHost } from './memory.ts';
import { flag, tensorOf } from './tensors.ts';
import { resolved } from './truth.ts';

function groupStream(m: Machine, group: Value | undefined): StreamV {
  const key = `group:${group === undefined || group === null ? 'default' : keyOf(resolved(m, group))}`;
  let stream = m.groupStreams.get(key);
  if (!stream) {
    stream = m.newStream("the process group's stream", m.device);
    m.builder.streams[stream.stream]!.collective = true;
    m.groupStreams.set(key, stream);
  }
  return stream;
}

export function collective(m: Machine, name: string, args: readonly Value[], keywords: Keywords, node: Node): Value {
  const shape = collectiveShape(name);
  if (!shape) {
    if (/^(get_rank|get_world_size|is_initialized|is_available|get_backend|get_process_group_ranks)$/.test(name)) {
      const value = m.deriveUnknown(`dist:${name}:${args.map(keyOf).join()}`, name);
      value.plain = true;
      return value;
    }
    if (/^(init_process_group|destroy_process_group|monitored_barrier)$/.test(name)) return null;
    if (name === 'barrier') {
      m.hostWaitDevice(m.device, true);
      return null;
    }
    if (name === 'new_group') return new Unknown('group', 'result');
    return unknownCall(m, `torch.distributed.${name}`, args, keywords);
  }
  const at = (index: number | undefined, key: string): Value | undefined =>
    index === undefined ? undefined : (args[index] ?? keywords.get(key));
  const pick = (places: readonly (readonly [number, string])[]): TensorV[] =>
    places.flatMap(([index, key]) => {
      const value = at(index, key);
      if (value === undefined) return [];
      const found = tensorsIn(m, [value]);
      if (found.length > 0) return found;
      const tensor = tensorOf(m, value);
      return tensor ? [tensor] : [];
    });
  const writes = pick(shape.writes);
  const reads = pick(shape.reads);
  const async = shape.alwaysAsync || flag(m, keywords.get('async_op') ?? args[shape.asyncAt ?? 99], node);
  const tensors = [...new Set([...writes, ...reads])].filter((tensor) => !isHost(tensor));
  for (const tensor of tensors) {
    // Used before the wait it is wrong on any backend.
    if (async) tensor.storage.device.prove();
    tensor.storage.kept = true;
  }
  const current = m.current();
  if (!async) {
    m.launch(name, current, reads, writes);
    return null;
  }
  const stream = groupStream(
    m,
    keywords.get('group') ?? (shape.groupAt === undefined ? undefined : args[shape.groupAt]),
  );
  const start = m.builder.event('collective');
  m.emit({ kind: 'record', event: start, stream: current.stream.stream });
  m.emit({ kind: 'wait', event: start, stream: stream.stream, implicit: true });
  m.launch(name, { stream, activation: -1 }, reads, writes);
  const done = m.builder.event('collective');
  m.emit({ kind: 'record', event: done, stream: stream.stream });
  return m.temp(new WorkV(done, tensors));
}

export function workMethod(m: Machine, self: WorkV, name: string, _args: readonly Value[], _keywords: Keywords): Value {
  switch (name) {
    case 'wait':
    case 'synchronize':
    case 'block_current_stream': {
      const selection = m.current();
      m.emit({ kind: 'wait', event: self.event, stream: selection.stream.stream, implicit: true }, selection);
      return true;
    }
    case 'is_completed':
    case 'query': {
      const value = new Unknown(name, 'result');
      value.plain = true;
      value.poll = { kind: 'event', event: self.event };
      return value;
    }
    case 'get_future':
      // Waiting for the future waits as the handle does.
      return self;
    case 'result':
    case 'get_future_result':
      return new Unknown(name, 'result');
  }
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}
