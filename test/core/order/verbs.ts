/**
 * Stream programs in a few verbs, one step a line, with invented names:
 *
 *     alloc x on a            alloc x on a size 4096 at 0x1000        pinned p        blind x        unknown s
 *     a: w x                  a: r x[0..64] w y                       a: rw x         a: r x[?]
 *     record e on a           b waits e                               b waits e (implicit)
 *     host waits e            host waits stream a                     host waits device      host polls e
 *     host reads p            host writes p[0..64]                    worker: host waits e   fork worker   join worker
 *     release x               keep x for b  (record_stream)           escape x to a          outside a
 *     capture g on a          end g                                   replay g on a
 *
 * `@name` at the end of a line gives it a place of its own: lines with the same name are executions of one statement.
 * `hazards` prints what was found, steps as line numbers from 1.
 */
import { findHazards } from '../../../core/hazards/find.ts';
import type { Hazard } from '../../../core/hazards/hazard.ts';
import type { Access, Origin, Step, StreamProgram } from '../../../core/program/program.ts';

class Names {
  readonly list: string[] = [];
  id(name: string): number {
    const at = this.list.indexOf(name);
    return at >= 0 ? at : this.list.push(name) - 1;
  }
}

export interface Told {
  readonly program: StreamProgram;
  /** The line of each step, from 1. */
  readonly lines: readonly number[];
}

export function tell(text: string): Told {
  const streams = new Names();
  const events = new Names();
  const blocks = new Names();
  const threads = new Names();
  const graphs = new Names();
  const places = new Names();
  threads.id('main');
  const unknown = new Set<string>();
  const pinned = new Set<string>();
  const pageable = new Set<string>();
  const blind = new Set<string>();
  const life = new Map<string, { size?: number; address?: number; stream?: number }>();
  const steps: Step[] = [];
  const lines: number[] = [];
  const origins: Origin[] = [];

  text.split('\n').forEach((raw, index) => {
    let line = raw.replace(/#.*/, '').trim();
    if (!line) return;
    const place = / @(\S+)$/.exec(line);
    if (place) line = line.slice(0, place.index).trim();
    let thread = 0;
    const prefix = /^(\w+): (?=host|fork|join|alloc|release|\w+: |record|\w+ waits)/.exec(line);
    if (prefix) {
      thread = threads.id(prefix[1]!);
      line = line.slice(prefix[0].length);
    }
    const origin = origins.length;
    const key = places.id(place ? `@${place[1]}` : `${index}`);
    origins.push({
      kind: 'source',
      frames: [{ activation: 0, file: 'told', start: key, end: key + 1 }],
      streamFrame: -1,
    });
    const base = { thread, origin };
    const add = (step: Step) => {
      steps.push(step);
      lines.push(index + 1);
    };
    const access = (mode: 'r' | 'w', what: string): Access => {
      const m = /^(\w+)(?:\[(?:(\d+)\.\.(\d+)|(\?))\])?$/.exec(what);
      if (!m) throw new Error(`what is ${what}?`);
      const one = { block: blocks.id(m[1]!), write: mode === 'w' };
      if (m[4]) return { ...one, unknownRange: true };
      return m[2] ? { ...one, start: Number(m[2]), end: Number(m[3]) } : one;
    };
    let m: RegExpExecArray | null;
    const is = (pattern: RegExp) => {
      m = pattern.exec(line);
      return m !== null;
    };
    if (is(/^(unknown|pinned|pageable|blind) (\w+)$/)) {
      if (m![1] === 'unknown') unknown.add(m![2]!);
      else (m![1] === 'pinned' ? pinned : m![1] === 'pageable' ? pageable : blind).add(m![2]!);
    } else if (is(/^alloc (\w+) on (\w+)(?: size (\d+))?(?: at (\w+))?$/)) {
      const stream = streams.id(m![2]!);
      life.set(m![1]!, {
        size: m![3] ? Number(m![3]) : undefined,
        address: m![4] ? Number(m![4]) : undefined,
        stream,
      });
      add({ ...base, kind: 'allocate', block: blocks.id(m![1]!), stream });
    } else if (is(/^release (\w+)$/)) add({ ...base, kind: 'release', block: blocks.id(m![1]!) });
    else if (is(/^keep (\w+) for (\w+)$/))
      add({ ...base, kind: 'recordStream', block: blocks.id(m![1]!), stream: streams.id(m![2]!) });
    else if (is(/^escape (\w+) to (\w+)$/))
      add({ ...base, kind: 'escape', block: blocks.id(m![1]!), stream: streams.id(m![2]!), how: 'return' });
    else if (is(/^outside (\w+)$/)) add({ ...base, kind: 'outside', stream: streams.id(m![1]!) });
    else if (is(/^capture (\w+) on (\w+)$/))
      add({ ...base, kind: 'captureBegin', graph: graphs.id(m![1]!), stream: streams.id(m![2]!) });
    else if (is(/^end (\w+)$/)) add({ ...base, kind: 'captureEnd', graph: graphs.id(m![1]!) });
    else if (is(/^replay (\w+) on (\w+)$/))
      add({ ...base, kind: 'replay', graph: graphs.id(m![1]!), stream: streams.id(m![2]!) });
    else if (is(/^fork (\w+)$/)) add({ ...base, kind: 'fork', child: threads.id(m![1]!) });
    else if (is(/^join (\w+)$/)) add({ ...base, kind: 'join', child: threads.id(m![1]!) });
    else if (is(/^record (\w+) on (\w+)$/))
      add({ ...base, kind: 'record', event: events.id(m![1]!), stream: streams.id(m![2]!) });
    else if (is(/^host (waits|polls) (?:(stream|device)(?: (\w+))?|(\w+))( \(implicit\))?$/)) {
      const on =
        m![2] === 'stream'
          ? ({ kind: 'stream', stream: streams.id(m![3]!) } as const)
          : m![2] === 'device'
            ? ({ kind: 'device', device: Number(m![3] ?? 0) } as const)
            : ({ kind: 'event', event: events.id(m![4]!) } as const);
      if (m![1] === 'polls') add({ ...base, kind: 'poll', on });
      else add({ ...base, kind: 'hostWait', on, implicit: m![5] ? true : undefined });
    } else if (is(/^host (reads|writes) (\S+)$/)) {
      const mode = m![1] === 'reads' ? 'r' : 'w';
      add({ ...base, kind: 'hostAccess', name: line, access: access(mode, m![2]!) });
    } else if (is(/^(\w+) waits (\w+)( \(implicit\))?$/))
      add({
        ...base,
        kind: 'wait',
        stream: streams.id(m![1]!),
        event: events.id(m![2]!),
        implicit: m![3] ? true : undefined,
      });
    else if (is(/^(\w+):((?: (?:r|w|rw) \S+)*)$/)) {
      const accesses: Access[] = [];
      for (const [, mode, what] of m![2]!.matchAll(/(rw|r|w) (\S+)/g)) {
        if (mode !== 'w') accesses.push(access('r', what!));
        if (mode !== 'r') accesses.push(access('w', what!));
      }
      add({ ...base, kind: 'launch', stream: streams.id(m![1]!), name: `line ${index + 1}`, accesses });
    } else throw new Error(`line ${index + 1}: what is "${line}"?`);
  });

  return {
    lines,
    program: {
      streams: streams.list.map((name) => ({
        name,
        device: name.startsWith('far') ? 1 : 0,
        isDefault: name === 'main',
        unknown: unknown.has(name) || undefined,
      })),
      events: events.list.map((name) => ({ name })),
      blocks: blocks.list.map((name) => ({
        name,
        memory: pinned.has(name) ? 'pinned' : pageable.has(name) ? 'pageable' : 'device',
        evidence: !blind.has(name),
        ...life.get(name),
      })),
      threads: threads.list.map((name) => ({ name })),
      origins,
      steps,
    },
  };
}

/** What is found, a line each, in the order of the engine. */
export function hazards(text: string): string[] {
  const told = tell(text);
  return findHazards(told.program).map((hazard) => describe(hazard, told));
}

export function describe(hazard: Hazard, { program, lines }: Told): string {
  const stream = (s: number) => program.streams[s]!.name;
  const block = 'block' in hazard ? program.blocks[hazard.block]!.name : '';
  const at = (step: number) => (step < 0 ? '-' : `${lines[step]}`);
  switch (hazard.kind) {
    case 'order': {
      const range = hazard.start === undefined ? '' : `[${hazard.start}..${hazard.end}]`;
      return `${hazard.conflict} ${block}${range}: ${stream(hazard.firstStream)} ${at(hazard.first)}, ${stream(hazard.secondStream)} ${at(hazard.second)}`;
    }
    case 'lifetime': {
      const next = hazard.nextBlock === undefined ? '' : ` as ${program.blocks[hazard.nextBlock]!.name}`;
      return `lifetime ${block}: ${stream(hazard.useStream)} ${at(hazard.use)}, released ${at(hazard.release)}, reused ${at(hazard.reuse)}${next}`;
    }
    case 'unjoined':
      return `unjoined ${block}: ${stream(hazard.writeStream)} ${at(hazard.write)}, ${stream(hazard.escapeStream)} ${at(hazard.escape)}`;
    case 'unrecorded':
      return `unrecorded ${program.events[hazard.event]!.name}: ${at(hazard.wait)}`;
    case 'reversed':
      return `${hazard.how} ${at(hazard.wait)}: ${hazard.settles.map(([a, b]) => `${at(a)}-${at(b)}`).join(' ')}`;
    case 'redundant-record-stream':
      return `redundant ${block} ${at(hazard.call)}: ${hazard.why}${hazard.join === undefined ? '' : ` ${at(hazard.join)}`}`;
    case 'rerecorded':
      return `rerecorded ${program.events[hazard.event]!.name}: ${at(hazard.lost)} lost by ${at(hazard.record)}, waited ${at(hazard.wait)}: ${hazard.settles.map(([a, b]) => `${at(a)}-${at(b)}`).join(' ')}`;
    case 'late-record-stream':
      return `late ${block} ${at(hazard.call)}: ${hazard.why}, ${program.blocks[hazard.unprotected]!.name} used ${at(hazard.use)}`;
    case 'capture-unjoined':
      return `unjoined capture: ${stream(hazard.stream)} forked ${at(hazard.fork)}, ${at(hazard.launch)} not joined at ${at(hazard.end)}`;
    case 'capture-external-event':
      return `event ${hazard.way} the capture: ${program.events[hazard.event]!.name} ${at(hazard.record)}, ${at(hazard.wait)}`;
    case 'capture-illegal-sync':
      return `sync in capture: ${at(hazard.sync)}`;
    case 'capture-record-stream':
      return `record_stream in capture: ${block} ${at(hazard.call)}`;
    case 'serialized-streams':
      return `serialized by ${at(hazard.wait)} (${hazard.how}), ${at(hazard.next)}`;
    case 'too-many-streams':
      return `${hazard.count} streams`;
    case 'external-stream-zero':
      return `${stream(hazard.stream)} by the handle 0`;
    case 'redundant-sync':
      return `redundant wait ${at(hazard.wait)}: ${hazard.why}${hazard.earlier === undefined ? '' : ` ${at(hazard.earlier)}`}`;
    case 'unused-event':
      return `unused ${program.events[hazard.event]!.name}: ${at(hazard.record)}`;
    case 'host':
      return `${hazard.conflict} ${block}: ${stream(hazard.firstStream)} ${at(hazard.first)}, host ${at(hazard.second)}`;
  }
}
