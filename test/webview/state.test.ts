import { describe, expect, it } from 'vitest';
import type { Target } from '../../core/timeline/hit.ts';
import { layOut, measuresFor } from '../../core/timeline/layout.ts';
import { span } from '../../core/timeline/view.ts';
import { openTrace } from '../../core/trace/index.ts';
import { makeRun } from '../../webview/opening.ts';
import { page } from '../../webview/page.ts';
import { detailsOf, placeText, sourceOf, stackOf } from '../../webview/state/details.ts';
import { markLine } from '../../webview/state/marks.ts';
import { nextLane, nextSlice, otherEnd } from '../../webview/state/navigation.ts';
import * as states from '../../webview/state/state.ts';
import { statisticsOf } from '../../webview/state/statistics.ts';
import { judgeTrace } from './sceneHazards.ts';
import { prefetchScene, scene } from './synthetic.ts';

const trace = openTrace(new TextEncoder().encode(prefetchScene()), 'scene.raceline');
const run = makeRun(trace, judgeTrace(trace), 'scene.raceline');
const first = states.initialState(run);
const layout = layOut(run.timeline, measuresFor(1400), first);

function slice(name: string, nth = 0): Target {
  const found = Array.from({ length: trace.deviceSlices.length }, (_, i) => i).filter(
    (i) => trace.strings[trace.deviceSlices.name[i]!] === name,
  );
  return { kind: 'device', index: found[nth]! };
}
const nameOf = (target: Target | undefined): string =>
  target?.kind === 'device' ? (trace.strings[trace.deviceSlices.name[target.index]!] ?? '') : (target?.kind ?? 'none');

describe('state', () => {
  it('goes through findings by urgency and zooms to each', () => {
    const one = states.stepHazard(first, run, 1);
    expect(run.hazards[one.hazard]!.code).toBe('missing-record-stream');
    expect(one.view.start).toBeLessThan(138_000);
    expect(one.view.end).toBeGreaterThan(768_000);
    const two = states.stepHazard(one, run, 1);
    expect(run.hazards[two.hazard]!.code).toBe('missing-wait');
    expect(states.stepHazard(two, run, 1).hazard).toBe(one.hazard);
    expect(states.stepHazard(first, run, -1).hazard).toBe(two.hazard);
  });

  it('searches names, source places and addresses', () => {
    expect(states.searchFor(first, run, 'MUL').search!.count).toBe(8);
    expect(states.searchFor(first, run, 'prefetch.py:31').search!.matches.length).toBeGreaterThan(0);
    expect(states.searchFor(first, run, '0x7f3a40000000').search!.matches.map(({ kind }) => kind)).toEqual([
      'block',
      'block',
    ]);
    expect(states.searchFor(first, run, 'no such thing').search!.count).toBe(0);
    expect(states.searchFor(first, run, '  ').search).toBeUndefined();
  });

  it('jumps from match to match and shows each', () => {
    let state = states.withView(states.searchFor(first, run, 'gemm'), run, { start: 0, end: 100_000 });
    state = states.nextMatch(state, run);
    expect(state.match).toBe(0);
    expect(state.view.end).toBeGreaterThan(390_000);
    state = states.nextMatch(state, run);
    expect(nameOf(state.selection)).toBe('gemm');
    expect(states.nextMatch(states.nextMatch(state, run, -1), run, -1).match).toBe(3);
  });

  it('goes back one thing at a time', () => {
    let state: states.State = { ...first, hazard: 0, selection: slice('gemm'), range: { start: 0, end: 10 } };
    state = states.back(state);
    expect(state.range).toBeUndefined();
    state = states.back(state);
    expect(state.selection).toBeUndefined();
    expect(state.hazard).toBe(0);
    expect(states.back(state).hazard).toBe(-1);
  });

  it('fits what is selected', () => {
    const state = states.fitSelection({ ...first, selection: slice('fill_') }, run);
    expect(span(state.view)).toBeCloseTo(70_000 * 1.5, -2);
  });

  it('marks the slices of a source line, whatever the folder', () => {
    const marked = markLine(first, run, `/home/me/project/${scene.file}`, 35).marked;
    expect([...marked].map((index) => nameOf({ kind: 'device', index }))).toEqual(['mul', 'mul', 'mul', 'mul']);
    expect(markLine(first, run, '/home/me/other_prefetch.py', 35).marked.size).toBe(0);
    // The line that calls what launches marks all of it.
    expect(markLine(first, run, scene.file, 41).marked.size).toBe(trace.deviceSlices.length);
  });
});

describe('keys', () => {
  const { view } = first;

  it('walk along a row', () => {
    expect(nameOf(nextSlice(run, layout, view, slice('gemm'), 1))).toBe('mul');
    expect(nextSlice(run, layout, view, slice('gemm'), -1)).toEqual(slice('gemm'));
    expect(nextSlice(run, layout, view, undefined, 1)?.kind).toBe('host');
  });

  it('walk over lanes, nearest in time, down to the blocks', () => {
    const copy = nextLane(run, layout, view, slice('gemm', 1), -1);
    expect(nameOf(copy)).toBe('Memcpy HtoD');
    let target: Target | undefined = slice('gemm', 1);
    const kinds = new Set<string>();
    for (let i = 0; i < 12; i++) {
      target = nextLane(run, layout, view, target, 1);
      kinds.add(target!.kind);
    }
    expect([...kinds]).toEqual(['device', 'block']);
  });

  it('follow an edge to its other end and back', () => {
    const edge = otherEnd(run, slice('gemm', 1), -1);
    expect(edge?.kind).toBe('edge');
    const source = otherEnd(run, edge, -1);
    expect(source).toEqual(slice('Memcpy HtoD', 1));
    expect(otherEnd(run, edge, 1)).toEqual(slice('gemm', 1));
    expect(otherEnd(run, { kind: 'host', index: 0 }, 1)).toBeUndefined();
  });
});

describe('details', () => {
  it('tell a kernel, where it comes from, and its source', () => {
    const details = detailsOf(run, slice('gemm'));
    expect(details.title).toBe('gemm');
    expect(details.rows.find(({ label }) => label === 'Duration')?.value).toBe('378 µs');
    expect(details.rows.find(({ label }) => label === 'Launched by')?.value).toBe('mm');
    expect(details.source).toEqual({ file: scene.file, line: 18 });
    expect(details.stack.map(placeText)).toEqual(['train_prefetch.py:18', 'train_prefetch.py:41']);
    expect(details.step).toBeGreaterThanOrEqual(0);
  });

  it('say host or GPU at each time of a block', () => {
    const details = detailsOf(run, { kind: 'block', index: run.hazards[1]!.block });
    expect(details.rows.map(({ label, host, gpu }) => [label, host ?? '', gpu ?? ''])).toEqual([
      ['Allocated on copy', '32 µs', ''],
      ['Release requested', '138', ''],
      ['Reusable', '138', ''],
      ['Last GPU use', '', '776 µs'],
    ]);
  });

  it('tell an edge', () => {
    const edge = otherEnd(run, slice('gemm', 1), -1)!;
    const details = detailsOf(run, edge);
    expect(details.title).toBe('compute waits for copy');
    expect(details.rows.at(-1)).toMatchObject({ label: 'Held the stream', value: 'not at all' });
  });

  it('tell a finding with both accesses and its places', () => {
    const details = detailsOf(run, { kind: 'hazard', index: 1 });
    expect(details.title).toBe('x is reused while compute still reads it');
    expect(details.note).toBe('Confirmed in this run');
    expect(details.rows.map(({ label }) => label)).toContain('First access, gemm on compute');
    expect(details.related.map(placeText)).toEqual(['train_prefetch.py:18', 'train_prefetch.py:28']);
    expect(sourceOf(run, { kind: 'hazard', index: 1 })).toEqual({ file: scene.file, line: scene.faultLine });
  });

  it('do not hang on a cycle of call sites', () => {
    const sites = { ...trace.sites, parent: Int32Array.from(trace.sites.parent, () => 0) };
    expect(stackOf({ ...run, trace: { ...trace, sites } }, 0)).toHaveLength(64);
  });
});

describe('range statistics', () => {
  it('count slices that cross an edge with the part inside', () => {
    const statistics = statisticsOf(run, { start: 803_000, end: 1_216_000 });
    const of = (name: string) => statistics.streams.find((entry) => entry.name === name)!;
    expect(of('copy').busy).toBeCloseTo((1063 - 803 + 1216 - 1122) / 413, 3);
    expect(of('default').waiting).toBe(386_000);
    expect(statistics.longest[0]).toMatchObject({ name: 'gemm', count: 1, total: 378_000 });
    expect(statistics.memory.map(({ name }) => name)).toEqual(['Allocated', 'Held back']);
  });
});

describe('the page', () => {
  const options = {
    nonce: 'n0nce',
    scriptUri: 'webview.js',
    styleUri: 'webview.css',
    workerUri: 'worker.js',
    cspSource: 'https://host.example',
    title: '<script>alert(1)</script>"',
  };

  it('lets only its own script run and writes no name as markup', () => {
    const html = page(options);
    expect(html).toContain("default-src 'none'");
    expect(html).toContain("script-src 'nonce-n0nce'");
    expect(html).not.toContain('unsafe');
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('connect-src https://host.example;');
  });

  it('talks to its own server where it has one', () => {
    expect(page({ ...options, connect: true })).toContain("connect-src https://host.example 'self'");
  });
});
