// What a GPU was seen to do with streams, events and the allocator, and the modelled device does as well. Each test is one
// observation; the allocator's own ones stand in allocator.test.ts.
import { describe, expect, test } from 'vitest';
import { execute } from '../../../core/execute/execute.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { tell } from '../order/verbs.ts';

const long = 'size 268435456';

function run(text: string) {
  const { program } = tell(text);
  const trace = openTrace(new TextEncoder().encode(execute(program, { producer: 'raceline test' })), 'told.raceline');
  expect(trace.problems).toEqual([]);
  const { deviceSlices: slices, blocks, strings } = trace;
  const named = (name: string) => blocks.name.indexOf(strings.indexOf(name));
  return {
    trace,
    /** The work on the device in order of its issue. */
    work: [...slices.step]
      .map((step, i) => ({ step, start: slices.start[i]!, end: slices.start[i]! + slices.duration[i]! }))
      .sort((a, b) => a.step - b.step || a.start - b.start),
    address: (name: string) => blocks.address[named(name)],
  };
}

describe('events', () => {
  test('record, record, wait: the wait takes the later record', () => {
    const { work } = run(
      `alloc x on a ${long}\nalloc y on b\na: w x\nrecord e on a\na: w x\nrecord e on a\nb waits e\nb: w y`,
    );
    expect(work[2]!.start).toBeGreaterThanOrEqual(work[1]!.end);
  });

  test('record, wait, record: the wait keeps the record that it saw', () => {
    const { work } = run(
      `alloc x on a ${long}\nalloc y on b\na: w x\nrecord e on a\nb waits e\na: w x\nrecord e on a\nb: w y`,
    );
    const [first, second, waiting] = work;
    expect(waiting!.start).toBeGreaterThanOrEqual(first!.end);
    expect(waiting!.start).toBeLessThan(second!.end);
  });

  test('recorded on a busy stream, then on an idle one: the first record is lost', () => {
    const { work } = run(
      `alloc x on a ${long}\nalloc y on b\na: w x\nrecord e on a\nrecord e on idle\nb waits e\nb: w y`,
    );
    expect(work[1]!.start).toBeLessThan(work[0]!.end);
  });

  test('a synchronize on an event without a record returns at once', () => {
    const { work, trace } = run(`alloc x on a ${long}\na: w x\nhost waits e\na: w x`);
    expect(trace.stepTime![3]!).toBeLessThan(work[0]!.end);
  });

  test('work after the record is not waited for', () => {
    const { work } = run(`alloc x on a ${long}\nalloc y on b\nrecord e on a\na: w x\nb waits e\nb: w y`);
    expect(work[1]!.start).toBeLessThan(work[0]!.end);
  });

  test('a chain of waits orders through the stream between', () => {
    const { work } = run(
      `alloc x on a ${long}\nalloc y on c\na: w x\nrecord e on a\nb waits e\nrecord f on b\nc waits f\nc: w y`,
    );
    expect(work[1]!.start).toBeGreaterThanOrEqual(work[0]!.end);
  });

  test('a stream wait holds the device, never the host', () => {
    const { work, trace } = run(`alloc x on a ${long}\na: w x\nrecord e on a\nb waits e\nb: r x`);
    expect(trace.stepTime![4]!).toBeLessThan(work[0]!.end);
  });
});

describe('streams', () => {
  test('the default stream and side streams do not wait for each other', () => {
    for (const [first, second] of [
      ['main', 'side'],
      ['side', 'main'],
    ]) {
      const { work } = run(`alloc x on ${first} ${long}\nalloc y on ${second}\n${first}: w x\n${second}: w y`);
      expect(work[1]!.start).toBeLessThan(work[0]!.end);
    }
  });

  test('waiting for one stream does not wait for another', () => {
    const { work, trace } = run(`alloc x on a ${long}\na: w x\nhost waits stream b\nb: r x`);
    expect(trace.stepTime![3]!).toBeLessThan(work[0]!.end);
  });

  test('waiting for the device waits for all of them', () => {
    const { work, trace } = run(`alloc x on a ${long}\na: w x\nhost waits device\nb: r x`);
    expect(trace.stepTime![3]!).toBeGreaterThanOrEqual(work[0]!.end);
  });
});

describe('memory', () => {
  const used = 'alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x\n';

  test('a join back gives the same address, before the release or after it', () => {
    const join = 'record f on b\na waits f\n';
    for (const text of [`${used}${join}release x\n`, `${used}release x\n${join}`]) {
      const { address } = run(`${text}alloc y on a\na: w y`);
      expect(address('y')).toBe(address('x'));
    }
  });

  test('a block that is held back stays so after the host has waited, until the next allocation looks', () => {
    const { address, trace } = run(`${used}keep x for b\nrelease x\nhost waits device\nalloc y on a\na: w y`);
    const x = trace.blocks.name.indexOf(trace.strings.indexOf('x'));
    expect(trace.blocks.reusable[x]).toBe(trace.stepTime![8]);
    expect(address('y')).toBe(address('x'));
  });

  test('record_stream covers all that is queued on the stream at the release', () => {
    const { trace, work } = run(
      `alloc x on a\nalloc big on b ${long}\na: w x\nb: r x\nkeep x for b\nb: w big\nrelease x\nhost waits device\nalloc y on a`,
    );
    const x = trace.blocks.name.indexOf(trace.strings.indexOf('x'));
    expect(trace.blocks.reusable[x]!).toBeGreaterThanOrEqual(work[2]!.end);
  });

  test('pinned memory that a copy reads is not handed out again at its release', () => {
    const text = (wait: string) =>
      `pinned p\npinned q\nalloc p on a ${long}\nalloc x on a ${long}\na: r p w x\n${wait}release p\nalloc q on a ${long}`;
    const held = run(text(''));
    expect(held.address('q')).not.toBe(held.address('p'));
    const done = run(text('host waits stream a\n'));
    expect(done.address('q')).toBe(done.address('p'));
  });
});

describe('graphs', () => {
  test('captured work does not run when it is captured', () => {
    expect(run('alloc x on s\ncapture g on s\ns: w x\nend g').work).toEqual([]);
  });

  test('work on a stream that was not forked runs once, and is not in the graph', () => {
    const { work } = run(
      'alloc x on s\nalloc y on side\ncapture g on s\ns: w x\nside: w y\nend g\nreplay g on m\nreplay g on m',
    );
    expect(work).toHaveLength(3);
  });

  test('a capture allocates from a pool of its own', () => {
    const { address } = run(
      'alloc x on s\ns: w x\nrelease x\ncapture g on s\nalloc y on s\ns: w y\nend g\nalloc z on s\ns: w z',
    );
    expect(address('y')).not.toBe(address('x'));
    expect(address('z')).toBe(address('x'));
  });

  test('inside of one a dropped tensor is handed out at once, and outside never', () => {
    const { address } = run(
      'capture g on s\nalloc x on s\ns: w x\nrelease x\nalloc y on s\ns: w y\nrelease y\nend g\nalloc z on s\ns: w z',
    );
    expect(address('y')).toBe(address('x'));
    expect(address('z')).not.toBe(address('x'));
  });

  test('record_stream in a capture keeps the address from being handed out again in it, also after the join', () => {
    const { address } = run(
      'capture g on s\nalloc x on s\ns: w x\nrecord e on s\nside waits e\nside: r x\nkeep x for side\nrecord f on side\ns waits f\nrelease x\nalloc y on s\ns: w y\nend g',
    );
    expect(address('y')).not.toBe(address('x'));
  });

  test('replays are ordered work of the stream that is current', () => {
    const { work } = run(`alloc x on m ${long}\ncapture g on s\ns: r x\nend g\nm: w x\nreplay g on m\nreplay g on n`);
    expect(work[1]!.start).toBeGreaterThanOrEqual(work[0]!.end);
    expect(work[2]!.start).toBeLessThan(work[0]!.end);
  });
});
