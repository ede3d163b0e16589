import { describe, expect, it } from 'vitest';
import { grouped, percent, sizeText, timeNumber, timeText, unitFor } from '../../../core/timeline/units.ts';
import { around, clampView, pan, reach, shortestSpan, span, toTime, toX, zoomAt } from '../../../core/timeline/view.ts';

const bounds = { start: 0, end: 1000_000 };

describe('the view', () => {
  it('zooms so that the time under the pointer keeps its place', () => {
    const view = { start: 100_000, end: 300_000 };
    const next = zoomAt(view, bounds, 150_000, 4);
    expect(span(next)).toBe(50_000);
    expect((150_000 - next.start) / span(next)).toBeCloseTo(0.25, 10);
  });

  it('stays in the bounds and above the shortest span', () => {
    expect(zoomAt({ start: 0, end: 1000 }, bounds, 500, 1e9).end).toBeLessThanOrEqual(bounds.end);
    expect(span(zoomAt({ start: 0, end: 1000 }, bounds, 500, 1e9))).toBe(shortestSpan);
    expect(zoomAt({ start: 0, end: 500_000 }, bounds, 10, 0.001)).toEqual(bounds);
    expect(pan({ start: 0, end: 500_000 }, bounds, -10)).toEqual({ start: 0, end: 500_000 });
    expect(pan({ start: 0, end: 500_000 }, bounds, 1e9)).toEqual({ start: 500_000, end: 1000_000 });
    expect(clampView({ start: -5, end: 2_000_000 }, bounds)).toEqual(bounds);
  });

  it('moves only as far as it must', () => {
    const view = { start: 400_000, end: 500_000 };
    expect(reach(view, { start: 430_000, end: 440_000 }, bounds)).toBe(view);
    expect(reach(view, { start: 600_000, end: 610_000 }, bounds)).toEqual({ start: 520_000, end: 620_000 });
    expect(span(reach(view, { start: 0, end: 900_000 }, bounds))).toBeGreaterThan(900_000 - 1);
  });

  it('shows an extent with room around it', () => {
    expect(around({ start: 400_000, end: 500_000 }, bounds)).toEqual({ start: 375_000, end: 525_000 });
  });

  it('lies on pixels and back', () => {
    const scale = { start: 100, end: 300, left: 176, width: 888 };
    expect(toX(scale, 100)).toBe(176);
    expect(toTime(scale, toX(scale, 217))).toBeCloseTo(217, 9);
  });
});

describe('units', () => {
  it('groups thousands with narrow no-break spaces', () => {
    expect(grouped(1234567)).toBe('1\u202f234\u202f567');
    expect(grouped(-1234.5, 1)).toBe('−1\u202f234.5');
    expect(grouped(999)).toBe('999');
    expect(grouped(-0.2)).toBe('0');
  });

  it('picks the unit that fits', () => {
    expect(timeText(863_000)).toBe('863 µs');
    expect(timeText(1_286_000)).toBe('1\u202f286 µs');
    expect(timeText(6_200_000)).toBe('6.2 ms');
    expect(timeText(12)).toBe('12 ns');
    expect(timeText(61e9)).toBe('61 s');
    expect(timeNumber(1500, unitFor(1_000_000))).toBe('1.5');
  });

  it('writes sizes and shares', () => {
    expect(sizeText(32 * 2 ** 20)).toBe('32 MiB');
    expect(sizeText(1536)).toBe('1.5 KiB');
    expect(sizeText(0)).toBe('0 B');
    expect(percent(0.004)).toBe('<1 %');
    expect(percent(0)).toBe('0 %');
    expect(percent(0.654)).toBe('65 %');
  });
});
