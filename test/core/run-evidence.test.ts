/** What runs say of findings of the source, and where lines go when a text is edited. */
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../core/rules/finding.ts';
import { evidenceText, movedLine, type RunRecord, verdictOn } from '../../core/runEvidence.ts';

const span = (line: number) => ({ start: { line: line - 1, character: 4 }, end: { line: line - 1, character: 9 } });
const finding = (code: string, line: number, related: readonly number[] = [], file = 'a.py'): Finding => ({
  file,
  range: span(line),
  code,
  severity: 'warning',
  certainty: 'always',
  message: 'said',
  related: related.map((at) => ({ file, range: span(at), message: 'earlier' })),
  fixes: [],
});
const run = (
  ran: readonly number[],
  hazards: readonly [code: string, line: number, status?: 'confirmed' | 'latent', related?: readonly number[]][] = [],
  file = 'a.py',
): RunRecord => ({
  name: 'run.raceline',
  ran: new Map([[file, new Set(ran)]]),
  hazards: hazards.map(([code, line, status = 'latent', related = []]) => ({
    code,
    line,
    status,
    file,
    related: related.map((at) => ({ file, line: at })),
  })),
});
const evidence = (f: Finding, ...runs: RunRecord[]) => verdictOn(f, runs)?.evidence;

describe('a finding', () => {
  it('is confirmed by a hazard of its kind at its line', () => {
    expect(evidence(finding('missing-wait', 6), run([4, 6], [['missing-wait', 6]]))).toBe('confirmed');
    expect(evidence(finding('unjoined-output', 6), run([4, 6], [['missing-wait', 6]]))).toBe('confirmed');
  });

  it('is not seen where its line ran and nothing was found there', () => {
    expect(evidence(finding('missing-wait', 6), run([4, 6]))).toBe('not seen');
    expect(evidence(finding('missing-wait', 6), run([4, 6], [['missing-record-stream', 6]]))).toBe('not seen');
    expect(evidence(finding('missing-wait', 6), run([4, 6], [['missing-wait', 9]]))).toBe('not seen');
  });

  it('is not run where its line is not among those that ran; another file’s run says nothing', () => {
    expect(evidence(finding('missing-wait', 7), run([4, 6]))).toBe('not run');
    expect(evidence(finding('missing-wait', 6), run([6], [['missing-wait', 6]], 'b.py'))).toBeUndefined();
    expect(evidence(finding('missing-wait', 6))).toBeUndefined();
  });

  it('is found where the run tells of it at another of its lines', () => {
    // The source points at the `del`, the run at the use.
    const dropped = finding('missing-record-stream', 25, [19, 24]);
    expect(evidence(dropped, run([19, 24, 25], [['missing-record-stream', 24, 'confirmed', [19, 25]]]))).toBe(
      'confirmed',
    );
  });

  it('takes the strongest word of several runs', () => {
    const f = finding('missing-wait', 6);
    const verdict = verdictOn(f, [run([6]), run([6], [['missing-wait', 6, 'confirmed']]), run([1])])!;
    expect(verdict).toEqual({ evidence: 'confirmed', run: 'run.raceline', wentWrong: true });
    expect(evidenceText(verdict)).toBe('confirmed: it went wrong in run.raceline');
  });

  it('that is advice gets none: one run cannot show that a call is needless', () => {
    for (const code of ['redundant-sync', 'serialized-streams', 'unused-event'])
      expect(evidence(finding(code, 6), run([6]))).toBeUndefined();
  });
});

describe('lines of an edited text', () => {
  const before = 'a\nb\nc\nd\ne\n';
  it.each([
    ['nothing', before, [1, 2, 3, 4, 5]],
    ['a line before', `x\n${before}`, [2, 3, 4, 5, 6]],
    ['a line after', `${before}x\n`, [1, 2, 3, 4, 5]],
    ['a line changed', 'a\nb\nC\nd\ne\n', [1, 2, 0, 4, 5]],
    ['lines out', 'a\nb\ne\n', [1, 2, 0, 0, 3]],
    ['a line in', 'a\nb\nx\nc\nd\ne\n', [1, 2, 4, 5, 6]],
    ['all of it', 'x\n', [0, 0, 0, 0, 0]],
  ])('%s', (_, after, expected) => {
    const move = movedLine(before, after);
    expect([1, 2, 3, 4, 5].map(move)).toEqual(expected);
  });
});
