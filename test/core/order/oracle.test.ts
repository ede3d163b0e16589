// Random programs, judged by the engine and by a search in the happens-before graph that shares nothing with it.
import { expect, test } from 'vitest';
import { examine } from '../../../core/hazards/find.ts';
import type { Access, Step, StreamProgram } from '../../../core/program/program.ts';
import { randomProgram, type Shape } from './random.ts';

/**
 * `edges[i]`: steps that are done before step i is. Steps of the device and moments of the host are nodes alike: a
 * step's number stands for its device work, steps.length plus it for the moment at which the host is past it.
 */
class Reachability {
  readonly #before: Set<number>[];
  readonly #known = new Map<number, Set<number>>();

  constructor(program: StreamProgram) {
    const { steps } = program;
    const n = steps.length;
    const before: Set<number>[] = Array.from({ length: 2 * n }, () => new Set());
    this.#before = before;
    const edge = (from: number, to: number) => before[to]!.add(from);
    const lastOf = (i: number, fits: (step: Step) => boolean) => {
      for (let k = i - 1; k >= 0; k--) if (fits(steps[k]!)) return k;
      return -1;
    };
    const queued = (stream: number) => (step: Step) =>
      (step.kind === 'launch' || step.kind === 'record' || step.kind === 'wait') && step.stream === stream;
    steps.forEach((step, i) => {
      const host = n + i;
      // The host goes through a thread's steps in order.
      const previous = lastOf(i, (other) => other.thread === step.thread);
      if (previous >= 0) edge(n + previous, host);
      // A thread starts after the fork and goes on after the join.
      for (let k = 0; k < i; k++) {
        const other = steps[k]!;
        if (other.kind === 'fork' && other.child === step.thread) edge(n + k, host);
      }
      if (step.kind === 'join') {
        const last = lastOf(i, (other) => other.thread === step.child);
        if (last >= 0) edge(n + last, host);
        for (let k = 0; k < i; k++) {
          const other = steps[k]!;
          if (other.kind === 'fork' && other.child === step.child) edge(n + k, host);
        }
      }
      if (step.kind === 'launch' || step.kind === 'record' || step.kind === 'wait') {
        const last = lastOf(i, queued(step.stream));
        if (last >= 0) edge(last, i);
        // Nothing runs before it is issued.
        edge(host, i);
      }
      if (step.kind === 'wait') {
        const record = lastOf(i, (other) => other.kind === 'record' && other.event === step.event);
        if (record >= 0) edge(record, i);
      }
      if (step.kind === 'hostWait' || step.kind === 'poll') {
        const { on } = step;
        if (on.kind === 'event') {
          const record = lastOf(i, (other) => other.kind === 'record' && other.event === on.event);
          if (record >= 0) edge(record, host);
        } else
          for (let s = 0; s < program.streams.length; s++) {
            if (on.kind === 'stream' && s !== on.stream) continue;
            const last = lastOf(i, queued(s));
            if (last >= 0) edge(last, host);
          }
      }
    });
  }

  /** Whether the device work of step `from` is over when node `to` happens. */
  ordered(from: number, to: number): boolean {
    let known = this.#known.get(to);
    if (!known) {
      known = new Set([to]);
      const open = [to];
      while (open.length)
        for (const next of this.#before[open.pop()!]!) {
          if (known.has(next)) continue;
          known.add(next);
          open.push(next);
        }
      this.#known.set(to, known);
    }
    return known.has(from);
  }
}

function queuedBefore(steps: readonly Step[], i: number, stream: number): number {
  for (let k = i - 1; k >= 0; k--) {
    const step = steps[k]!;
    if ((step.kind === 'launch' || step.kind === 'record' || step.kind === 'wait') && step.stream === stream) return k;
  }
  return -1;
}

const wholeBlock = (program: StreamProgram, access: Access): [number, number] => [
  access.start ?? 0,
  access.end ?? program.blocks[access.block]!.size!,
];

/** All unordered conflicting pairs of one life of a block, as "first second". */
function racingPairs(program: StreamProgram, graph: Reachability): Set<string> {
  const pairs = new Set<string>();
  const { steps } = program;
  for (let j = 0; j < steps.length; j++)
    for (let i = 0; i < j; i++) {
      const [first, second] = [steps[i]!, steps[j]!];
      if (first.kind !== 'launch' || second.kind !== 'launch') continue;
      for (const a of first.accesses)
        for (const b of second.accesses) {
          if (a.block !== b.block || !(a.write || b.write)) continue;
          const [[s, e], [u, v]] = [wholeBlock(program, a), wholeBlock(program, b)];
          if (s < v && u < e && !graph.ordered(i, j)) pairs.add(`${i} ${j}`);
        }
    }
  return pairs;
}

const shapes: readonly Shape[] = [
  { streams: 2, events: 2, blocks: 2, threads: 1, steps: 30, ranges: false },
  { streams: 3, events: 3, blocks: 3, threads: 1, steps: 60, ranges: true },
  { streams: 4, events: 3, blocks: 4, threads: 2, steps: 90, ranges: true },
  { streams: 5, events: 6, blocks: 3, threads: 3, steps: 120, ranges: false },
];

test('each order hazard is an unordered pair, and each step that races is accused or in the shadow of a pair', () => {
  let accused = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const program = randomProgram(seed, shapes[seed % shapes.length]!);
    const graph = new Reachability(program);
    const racing = racingPairs(program, graph);
    const found = examine(program).hazards.filter((hazard) => hazard.kind === 'order');
    for (const hazard of found) expect(racing, `seed ${seed}`).toContain(`${hazard.first} ${hazard.second}`);
    accused += found.length;
    // A pair that is not told has its reason: an earlier pair of the same bytes took its place, or the same stream told
    // the same write already.
    if (found.length === 0) expect(racing.size, `seed ${seed}`).toBe(0);
    if (racing.size > 0) {
      const firstRace = Math.min(...[...racing].map((pair) => Number(pair.split(' ')[1])));
      expect(Math.min(...found.map((hazard) => hazard.second)), `seed ${seed}`).toBe(firstRace);
    }
  }
  expect(accused).toBeGreaterThan(600);
});

test('each host hazard is a copy in flight that the host meets, and none is missed', () => {
  let accused = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const program = randomProgram(seed, { ...shapes[seed % shapes.length]!, pinned: true });
    const graph = new Reachability(program);
    const { steps } = program;
    const racing = new Set<string>();
    steps.forEach((second, j) => {
      if (second.kind !== 'hostAccess') return;
      const { block, write } = second.access;
      steps.slice(0, j).forEach((first, i) => {
        if (first.kind !== 'launch' || graph.ordered(i, steps.length + j)) return;
        if (first.accesses.some((access) => access.block === block && (access.write || write))) racing.add(`${i} ${j}`);
      });
    });
    const found = examine(program).hazards.filter((hazard) => hazard.kind === 'host');
    for (const hazard of found) expect(racing, `seed ${seed}`).toContain(`${hazard.first} ${hazard.second}`);
    const firstOf = (seconds: readonly number[]) => Math.min(Number.POSITIVE_INFINITY, ...seconds);
    const firstRace = firstOf([...racing].map((pair) => Number(pair.split(' ')[1])));
    expect(firstOf(found.map((hazard) => hazard.second)), `seed ${seed}`).toBe(firstRace);
    accused += found.length;
  }
  expect(accused).toBeGreaterThan(40);
});

test('without races nothing is found, and every race that is mended one by one goes', () => {
  for (let seed = 1; seed <= 300; seed++) {
    let program = randomProgram(seed, shapes[seed % 3]!);
    for (let turn = 0; turn < 400; turn++) {
      const hazard = examine(program).hazards.find((h) => h.kind === 'order');
      if (!hazard) break;
      // A host wait just before the second access settles it.
      const at = hazard.second;
      const wait: Step = {
        kind: 'hostWait',
        thread: program.steps[at]!.thread,
        origin: -1,
        on: { kind: 'stream', stream: hazard.firstStream },
      };
      program = { ...program, steps: [...program.steps.slice(0, at), wait, ...program.steps.slice(at)] };
    }
    expect(racingPairs(program, new Reachability(program)).size, `seed ${seed}`).toBe(0);
  }
});

test('lifetime hazards are exactly the unordered reuses of the same bytes', () => {
  let accused = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const program = randomProgram(seed, { ...shapes[seed % shapes.length]!, blocks: 3 });
    const graph = new Reachability(program);
    const { steps } = program;
    const expected = new Set<string>();
    steps.forEach((release, r) => {
      if (release.kind !== 'release') return;
      const owner = program.blocks[release.block]!;
      const recorded = new Set<number>();
      const lastUse = new Map<number, number>();
      for (let i = 0; i < r; i++) {
        const step = steps[i]!;
        if (step.kind === 'recordStream' && step.block === release.block) recorded.add(step.stream);
        if (step.kind === 'launch' && step.accesses.some((access) => access.block === release.block))
          lastUse.set(step.stream, i);
      }
      recorded.delete(owner.stream!);
      const handedOut: number[] = [];
      // The next owner of the address that touches anything decides; who touches nothing harms nothing.
      for (let a = r + 1; a < steps.length; a++) {
        const allocation = steps[a]!;
        if (allocation.kind !== 'allocate' || program.blocks[allocation.block]!.address !== owner.address) continue;
        handedOut.push(steps.length + a);
        // Its owner is the allocating stream: what that one comes after is settled, whoever writes first.
        const own = queuedBefore(steps, a, owner.stream!);
        if (own >= 0) handedOut.push(own);
        const first = steps.findIndex(
          (step) => step.kind === 'launch' && step.accesses.some((access) => access.block === allocation.block),
        );
        if (first < 0) continue;
        for (const [stream, use] of lastUse) {
          if (stream === owner.stream) continue;
          // Who gets the block gets it after the release, through the allocator's lock: so after what that host, and
          // those that allocate, waited for.
          if (graph.ordered(use, steps.length + r)) continue;
          // The free waits for what is queued on recorded streams, and for what that waits for.
          const covered = [...recorded].some((kept) => {
            const last = queuedBefore(steps, r, kept);
            return last >= 0 && graph.ordered(use, last);
          });
          if (!covered && !handedOut.some((moment) => graph.ordered(use, moment)) && !graph.ordered(use, first))
            expected.add(`${release.block} ${use}`);
        }
        break;
      }
    });
    const found = new Set(
      examine(program)
        .hazards.filter((hazard) => hazard.kind === 'lifetime' && hazard.nextBlock !== undefined)
        .map((hazard) => (hazard.kind === 'lifetime' ? `${hazard.block} ${hazard.use}` : '')),
    );
    for (const one of found) expect(expected, `seed ${seed}: told ${one}`).toContain(one);
    for (const one of expected) expect(found, `seed ${seed}: missed ${one}`).toContain(one);
    accused += found.size;
  }
  expect(accused).toBeGreaterThan(100);
});

test('a wait that something relied on is missed when it is taken away, one that nothing relied on is not', () => {
  let relied = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const program = randomProgram(seed, shapes[seed % 3]!);
    const before = examine(program);
    const races = racingPairs(program, new Reachability(program));
    program.steps.forEach((step, i) => {
      if (step.kind !== 'wait' || before.relied[i]) {
        if (step.kind === 'wait') relied++;
        return;
      }
      // In its place the stream launches nothing, so that the numbers of the steps stay.
      const idle: Step = {
        kind: 'launch',
        thread: step.thread,
        origin: -1,
        stream: step.stream,
        name: '',
        accesses: [],
      };
      const without = { ...program, steps: program.steps.map((other, k) => (k === i ? idle : other)) };
      const after = examine(without).hazards.filter(
        (h) => h.kind === 'order' || (h.kind === 'lifetime' && h.nextBlock),
      );
      const same = before.hazards.filter((h) => h.kind === 'order' || (h.kind === 'lifetime' && h.nextBlock));
      expect(after.length, `seed ${seed}, step ${i}`).toBe(same.length);
      if (races.size === 0) expect(racingPairs(without, new Reachability(without)).size, `seed ${seed}`).toBe(0);
    });
  }
  expect(relied).toBeGreaterThan(50);
});
