import { describe, expect, it } from 'vitest';
import { byUrgency } from '../../core/timeline/findings.ts';
import { drawnEdges } from '../../core/timeline/hit.ts';
import { layOut, measuresFor } from '../../core/timeline/layout.ts';
import type { View } from '../../core/timeline/view.ts';
import { openTrace } from '../../core/trace/index.ts';
import { drawAxis, rangePill, ticksFor } from '../../webview/draw/axis.ts';
import { contrast, parseColor, type Rgb } from '../../webview/draw/color.ts';
import { drawEdges } from '../../webview/draw/edges.ts';
import { drawFaults } from '../../webview/draw/fault.ts';
import { drawFindingsLane } from '../../webview/draw/findings.ts';
import { drawOverlay } from '../../webview/draw/overlay.ts';
import { fitText } from '../../webview/draw/pen.ts';
import { drawPool } from '../../webview/draw/blocks.ts';
import type { Scene } from '../../webview/draw/scene.ts';
import { drawHostLane, drawLabels, drawStreamLane, type Label } from '../../webview/draw/slices.ts';
import { drawStage } from '../../webview/draw/stage.ts';
import { makeTheme } from '../../webview/draw/theme.ts';
import { drawTotals } from '../../webview/draw/totals.ts';
import { makeRun } from '../../webview/opening.ts';
import { initialState, searchFor, type State } from '../../webview/state/state.ts';
import { mockPen } from './mockContext.ts';
import { judgeTrace } from './sceneHazards.ts';
import { prefetchScene, scene as ids } from './synthetic.ts';

const trace = openTrace(new TextEncoder().encode(prefetchScene()), 'scene.raceline');
const run = makeRun(trace, judgeTrace(trace), 'scene.raceline');

function sceneOf(over: Partial<State> = {}, view: View = { start: 0, end: 1_776_000 }): Scene {
  const state = { ...initialState(run), ...over };
  const measures = measuresFor(1400);
  const scale = { ...view, left: 176, width: 888 };
  const layout = layOut(run.timeline, measures, state);
  const { timeline, hazards } = run;
  const edges = drawnEdges(timeline, trace.marks, scale, []);
  return {
    ...state,
    trace,
    timeline,
    hazards,
    urgency: byUrgency(hazards),
    layout,
    measures,
    scale,
    edges,
    width: 1064,
    height: 740,
  };
}

const boxOf = (scene: Scene, stream: number) => scene.layout.streamBoxes.get(stream)!;

function lane(scene: Scene, stream: number): { log: string[]; labels: Label[] } {
  const pen = mockPen();
  const labels: Label[] = [];
  drawStreamLane(pen, scene, boxOf(scene, stream), 0, pen.strips, labels);
  pen.strips.flush(pen);
  return { log: pen.log, labels };
}

describe('painters', () => {
  it('paint a stream: tint, outline, edge strip, sub-row, labels', () => {
    const { log, labels } = lane(sceneOf(), ids.compute);
    expect(log).toMatchSnapshot();
    expect(labels.map(({ text }) => text)).toEqual(['130 µs', '237 µs', 'gemm', 'gemm', 'gemm', 'gemm']);
  });

  it('paint what is too narrow as one strip a row', () => {
    const { log } = lane(sceneOf({}, { start: 0, end: 500_000_000 }), ids.compute);
    expect(log.filter((call) => call.startsWith('drawImage'))).toHaveLength(2);
    expect(log.some((call) => call.startsWith('fillRect'))).toBe(false);
  });

  it('keep the label of a slice that is cut at the left', () => {
    const { labels } = lane(sceneOf({}, { start: 500_000, end: 900_000 }), ids.compute);
    expect(labels.find(({ text }) => text === 'gemm')).toMatchObject({ x: 176 + 8 });
  });

  it('fade what a search does not match', () => {
    const state = searchFor(initialState(run), run, 'mul');
    const { log } = lane(sceneOf({ search: state.search }), ids.compute);
    expect(log.filter((call) => call === 'globalAlpha = 0.6').length).toBeGreaterThan(4);
    // Three matches in view, each with an outline around it.
    expect(log.filter((call) => /^roundRect\(.* 27 3\)$/.test(call))).toHaveLength(3);
  });

  it('paint a host thread, its wait hatched', () => {
    const scene = sceneOf({}, { start: 1_000_000, end: 2_000_000 });
    const pen = mockPen();
    const labels: Label[] = [];
    drawHostLane(pen, scene, scene.layout.boxes[0]!, 0, pen.strips, labels);
    expect(pen.log).toMatchSnapshot();
    expect(labels.map(({ text }) => text)).toContain('sum.item() waits for the default stream');
  });

  it('paint a pool: held, held back, last use', () => {
    const scene = sceneOf();
    const pen = mockPen();
    const labels: Label[] = [];
    drawPool(pen, scene, scene.layout.boxes.find((box) => box.lane.kind === 'pool')!, 0, pen.strips, labels);
    expect(pen.log).toMatchSnapshot();
    expect(labels.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['x', 'held back 863 µs', 'held back 1\u202f286 µs']),
    );
  });

  it('name a block that is pixels where a letter has room', () => {
    const scene = sceneOf({}, { start: 0, end: 3_000_000 });
    const pen = mockPen();
    const labels: Label[] = [];
    for (const box of scene.layout.boxes)
      if (box.lane.kind === 'pool') drawPool(pen, scene, box, 0, pen.strips, labels);
    expect(labels.filter(({ text }) => text === 'y')).toHaveLength(4);
  });

  it('paint edges from ● to ○ without arrowheads', () => {
    const scene = sceneOf();
    const pen = mockPen();
    drawEdges(pen, scene, 0, new Set([2]));
    expect(pen.log).toMatchSnapshot();
    expect(pen.log.filter((call) => call.startsWith('arc('))).toHaveLength(2 * scene.edges.length);
  });

  it('paint totals, stepped', () => {
    const scene = sceneOf();
    const pen = mockPen();
    drawTotals(pen, scene, scene.layout.boxes.at(-1)!, 0);
    expect(pen.log.filter((call) => call.startsWith('fillText'))).toEqual([
      expect.stringContaining('"held back 64 MiB"'),
      expect.stringContaining('"allocated 64 MiB"'),
    ]);
    const steps = pen.log.filter((call) => call.startsWith('lineTo'));
    expect(steps.length).toBeGreaterThan(20);
  });

  it('paint the findings lane', () => {
    const pen = mockPen();
    drawFindingsLane(pen, sceneOf(), 72);
    expect(pen.log).toMatchSnapshot();
  });

  it('paint the selected finding: frames, the missing order, the block', () => {
    const pen = mockPen();
    drawFaults(pen, sceneOf({ hazard: 1 }), 0);
    const words = pen.log.filter((call) => call.startsWith('fillText'));
    expect(words.some((call) => call.includes('"no order"'))).toBe(true);
    expect(words.some((call) => call.includes('"overwritten while read"'))).toBe(true);
    expect(pen.log).toMatchSnapshot();
  });

  it('paint only the × of findings that are not selected', () => {
    const pen = mockPen();
    drawFaults(pen, sceneOf(), 0);
    expect(pen.log.some((call) => call.startsWith('fillText'))).toBe(false);
    expect(pen.log.filter((call) => call.startsWith('bezierCurveTo')).length).toBeGreaterThan(0);
  });

  it('paint selection and hover on the overlay', () => {
    const pen = mockPen();
    const gemm = trace.deviceSlices.start.indexOf(803_000);
    drawOverlay(pen, sceneOf({ selection: { kind: 'device', index: gemm } }), {
      hover: { kind: 'block', index: 0 },
      cursor: 5000,
    });
    expect(pen.log).toMatchSnapshot();
  });

  it('paint a whole frame in every theme', () => {
    for (const kind of ['dark', 'light', 'highContrast', 'highContrastLight'] as const) {
      const pen = mockPen(kind);
      drawStage(pen, sceneOf({ hazard: 0 }), pen.strips);
      const saves = pen.log.filter((call) => call === 'save()').length;
      expect(pen.log.filter((call) => call === 'restore()').length).toBe(saves);
      expect(pen.log.some((call) => /NaN|undefined/.test(call))).toBe(false);
    }
  });

  describe('the numbers of the axis and the length of the range', () => {
    /** Each number with where it stands, from its first letter to behind its last. */
    const numbers = (range: View | undefined): { text: string; from: number; to: number }[] => {
      const pen = mockPen();
      const scene = sceneOf(range ? { range } : {});
      drawAxis(pen, scene, ticksFor(scene), 36);
      let align = '';
      return pen.log.flatMap((call) => {
        align = /^textAlign = "(\w+)"/.exec(call)?.[1] ?? align;
        const [, text, x] = /^fillText\("([^"]*)" (\S+)/.exec(call) ?? [];
        if (text === undefined || !/^[\d\u202f]+$/.test(text)) return [];
        const width = text.length * 6;
        const from = Number(x) - (align === 'center' ? width / 2 : 0);
        return [{ text, from, to: from + width }];
      });
    };
    const all = numbers(undefined);

    it.each([
      ['in the middle', { start: 700_000, end: 1_100_000 }],
      ['short, at a number', { start: 799_000, end: 801_000 }],
      ['short, between two', { start: 700_000, end: 701_000 }],
      ['at the beginning', { start: 0, end: 60_000 }],
      ['just behind the first number', { start: 55_000, end: 65_000 }],
      ['from before the view to behind it', { start: -500_000, end: 9_000_000 }],
    ])('do not lie over each other where the range is %s', (_, range) => {
      const scene = sceneOf({ range });
      const pill = rangePill(mockPen(), scene)!;
      const [left, right] = [pill.x - pill.width / 2, pill.x + pill.width / 2];
      const shown = numbers(range);
      for (const { text, from, to } of shown) if (to > left && from < right) expect.fail(`${text} is under the pill`);
      // Only what would touch it is left out.
      const away = all.filter(({ from, to }) => to < left - 2 || from > right + 2);
      expect(shown.map(({ text }) => text)).toEqual(away.map(({ text }) => text));
    });

    it('are all there without a range', () => {
      expect(rangePill(mockPen(), sceneOf())).toBeUndefined();
      expect(all.map(({ text }) => text)).toContain('0');
      expect(all.length).toBeGreaterThan(6);
    });
  });

  it('draw labels on their own ground', () => {
    const pen = mockPen();
    drawLabels(pen, [{ text: 'gemm', x: 200, y: 50, height: 24, fill: 'rgb(1,2,3)', faded: false }]);
    expect(pen.log).toContain('fillStyle = "rgb(1,2,3)"');
  });
});

describe('text', () => {
  it('shows whole, or three letters or more, or not', () => {
    const pen = mockPen();
    expect(fitText(pen, 'Memcpy HtoD', 66, 'f')).toBe('Memcpy HtoD');
    expect(fitText(pen, 'Memcpy HtoD', 36, 'f')).toBe('Memcp…');
    expect(fitText(pen, 'Memcpy HtoD', 24, 'f')).toBe('Mem…');
    expect(fitText(pen, 'Memcpy HtoD', 20, 'f')).toBe('');
  });

  it('does not measure megabytes', () => {
    const pen = mockPen();
    expect(fitText(pen, 'x'.repeat(5_000_000), 60, 'f').length).toBeLessThan(12);
  });
});

describe('themes', () => {
  const kinds = ['dark', 'light', 'highContrast', 'highContrastLight'] as const;

  it('give every stream 3:1 on the background and every label 5:1 on its fill', () => {
    for (const kind of kinds) {
      const theme = makeTheme(kind, () => '');
      for (let slot = 0; slot < 16; slot++) {
        const colors = theme.stream(slot);
        expect(contrast(colors.color, theme.background)).toBeGreaterThanOrEqual(3);
        expect(contrast(theme.foreground, colors.fillRgb)).toBeGreaterThanOrEqual(5);
      }
      for (const mark of [theme.error, theme.warning, theme.info, theme.focus])
        expect(contrast(mark, theme.background)).toBeGreaterThanOrEqual(3);
    }
  });

  it('keep the palette as it is specified', () => {
    const theme = makeTheme('dark', () => '');
    const ratios = [5.4, 3.7, 7.6, 7.9, 12.1, 3.3, 10.2, 11.7];
    ratios.forEach((ratio, slot) => {
      expect(contrast(theme.stream(slot).color, theme.background)).toBeCloseTo(ratio, 0);
    });
    expect(theme.stream(8).split).toBe(true);
    expect(theme.stream(9).color).toEqual(theme.stream(1).color);
  });

  it('move colours until they stand out from a theme of the user', () => {
    const grey = makeTheme('dark', (name) => (name === 'editor-background' ? '#6a6a6a' : ''));
    for (let slot = 0; slot < 8; slot++)
      expect(contrast(grey.stream(slot).color, grey.background)).toBeGreaterThanOrEqual(3);
  });

  it('read colours as CSS writes them', () => {
    const under: Rgb = [0, 0, 0];
    expect(parseColor('#fff')).toEqual([255, 255, 255]);
    expect(parseColor('#ffffff80', under)).toEqual([128, 128, 128]);
    expect(parseColor('rgba(255, 0, 0, 0.5)', under)).toEqual([128, 0, 0]);
    expect(parseColor(' rgb(1 2 3) ')).toEqual([1, 2, 3]);
    expect(parseColor('transparent')).toBeUndefined();
  });
});
