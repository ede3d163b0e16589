/**
 * Writes the own format (docs/trace-format.md) line by line, with the keys of the page in its order. It gives out ids of
 * strings and sites; all other ids are the caller's. What it writes is text: where it goes is not its business.
 */
import { racelineVersion } from './raceline.ts';

export interface HeaderLine {
  readonly producer: string;
  readonly mode: 'cuda' | 'meta' | 'builtin';
  readonly unix?: string;
  readonly level?: 'full' | 'timeline';
  readonly torch?: string;
  readonly device?: string;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  /** A sentence about what the run shows. */
  readonly note?: string;
}

/** What every step has. Times are nanoseconds; `s` is an id that `site` gave out. */
export interface StepFields {
  readonly n: number;
  readonly t?: number;
  readonly d?: number;
  readonly th?: number;
  readonly s?: number;
}

export type AccessMode = 'r' | 'w' | 'rw';
export type AccessTuple = readonly [block: number, start: number, end: number, mode: AccessMode];
/** What a `sync` or a `poll` waits for. */
export type WaitedFor =
  | { readonly on: 'event'; readonly e: number; readonly rec?: number }
  | { readonly on: 'stream'; readonly st: number }
  | { readonly on: 'device'; readonly device: number };

export class RacelineWriter {
  #lines: string[] = [];
  readonly #strings = new Map<string, number>();
  readonly #sites = new Map<string, number>();

  constructor(header: HeaderLine) {
    const { producer, mode, torch, device, unix, argv, cwd, level, note } = header;
    this.#line({ raceline: racelineVersion, producer, mode, torch, device, unix, argv, cwd, level, note });
  }

  /** All lines that were not taken yet, each with its line end. */
  take(): string {
    const text = this.#lines.join('');
    this.#lines = [];
    return text;
  }

  /** The id of a string; its line is written at its first use. */
  string(text: string): number {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    const id = this.#strings.size;
    this.#strings.set(text, id);
    this.#line({ k: 'str', id, v: text });
    return id;
  }

  /** The id of a frame with its caller's site (`up`; left out: outermost). Lines count from 1. */
  site(file: string, line: number, fn: string, up?: number): number {
    const key = `${up ?? ''} ${line} ${file}\0${fn}`;
    const known = this.#sites.get(key);
    if (known !== undefined) return known;
    const fileId = this.string(file);
    const fnId = this.string(fn);
    const id = this.#sites.size;
    this.#sites.set(key, id);
    this.#line({ k: 'site', id, file: fileId, line, fn: fnId, up });
    return id;
  }

  /** May be written again for what was learnt since. */
  stream(stream: {
    readonly id: number;
    readonly device?: number;
    readonly handle?: string;
    readonly num?: number;
    readonly name?: string;
    readonly default?: boolean;
    readonly priority?: number;
    readonly unknown?: boolean;
    readonly collective?: boolean;
  }): void {
    const { id, device, handle, num, name, priority, unknown, collective } = stream;
    const isDefault = stream.default;
    this.#line({
      k: 'stream',
      id,
      device,
      handle,
      num,
      name: this.#named(name),
      default: isDefault,
      priority,
      unknown,
      collective,
    });
  }

  thread(thread: { readonly id: number; readonly tid?: number; readonly pid?: number; readonly name?: string }): void {
    this.#line({ k: 'thread', id: thread.id, tid: thread.tid, pid: thread.pid, name: this.#named(thread.name) });
  }

  /** A block that was there before the recording. */
  block(block: {
    readonly b: number;
    readonly addr?: string;
    readonly size?: number;
    readonly st?: number;
    readonly name?: string;
    readonly mem?: 'device' | 'pinned';
  }): void {
    const { b, addr, size, st, mem } = block;
    this.#line({ k: 'block', b, addr, size, st, mem, name: this.#named(block.name) });
  }

  alloc(
    step: StepFields & {
      readonly b: number;
      readonly addr?: string;
      readonly size?: number;
      readonly st: number;
      readonly name?: string;
      readonly mem?: 'device' | 'pinned';
    },
  ): void {
    const { b, addr, size, st, mem } = step;
    this.#step('alloc', step, { b, addr, size, st, mem, name: this.#named(step.name) });
  }

  free(step: StepFields & { readonly b: number; readonly how?: 'statement' | 'scope' }): void {
    this.#step('free', step, { b: step.b, how: step.how });
  }

  reusable(b: number, t: number): void {
    this.#line({ k: 'reusable', b, t });
  }

  recordStream(step: StepFields & { readonly b: number; readonly st: number; readonly implicit?: boolean }): void {
    this.#step('recordStream', step, { b: step.b, st: step.st, implicit: step.implicit });
  }

  op(
    step: StepFields & {
      readonly st: number;
      readonly name: string;
      readonly acc?: readonly AccessTuple[];
      readonly blind?: boolean;
      readonly copy?: 'h2d' | 'd2h' | 'd2d';
    },
  ): void {
    const { st, acc, blind, copy } = step;
    this.#step('op', step, { st, name: this.string(step.name), acc, blind, copy });
  }

  record(step: StepFields & { readonly e: number; readonly st: number; readonly implicit?: boolean }): void {
    this.#step('record', step, { e: step.e, st: step.st, implicit: step.implicit });
  }

  wait(
    step: StepFields & {
      readonly e: number;
      readonly st: number;
      readonly rec?: number;
      readonly implicit?: boolean;
    },
  ): void {
    this.#step('wait', step, { e: step.e, st: step.st, rec: step.rec, implicit: step.implicit });
  }

  sync(step: StepFields & WaitedFor & { readonly api?: string; readonly implicit?: boolean }): void {
    this.#step('sync', step, { ...waitedFor(step), api: this.#named(step.api), implicit: step.implicit });
  }

  poll(step: StepFields & WaitedFor & { readonly api?: string }): void {
    this.#step('poll', step, { ...waitedFor(step), api: this.#named(step.api) });
  }

  host(
    step: StepFields & {
      readonly b: number;
      readonly acc: AccessMode;
      readonly lo?: number;
      readonly hi?: number;
      readonly name?: string;
    },
  ): void {
    const { b, acc, lo, hi } = step;
    this.#step('host', step, { b, acc, lo, hi, name: this.#named(step.name) });
  }

  capture(step: StepFields & { readonly g: number; readonly st: number }): void {
    this.#step('capture', step, { g: step.g, st: step.st });
  }

  captureEnd(step: StepFields & { readonly g: number }): void {
    this.#step('captureEnd', step, { g: step.g });
  }

  replay(step: StepFields & { readonly g: number; readonly st: number }): void {
    this.#step('replay', step, { g: step.g, st: step.st });
  }

  fork(step: StepFields & { readonly child: number }): void {
    this.#step('fork', step, { child: step.child });
  }

  join(step: StepFields & { readonly child: number }): void {
    this.#step('join', step, { child: step.child });
  }

  gpu(slice: {
    readonly op?: number;
    readonly st?: number;
    readonly t: number;
    readonly d: number;
    readonly name?: string;
    readonly kind?: 'kernel' | 'copy' | 'set';
    readonly bytes?: number;
    readonly corr?: number;
  }): void {
    const { op, st, t, d, kind, bytes, corr } = slice;
    this.#line({ k: 'gpu', op, st, t, d, name: this.#named(slice.name), kind, bytes, corr });
  }

  edge(wait: number, t: number, blocked: number): void {
    this.#line({ k: 'edge', wait, t, blocked });
  }

  counter(counter: {
    readonly t: number;
    readonly device?: number;
    readonly allocated?: number;
    readonly reserved?: number;
    readonly held?: number;
  }): void {
    const { t, device, allocated, reserved, held } = counter;
    this.#line({ k: 'counter', t, device, allocated, reserved, held });
  }

  limit(text: string): void {
    this.#line({ k: 'limit', v: text });
  }

  output(text: string, t?: number): void {
    this.#line({ k: 'output', v: this.string(text), t });
  }

  end(t: number, status: 'ok' | 'error' | 'stopped', message?: string): void {
    this.#line({ k: 'end', t, status, message });
  }

  #step(kind: string, step: StepFields, fields: object): void {
    this.#line({ k: kind, n: step.n, t: step.t, d: step.d, th: step.th, ...fields, s: step.s });
  }

  #named(name: string | undefined): number | undefined {
    return name === undefined ? undefined : this.string(name);
  }

  /** Keys without a value are left out, as JSON.stringify does. */
  #line(line: object): void {
    this.#lines.push(`${JSON.stringify(line)}\n`);
  }
}

function waitedFor(step: WaitedFor): object {
  switch (step.on) {
    case 'event':
      return { on: step.on, e: step.e, rec: step.rec };
    case 'stream':
      return { on: step.on, st: step.st };
    case 'device':
      return { on: step.on, device: step.device };
  }
}
