import { describe, expect, it } from 'vitest';
import { shiftOf } from '../../../core/timeline/align.ts';
import { differencesOf } from '../../../core/timeline/differences.ts';
import { laneKey, layOut, measuresFor } from '../../../core/timeline/layout.ts';
import { buildTimeline } from '../../../core/timeline/timeline.ts';
import { unite } from '../../../core/timeline/unite.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { judgeTrace } from '../../webview/sceneHazards.ts';
import { prefetchScene } from '../../webview/synthetic.ts';

const text = prefetchScene();
const open = (source: string) => openTrace(new TextEncoder().encode(source), 'scene.raceline');
const first = open(text);
/** The same program with the first copy renamed, half a millisecond later by the clock. */
const second = open(
  text.replace('1764441974123456789', '1764441974123956789').replaceAll('reduce_splitK', 'reduce_whole'),
);
const side = (name: string, trace = first) => ({ name, trace, hazards: judgeTrace(trace) });

function united(shift: number) {
  const result = unite(side('before'), side('after', second), shift);
  return { ...result, timeline: buildTimeline(result.trace, result.hazards, result.parts) };
}

describe('two runs on one axis', () => {
  it('hold every row of both, the second moved', () => {
    const { trace, parts } = united(1000);
    const { length } = first.deviceSlices;
    expect(trace.deviceSlices.length).toBe(2 * length);
    for (let i = 0; i < length; i++) {
      expect(trace.deviceSlices.start[length + i]).toBe(second.deviceSlices.start[i]! + 1000);
      expect(trace.strings[trace.deviceSlices.name[length + i]!]).toBe(second.strings[second.deviceSlices.name[i]!]);
      expect(trace.deviceSlices.stream[length + i]).toBe(second.deviceSlices.stream[i]! + first.streams.length);
    }
    expect(parts.map(({ shift }) => shift)).toEqual([0, 1000]);
    expect(parts[1].blocks).toEqual({ from: first.blocks.length, to: 2 * first.blocks.length });
  });

  it('move the first one up where the second begins before it, and leave unknown times unknown', () => {
    const { trace, parts } = united(-500);
    expect(parts.map(({ shift }) => shift)).toEqual([500, 0]);
    expect(trace.deviceSlices.start[0]).toBe(first.deviceSlices.start[0]! + 500);
    first.blocks.lastUse.forEach((time, i) => {
      expect(trace.blocks.lastUse[i]).toBe(time < 0 ? -1 : time + 500);
    });
  });

  it('keep edges, launchers and findings within their own run', () => {
    const { trace, hazards, parts, timeline } = united(0);
    for (let edge = 0; edge < timeline.edges.length; edge++) {
      const of = (mark: number): boolean => mark >= parts[1].marks.from;
      expect(of(timeline.edges.record[edge]!)).toBe(of(timeline.edges.wait[edge]!));
    }
    const { length } = first.deviceSlices;
    const launcher = trace.deviceSlices.launcher[length]!;
    expect(trace.hostSlices.name[launcher]).toBe(trace.hostSlices.name[trace.deviceSlices.launcher[0]!]);
    expect(hazards).toHaveLength(4);
    expect(hazards[2]!.firstSlice).toBe(hazards[0]!.firstSlice + length);
    expect(hazards[2]!.block).toBe(hazards[0]!.block + first.blocks.length);
  });

  it('stand one under the other, each under its name, in the same colours', () => {
    const { timeline } = united(0);
    const layout = layOut(timeline, measuresFor(1400), { closed: new Set(), opened: new Set(), hidden: new Set() });
    const heads = layout.boxes.flatMap(({ lane }) => (lane.kind === 'part' ? [lane.name] : []));
    expect(heads).toEqual(['before', 'after']);
    expect(new Set(layout.boxes.map(({ lane }) => laneKey(lane))).size).toBe(layout.boxes.length);
    const { slots } = timeline;
    const streams = first.streams.length;
    for (let i = 0; i < streams; i++) expect(slots[i + streams]).toBe(slots[i]);
    const folded = layOut(timeline, measuresFor(1400), {
      closed: new Set(['part 0']),
      opened: new Set(),
      hidden: new Set(),
    });
    expect(folded.boxes[1]!.lane).toMatchObject({ kind: 'part', name: 'after' });
  });

  it('are aligned by their starts, their first kernels, or the clock', () => {
    expect(shiftOf(first, second, 'start')).toBe(0);
    expect(shiftOf(first, second, 'clock')).toBe(500_000);
    const late = {
      ...second,
      deviceSlices: { ...second.deviceSlices, start: second.deviceSlices.start.map((t) => t + 77) },
    };
    expect(shiftOf(first, late, 'kernel')).toBe(-77);
    expect(shiftOf(first, { ...second, unixStart: undefined }, 'clock')).toBeUndefined();
    expect(shiftOf(first, { ...second, unixStart: '0' }, 'clock')).toBeUndefined();
  });
});

describe('differences', () => {
  it('name what only one run has, and are none between a run and itself', () => {
    const { trace, hazards, timeline } = united(0);
    const { whole, streams, kernels, findings } = differencesOf(trace, hazards, timeline);
    for (const row of [...whole, ...streams]) expect(row.second).toBeCloseTo(row.first!, 6);
    expect(
      kernels.filter((row) => row.first === undefined || row.second === undefined).map(({ name }) => name),
    ).toEqual(['reduce_splitK', 'reduce_whole']);
    expect(findings).toEqual([]);
  });

  it('tell findings apart by code and line', () => {
    const a = side('before');
    const both = unite(a, { ...side('after', second), hazards: a.hazards.slice(1) });
    const { findings } = differencesOf(both.trace, both.hazards, buildTimeline(both.trace, both.hazards, both.parts));
    expect(findings).toEqual([{ run: 0, hazard: 0 }]);
  });
});
