/** What is chosen of lanes and searches, without a page: pins, order, filters, queries, notes, measures. */
import { describe, expect, it } from 'vitest';
import { filterTimeline } from '../../core/timeline/filter.ts';
import { boxAt, laneKey, layOut, measuresFor, withPinned } from '../../core/timeline/layout.ts';
import { openTrace } from '../../core/trace/index.ts';
import { makeRun } from '../../webview/opening.ts';
import { carriedOver } from '../../webview/state/carry.ts';
import { isMovable, moveLane, togglePin } from '../../webview/state/lanes.ts';
import { parseNotes, writeNotes } from '../../webview/state/notes.ts';
import { parseQuery } from '../../webview/state/query.ts';
import { search } from '../../webview/state/search.ts';
import * as states from '../../webview/state/state.ts';
import { rowsInView } from '../../webview/state/tableRows.ts';
import { judgeTrace } from './sceneHazards.ts';
import { prefetchScene, scene } from './synthetic.ts';

const trace = openTrace(new TextEncoder().encode(prefetchScene()), 'scene.raceline');
const run = makeRun(trace, judgeTrace(trace), 'scene.raceline');
const first = states.initialState(run);
const layoutOf = (state: states.State) => layOut(run.timeline, measuresFor(1400), state);
const streamsOf = (state: states.State): string[] =>
  layoutOf(state).boxes.flatMap(({ lane }) => (lane.kind === 'stream' ? [lane.stream.name] : []));

describe('lanes', () => {
  it('change places with their like', () => {
    expect(streamsOf(first)).toEqual(['default', 'copy', 'compute']);
    const key = `stream ${scene.compute}`;
    const moved = moveLane(first, layoutOf(first), key, -1);
    expect(streamsOf(moved)).toEqual(['default', 'compute', 'copy']);
    const top = moveLane(moved, layoutOf(moved), key, -1);
    expect(streamsOf(top)).toEqual(['compute', 'default', 'copy']);
    // There is no place above the first of its group, and group heads stay.
    expect(moveLane(top, layoutOf(top), key, -1)).toBe(top);
    expect(moveLane(top, layoutOf(top), 'device 0', 1)).toBe(top);
    // Other groups keep their order.
    expect(layoutOf(top).boxes.at(-1)!.lane.kind).toBe('totals');
  });

  it('are pinned to the top and stay there while the others scroll', () => {
    const pinned = togglePin(togglePin(first, `stream ${scene.compute}`), 'totals');
    const layout = layoutOf(pinned);
    expect(layout.pinnedCount).toBe(2);
    expect(layout.boxes.slice(0, 2).map(({ lane }) => laneKey(lane))).toEqual([`stream ${scene.compute}`, 'totals']);
    expect(layout.boxes.filter(({ lane }) => laneKey(lane) === 'totals')).toHaveLength(1);
    const scrolled = withPinned(layout, 100);
    expect(scrolled.boxes[0]!.y).toBe(100);
    expect(scrolled.boxes[2]!.y).toBe(layout.boxes[2]!.y);
    expect(scrolled.streamBoxes.get(scene.compute)!.rows[0]!.y).toBe(
      layout.streamBoxes.get(scene.compute)!.rows[0]!.y + 100,
    );
    // What is pinned is hit before what is scrolled under it.
    expect(boxAt(scrolled, 110)).toBe(scrolled.boxes[0]);
    const other = moveLane(pinned, layout, 'totals', -1);
    expect(other.pinned).toEqual(['totals', `stream ${scene.compute}`]);
    expect(togglePin(other, 'totals').pinned).toEqual([`stream ${scene.compute}`]);
  });

  it('of heads cannot be moved', () => {
    expect(
      layoutOf(first)
        .boxes.filter(({ lane }) => !isMovable(lane))
        .map(({ lane }) => lane.kind),
    ).toEqual(['group', 'group']);
  });
});

describe('a query', () => {
  it('is words and conditions', () => {
    expect(parseQuery('  Mul  Kernel ')).toEqual({ words: 'mul kernel', address: -1 });
    expect(parseQuery('stream:"side 1" kind:copy over:1.5ms under:20 x')).toEqual({
      words: 'x',
      address: -1,
      stream: 'side 1',
      kind: 'copy',
      over: 1.5e6,
      under: 20e3,
    });
    expect(parseQuery('0x7F')).toMatchObject({ address: 127 });
    expect(parseQuery('std::sort over:lots')).toEqual({ words: 'std::sort over:lots', address: -1 });
    expect(parseQuery('   ')).toBeUndefined();
  });

  it('finds by stream, kind, length, file and finding', () => {
    const count = (text: string): Record<string, number> => {
      const kinds: Record<string, number> = {};
      for (const { kind } of search(run, text)?.matches ?? []) kinds[kind] = (kinds[kind] ?? 0) + 1;
      return kinds;
    };
    expect(count('kind:copy')).toEqual({ device: 4 });
    expect(count('stream:compute kind:kernel over:300us')).toEqual({ device: 4 });
    expect(count('gemm stream:copy')).toEqual({});
    expect(count('kind:sync')).toEqual({ host: 1 });
    expect(count('thread:main kind:operator mul')).toEqual({ host: 4 });
    expect(count('kind:block stream:default')).toEqual({ block: 2 });
    expect(count('code:missing-wait')).toEqual({ hazard: 1, device: 2, block: 1 });
    // By the frame further out, too: what a library does belongs to who called it.
    expect(count('file:train_prefetch.py kind:copy')).toEqual({ device: 4 });
    expect(count('file:other.py')).toEqual({});
  });

  it('leaves only matches where that is wanted, with the lanes that have some', () => {
    const found = search(run, 'gemm')!;
    const timeline = filterTimeline(run.timeline, trace, found.isMatch);
    expect(timeline.streams.map(({ name, slices }) => [name, slices])).toEqual([['compute', 4]]);
    expect(timeline.hosts).toEqual([]);
    expect(timeline.pools).toEqual([]);
    const layout = layOut(timeline, measuresFor(1400), first);
    expect(layout.boxes.flatMap(({ lane }) => (lane.kind === 'unrecorded' ? [lane.text] : []))).toEqual([
      'No block matches',
    ]);
    const blocks = filterTimeline(run.timeline, trace, search(run, 'kind:block stream:copy')!.isMatch);
    expect(blocks.pools.map(({ name, blocks: count }) => [name, count])).toEqual([['copy’s pool', 4]]);
  });

  it('that is gone takes its filter with it', () => {
    const filtered = states.toggleFilter(states.searchFor(first, run, 'mul'));
    expect(filtered.filter).toBe(true);
    expect(states.searchFor(filtered, run, 'gemm').filter).toBe(true);
    expect(states.searchFor(filtered, run, '').filter).toBe(false);
    expect(states.toggleFilter(first).filter).toBe(false);
  });
});

describe('a measure', () => {
  it('goes from one moment to another, stays, and goes', () => {
    const gemm = trace.deviceSlices.start.indexOf(803_000);
    const selected = states.select(first, run, { kind: 'device', index: gemm });
    const begun = states.toggleMeasure(selected, run, undefined);
    expect(begun.measure).toEqual({ from: 1_181_000, to: 1_181_000, isFixed: false });
    const moved = states.measureTo(begun, 1_242_000);
    const fixed = states.toggleMeasure(moved, run, undefined);
    expect(fixed.measure).toEqual({ from: 1_181_000, to: 1_242_000, isFixed: true });
    expect(states.measureTo(fixed, 5)).toBe(fixed);
    expect(states.toggleMeasure(fixed, run, undefined).measure).toBeUndefined();
    expect(states.back(fixed).measure).toBeUndefined();
  });
});

describe('a longer recording of the same run', () => {
  it('keeps what was chosen', () => {
    const shorter = openTrace(
      new TextEncoder().encode(
        prefetchScene()
          .split('\n')
          .filter((line) => !line.includes('"fill_"'))
          .join('\n'),
      ),
      'scene.raceline',
    );
    const before = makeRun(shorter, [], 'scene.raceline');
    const gemm = shorter.deviceSlices.start.indexOf(803_000);
    const state = {
      ...states.searchFor(states.initialState(before), before, 'mul'),
      selection: { kind: 'device', index: gemm } as const,
      pinned: ['totals'],
    };
    const after = carriedOver(state, before, run);
    expect(after.selection).toEqual({ kind: 'device', index: trace.deviceSlices.start.indexOf(803_000) });
    expect(after.search!.count).toBe(8);
    expect(after.pinned).toEqual(['totals']);
    // It showed everything, so it goes on to.
    expect(after.view).toEqual(run.timeline.bounds);
    const inside = carriedOver({ ...state, view: { start: 100_000, end: 200_000 } }, before, run);
    expect(inside.view).toEqual({ start: 100_000, end: 200_000 });
  });
});

describe('notes', () => {
  it('are read back as they were written, and nothing else is', () => {
    const notes = [{ start: 1, end: 2, text: 'why?' }];
    expect(parseNotes(writeNotes(notes))).toEqual(notes);
    expect(parseNotes('')).toEqual([]);
    expect(parseNotes('{"notes":5}')).toEqual([]);
    expect(
      parseNotes(
        '{"notes":[{"start":"1","end":2,"text":"x"},{"start":3,"end":2,"text":"x"},null,{"start":1,"end":1,"text":"<b>"}]}',
      ),
    ).toEqual([{ start: 1, end: 1, text: '<b>' }]);
  });
});

describe('the table of the view', () => {
  it('shortens names that are megabytes long', () => {
    const long = { ...run, trace: { ...trace, strings: trace.strings.map((name) => name.padEnd(1_000_000, '<')) } };
    const { rows } = rowsInView(long, layoutOf(first), { start: 1_200_000, end: 1_320_000 });
    expect(Math.max(...rows.flatMap(({ cells }) => cells.map((cell) => cell.length)))).toBeLessThan(1_100_000);
    expect(Math.max(...rows.map(({ cells }) => cells[0]!.length))).toBe(200);
  });

  it('lists what is on screen in order of time, with its finding', () => {
    const { rows, more } = rowsInView(run, layoutOf(first), { start: 1_200_000, end: 1_320_000 });
    expect(more).toBe(false);
    expect(rows.map(({ start }) => start)).toEqual(rows.map(({ start }) => start).toSorted((a, b) => a - b));
    const fill = rows.find(({ cells }) => cells[0] === 'fill_' && cells[3] === 'default')!;
    expect(fill.cells.slice(1)).toEqual(['1\u202f242 µs', '70 µs', 'default', 'train_prefetch.py:31', 'missing-wait']);
  });
});
