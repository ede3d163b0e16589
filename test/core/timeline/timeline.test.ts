import { describe, expect, it } from 'vitest';
import { edgeOfMark, fewestEdges, routeEdge, visibleEdges } from '../../../core/timeline/edges.ts';
import { afterHeadline, byUrgency, findingMarks, headline, severityOf } from '../../../core/timeline/findings.ts';
import { edgePath, hit } from '../../../core/timeline/hit.ts';
import { boxAt, layOut, measuresFor } from '../../../core/timeline/layout.ts';
import { rowsOfBlock } from '../../../core/timeline/pools.ts';
import { buildTimeline } from '../../../core/timeline/timeline.ts';
import { stepAt, takeTotals } from '../../../core/timeline/totals.ts';
import { openTrace } from '../../../core/trace/index.ts';
import type { TraceHazard } from '../../../core/trace/trace.ts';
import { judgeTrace } from '../../webview/sceneHazards.ts';
import { largeTrace, prefetchScene, scene } from '../../webview/synthetic.ts';

const trace = openTrace(new TextEncoder().encode(prefetchScene()), 'scene.raceline');
const hazards = judgeTrace(trace);
const timeline = buildTimeline(trace, hazards);
const none = { closed: new Set<string>(), opened: new Set<string>(), hidden: new Set<string>() };
const wide = measuresFor(1400);
const layout = layOut(timeline, wide, none);
const scale = { ...timeline.bounds, left: 176, width: 2140 };
const hitScene = { trace, timeline, layout, scale, edges: visibleEdges(timeline.edges, scale) };

describe('lanes', () => {
  it('come in order: host, streams with the default one first, pools, totals', () => {
    expect(layout.boxes.map(({ lane }) => ('name' in lane ? `group ${lane.name}` : lane.kind))).toEqual([
      'host',
      'group GPU 0',
      'stream',
      'stream',
      'stream',
      'group Memory',
      'pool',
      'pool',
      'pool',
      'totals',
    ]);
    expect(timeline.streams.map(({ name }) => name)).toEqual(['default', 'copy', 'compute']);
    expect(timeline.pools.map(({ name }) => name)).toEqual(['copy’s pool', 'compute’s pool', 'default’s pool']);
  });

  it('give colours by first use, 0 to the default stream', () => {
    expect([...timeline.slots]).toEqual([0, 1, 2]);
  });

  it('keep the measures', () => {
    const stream = layout.boxes.find(({ lane }) => lane.kind === 'stream')!;
    expect(stream.height).toBe(10 + 24 + 11);
    const compute = layout.streamBoxes.get(scene.compute)!;
    expect(compute.height).toBe(10 + 24 + 2 + 14 + 11);
    expect(layout.boxes.find(({ lane }) => lane.kind === 'group')!.height).toBe(22);
    const narrow = layOut(timeline, measuresFor(700), none);
    expect(narrow.boxes.some(({ lane }) => lane.kind === 'group')).toBe(false);
    expect(narrow.streamBoxes.get(scene.default)!.height).toBe(10 + 20 + 11);
  });

  it('keep every slice of the trace', () => {
    const drawn = timeline.streams.flatMap(({ rows }) => rows.flatMap(({ items }) => [...items]));
    expect(drawn.sort((a, b) => a - b)).toEqual(Array.from({ length: trace.deviceSlices.length }, (_, i) => i));
  });

  it('fit into the room by lower pools and totals, but not below what can be read', () => {
    const small = layOut(timeline, wide, { ...none, room: 500 });
    expect(small.height).toBeLessThan(layout.height);
    expect(small.boxes.at(-1)!.height).toBe(40);
  });

  it('close groups and hide lanes', () => {
    const closed = layOut(timeline, wide, { ...none, closed: new Set(['memory']), hidden: new Set(['stream 1']) });
    expect(closed.boxes.some(({ lane }) => lane.kind === 'pool')).toBe(false);
    expect(closed.streamBoxes.has(scene.copy)).toBe(false);
  });

  it('say what was not recorded', () => {
    const other = Int32Array.from(trace.marks.other, (mark, i) => (i < 4 ? -1 : mark));
    const bare = { ...trace, blocks: { ...trace.blocks, length: 0 }, marks: { ...trace.marks, other } };
    const boxes = layOut(buildTimeline(bare, []), wide, none).boxes;
    expect(boxes.flatMap(({ lane }) => (lane.kind === 'unrecorded' ? [lane.text] : []))).toEqual([
      '2 waits without their record: no edges drawn',
      'Not recorded: no blocks to draw',
    ]);
  });

  it('are found by height', () => {
    for (const box of layout.boxes) {
      expect(boxAt(layout, box.y)).toBe(box);
      expect(boxAt(layout, box.y + box.height - 1)).toBe(box);
    }
    expect(boxAt(layout, layout.height)).toBeUndefined();
  });
});

describe('pools', () => {
  it('put blocks on rows by address, gaps between them left out', () => {
    const copy = timeline.pools[0]!;
    expect(copy.rows.map(({ items }) => items.length)).toEqual([2, 1, 1]);
    expect(copy.bytes).toBe(48 * 2 ** 20);
  });

  it('let a block cover the rows of smaller ones', () => {
    const blocks = {
      ...trace.blocks,
      length: 3,
      address: Float64Array.from([0, 0, 100]),
      size: Float64Array.from([200, 100, 100]),
      stream: Int32Array.from([1, 1, 1]),
      allocated: Float64Array.from([0, 500, 600]),
      releaseRequested: Float64Array.from([400, 900, 900]),
      reusable: Float64Array.from([400, 900, 900]),
    };
    const [pool] = buildTimeline({ ...trace, blocks }, []).pools;
    expect([...pool!.lowest]).toEqual([0, 100]);
    expect(rowsOfBlock(pool!, blocks, 0)).toEqual([0, 2]);
    expect(rowsOfBlock(pool!, blocks, 2)).toEqual([1, 2]);
  });
});

describe('totals', () => {
  it('follow the blocks where there are no counters', () => {
    const { totals } = timeline.totals[0]!;
    const at = stepAt(totals, 320_000);
    expect(totals.allocated[at]).toBe((32 + 32 + 16) * 2 ** 20);
    expect(totals.reserved.length).toBe(0);
  });

  it('keep the peak of each column at every zoom', () => {
    const large = buildTimeline(largeTrace({ deviceSlices: 100, edges: 10, blocks: 5000 }), []);
    const { totals } = large.totals[0]!;
    for (const columns of [1, 7, 100, 1000]) {
      const picture = takeTotals(totals, large.bounds, columns);
      const width = (large.bounds.end - large.bounds.start) / columns;
      for (let x = 0; x < columns; x++) {
        let highest = 0;
        const from = Math.max(0, stepAt(totals, large.bounds.start + x * width));
        for (let i = from; i < totals.length && totals.time[i]! < large.bounds.start + (x + 1) * width; i++)
          highest = Math.max(highest, totals.allocated[i]!);
        expect(picture.allocated[x]).toBe(highest);
      }
    }
  });
});

describe('edges', () => {
  it('run from each record to the wait that is bound to it', () => {
    expect(timeline.edges.length).toBe(9);
    for (let edge = 0; edge < 9; edge++) {
      expect(trace.marks.other[timeline.edges.wait[edge]!]).toBe(timeline.edges.record[edge]);
      expect(edgeOfMark(timeline.edges, timeline.edges.wait[edge]!)).toBe(edge);
    }
  });

  it('leave at the bottom of their lane and arrive at the side that faces it', () => {
    const upper = { top: 105, bottom: 139 };
    const lower = { top: 205, bottom: 239 };
    expect(routeEdge(10, 50, upper, lower)).toEqual({ x1: 10, y1: 139, x2: 50, y2: 205 });
    expect(routeEdge(10, 50, lower, upper)).toEqual({ x1: 10, y1: 239, x2: 50, y2: 139 });
    expect(routeEdge(48, 50, upper, lower).x1).toBe(50);
  });

  it('are thinned to the longest where they are many, but keep those asked for', () => {
    const many = buildTimeline(largeTrace({ deviceSlices: 100, edges: 3000, blocks: 1 }), []);
    const shortest = many.edges.byBlocked[2999]!;
    const drawn = visibleEdges(many.edges, many.bounds, [shortest]);
    expect(drawn).toHaveLength(fewestEdges + 1);
    expect(drawn).toContain(shortest);
    const { start } = many.bounds;
    const near = visibleEdges(many.edges, { start, end: start + (many.bounds.end - start) / 100 });
    expect(near.length).toBeGreaterThan(20);
    expect(near.length).toBeLessThanOrEqual(200);
  });
});

describe('hit testing', () => {
  /** Microseconds: a pixel each. */
  const x = (time: number): number => 176 + time;
  const middle = (stream: number): number => layout.streamBoxes.get(stream)!.rows[0]!.y + 12;

  it('finds the slice under a point', () => {
    const target = hit(hitScene, x(500), middle(scene.compute));
    expect(target?.kind).toBe('device');
    expect(trace.strings[trace.deviceSlices.name[target!.index]!]).toBe('gemm');
  });

  it('finds the slice of a sub-row', () => {
    const row = layout.streamBoxes.get(scene.compute)!.rows[1]!;
    const target = hit(hitScene, x(760), row.y + 5);
    expect(trace.strings[trace.deviceSlices.name[target!.index]!]).toBe('reduce_splitK');
  });

  it('finds a wait that held its stream, a block and an edge', () => {
    expect(hit(hitScene, x(400), middle(scene.default))?.kind).toBe('held');
    const pool = layout.boxes.find(({ lane }) => lane.kind === 'pool')!;
    const block = hit(hitScene, x(350), pool.rows[0]!.y + 5);
    expect(block?.kind).toBe('block');
    expect(trace.blocks.allocated[block!.index]).toBe(305_000);
    const path = edgePath(hitScene, 2)!;
    expect(hit(hitScene, path.x2, path.y2)).toEqual({ kind: 'edge', index: 2 });
  });

  it('finds nothing where nothing is', () => {
    expect(hit(hitScene, x(2100), middle(scene.copy))).toBeUndefined();
    expect(hit(hitScene, x(500), -5)).toBeUndefined();
  });
});

describe('findings', () => {
  const hazard = (over: Partial<TraceHazard>): TraceHazard => ({ ...hazards[0]!, ...over });

  it('are ordered by urgency, and a confirmed one is an error', () => {
    const list = [
      hazard({ severity: 'hint', status: 'latent' }),
      hazard({ severity: 'error', status: 'latent', start: 20 }),
      hazard({ severity: 'error', status: 'latent', start: 10 }),
      hazard({ severity: 'warning', status: 'confirmed' }),
    ];
    expect(byUrgency(list)).toEqual([3, 2, 1, 0]);
    expect(severityOf(list[3]!)).toBe('error');
  });

  it('nearer than 18 px are one mark with the most urgent first', () => {
    const list = [
      hazard({ start: 100_000, end: 110_000 }),
      hazard({ start: 110_000, end: 120_000, status: 'confirmed' }),
      hazard({ start: 900_000, end: 910_000 }),
    ];
    const marks = findingMarks(list, byUrgency(list), scale);
    expect(marks.map((mark) => mark.hazards)).toEqual([[1, 0], [2]]);
  });

  it('that began before the view are marked at its edge', () => {
    const list = [hazard({ start: 0, end: 500_000 })];
    const [mark] = findingMarks(list, [0], { start: 400_000, end: 600_000, left: 176, width: 800 });
    expect(mark!.x).toBe(176);
  });

  it('have a headline: their first clause, without backticks', () => {
    const message = '`x` is used on `compute` by `torch.mm` and dropped: its memory returns.';
    expect(headline(message)).toBe('x is used on compute by torch.mm and dropped');
    expect(afterHeadline(message)).toBe('Its memory returns.');
    expect(headline('mul does not wait for fill_.')).toBe('mul does not wait for fill_');
    expect(afterHeadline('mul does not wait for fill_')).toBe('');
  });
});
