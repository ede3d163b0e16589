// Each kind of hazard besides order and lifetime, with its repaired twin.
import { expect, test } from 'vitest';
import { hazards } from '../order/verbs.ts';

const nothing: string[] = [];

test('unjoined: a tensor leaves before its receiver comes after the work', () => {
  const made = 'alloc y on side\nside: w y\n';
  expect(hazards(`${made}escape y to main`)).toEqual(['unjoined y: side 2, main 3']);
  expect(hazards(`${made}record e on side\nmain waits e\nescape y to main`)).toEqual(nothing);
  expect(hazards(`${made}host waits stream side\nescape y to main`)).toEqual(nothing);
  expect(hazards(`${made}escape y to side`)).toEqual(nothing);
  expect(hazards(`blind y\n${made}escape y to main`)).toEqual(nothing);
  expect(hazards(`pinned y\n${made}escape y to main`)).toEqual(nothing);
  // A read in flight harms no receiver that reads.
  expect(hazards('alloc y on main\nmain: w y\nrecord e on main\nside waits e\nside: r y\nescape y to main')).toEqual(
    nothing,
  );
});

test('unrecorded: a wait for an event that nobody records', () => {
  expect(hazards('b waits e\nb: w x')).toEqual(['unrecorded e: 1']);
  expect(hazards('host waits e')).toEqual(['unrecorded e: 1']);
  expect(hazards('record e on a\nb waits e')).toEqual(nothing);
  expect(hazards('b waits e (implicit)')).toEqual(nothing);
  expect(hazards('host polls e')).toEqual(nothing);
});

test('unrecorded: a wait that does nothing on the first turn only is silent', () => {
  expect(hazards('b waits e @1\nrecord e on a @2\nb waits e @1')).toEqual(nothing);
});

test('reversed: the streams are the wrong way round', () => {
  expect(hazards('alloc x on main\nmain: w x\nrecord e on side\nmain waits e\nside: r x')).toEqual([
    'swapped 4: 2-5',
    'read-after-write x: main 2, side 5',
  ]);
  expect(hazards('alloc x on main\nmain: w x\nrecord e on main\nside waits e\nside: r x')).toEqual(nothing);
});

test('reversed: an unjoined tensor is settled by the swapped wait as well', () => {
  expect(hazards('alloc y on side\nside: w y\nrecord e on main\nside waits e\nescape y to main')).toEqual([
    'swapped 4: 2-5',
    'unjoined y: side 2, main 5',
  ]);
});

test('reversed: queued before the work', () => {
  expect(hazards('alloc x on a\nrecord e on a\nb waits e\na: w x\nb: r x')).toEqual([
    'early 3: 4-5',
    'read-after-write x: a 4, b 5',
  ]);
});

test('reversed: a wait that covers other work was not queued too early', () => {
  expect(hazards('alloc x on a\nalloc z on a\na: w z\nrecord e on a\nb waits e\na: w x\nb: r x')).toEqual([
    'read-after-write x: a 6, b 7',
  ]);
  // What it covers is known already: the second wait is the one that should come later.
  expect(
    hazards(
      'alloc x on a\nalloc z on a\na: w z\nrecord e on a\nb waits e\nb: r z\nrecord f on a\nb waits f\na: w x\nb: r x',
    ),
  ).toEqual(['early 8: 9-10', 'read-after-write x: a 9, b 10']);
});

test('reversed: two calls of a helper are two waits', () => {
  expect(
    hazards(
      'alloc x on main\nmain: w x\nrecord e on main\nside waits e\nside: r x w y\nrecord f on main\nside waits f\nmain: r y',
    ),
  ).toEqual(['swapped 7: 5-8', 'read-after-write y: side 5, main 8']);
});

test('reversed: not when something needs the wait', () => {
  // The fork is needed by y; the missing order of x is a matter of its own.
  expect(hazards('alloc x on a\nalloc y on a\na: w y\nrecord e on a\nb waits e\nb: r y\na: w x\nb: r x')).toEqual([
    'read-after-write x: a 7, b 8',
  ]);
  // In another turn of the loop it is needed.
  expect(
    hazards(
      'alloc x on main\nmain: w x\nrecord e on side\nmain waits e @1\nside: r x\n' +
        'alloc y on side\nside: w y\nrecord e on side\nmain waits e @1\nmain: r y',
    ),
  ).toEqual(['read-after-write x: main 2, side 5']);
  // An allocation is what a wait may be for: what was on the memory before.
  expect(hazards('alloc x on main\nrecord e on main\nside waits e\nside: w x\nmain: r x')).toEqual([
    'read-after-write x: side 4, main 5',
  ]);
  // The wait protects the release.
  expect(
    hazards(
      'alloc x on a\na: w x\nrecord e on a\nb waits e\nb: r x\nrecord f on b\na waits f\nrelease x\nalloc y on a\na: w y\nb: r y',
    ),
  ).toEqual(['read-after-write y: a 10, b 11']);
});

test('reversed: a wait of the framework is nobody’s mistake', () => {
  expect(hazards('alloc x on main\nmain: w x\nrecord e on side\nmain waits e (implicit)\nside: r x')).toEqual([
    'read-after-write x: main 2, side 5',
  ]);
});

test('nearest: the waits that cover too little', async () => {
  const { findHazards } = await import('../../../core/hazards/find.ts');
  const { tell } = await import('../order/verbs.ts');
  const { program, lines } = tell('alloc x on a\na: w x\nrecord e on a\nb waits e\na: w x\nb: r x');
  const [hazard] = findHazards(program).filter((h) => h.kind === 'order');
  expect(hazard!.nearest.map((step) => lines[step])).toEqual([4]);
});

test('host: reading the target of a copy before it is done', () => {
  const copy = 'pinned p\nalloc x on a\na: w x\na: r x w p\n';
  expect(hazards(`${copy}host reads p`)).toEqual(['host-read-before-copy-done p: a 4, host 5']);
  expect(hazards(`${copy}host waits stream a\nhost reads p`)).toEqual(nothing);
  expect(hazards(`${copy}record e on a\nhost waits e\nhost reads p`)).toEqual(nothing);
  expect(hazards(`${copy}record e on a\nhost polls e\nhost reads p`)).toEqual(nothing);
  // The event was recorded before the copy.
  expect(hazards('pinned p\nalloc x on a\na: w x\nrecord e on a\na: r x w p\nhost waits e\nhost reads p')).toEqual([
    'host-read-before-copy-done p: a 5, host 7',
  ]);
  // Waiting on another stream that has waited for the copy is enough.
  expect(hazards(`${copy}record e on a\nb waits e\nhost waits stream b\nhost reads p`)).toEqual(nothing);
});

test('host: changing the source of a copy in flight', () => {
  const copy = 'pinned p\nalloc x on a\nhost writes p\na: r p w x\n';
  expect(hazards(`${copy}host writes p`)).toEqual(['host-write-during-copy p: a 4, host 5']);
  expect(hazards(`${copy}host reads p`)).toEqual(nothing);
  expect(hazards(`${copy}host waits stream a\nhost writes p`)).toEqual(nothing);
  expect(hazards(`${copy}host writes p[0..8]`)).toEqual(['host-write-during-copy p: a 4, host 5']);
  expect(hazards('pageable p\nalloc x on a\nhost writes p\na: r p w x\nhost writes p')).toEqual(nothing);
  expect(hazards('pinned p\nalloc x on a\na: r p[0..64] w x\nhost writes p[64..128]')).toEqual(nothing);
});

test('host: device work after the host’s own access is in order', () => {
  expect(hazards('pinned p\nalloc x on a\nhost writes p\na: r p w x\nhost reads p\nb: r p')).toEqual(nothing);
});

test('captures: captured steps do not run', () => {
  const graph =
    'alloc x on s\ncapture g on s\ns: w x\nrecord e on s\nside waits e\nside: r x\nrecord f on side\ns waits f\nend g\n';
  expect(hazards(graph)).toEqual(nothing);
  expect(hazards(`${graph}main: r x`)).toEqual(nothing);
  // A forked side stream without order inside the graph is refused by CUDA, and accused of nothing else.
  expect(hazards('capture g on s\ns: w x\nrecord e on s\nside waits e\ns: w x\nside: r x\nend g')).toEqual([
    'unjoined capture: side forked 4, 6 not joined at 7',
  ]);
});

test('captures: a replay does all of it on one stream', () => {
  const graph = 'alloc in on main\nalloc out on main\ncapture g on s\ns: r in w out\nend g\n';
  expect(hazards(`${graph}side: w in\nreplay g on main`)).toEqual(['read-after-write in: side 6, main 7']);
  expect(hazards(`${graph}side: w in\nrecord e on side\nmain waits e\nreplay g on main`)).toEqual(nothing);
  expect(hazards(`${graph}main: w in\nreplay g on main\nside: w in`)).toEqual(['write-after-read in: main 7, side 8']);
  expect(hazards(`${graph}replay g on side\nmain: r out`)).toEqual(['read-after-write out: side 6, main 7']);
  expect(hazards(`${graph}replay g on side\nrecord e on side\nmain waits e\nmain: r out`)).toEqual(nothing);
});

test('captures: blocks of the graph’s own pool are not handed out to others', () => {
  expect(
    hazards(
      'capture g on s\nalloc t on s\ns: w t\nrecord e on s\nside waits e\nside: r t\nrelease t\nrecord f on side\ns waits f\nend g\n' +
        'replay g on main\nalloc y on s\ns: w y',
    ),
  ).toEqual(nothing);
});

test('the same program gives the same answer', () => {
  const text = 'alloc x on a\na: w x\nb: r x\nc: w x\nrelease x\nalloc y on a\na: w y\nd: r y\nb waits q';
  expect(hazards(text)).toEqual(hazards(text));
});
