/**
 * The source analysis judged on the labelled programs beside this file; README.md says what a label means. Each program is
 * checked by itself, with its labels taken out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSourceChecker, type SourceChecker } from '../../core/checkSource.ts';
import { loadParser } from '../harness/parser.ts';
import { notYet } from './notYet.ts';

/** The codes whose expected findings are demanded. A finding of any other code still has to be labelled. */
const demanded: ReadonlySet<string> = new Set([
  'missing-wait',
  'write-after-read',
  'missing-record-stream',
  'unjoined-output',
  'reversed-wait',
  'event-never-recorded',
  'redundant-record-stream',
  'host-read-before-sync',
  'pinned-overwritten-in-flight',
  'collective-not-waited',
  'event-rerecorded',
  'late-record-stream',
  'capture-unjoined',
  'capture-external-event',
  'capture-illegal-sync',
  'capture-record-stream',
  'redundant-sync',
  'unused-event',
]);

/** Advice that may be given anywhere. */
const uncounted: ReadonlySet<string> = new Set(['serialized-streams', 'too-many-streams']);

interface Label {
  readonly line: number;
  readonly code: string;
  readonly expected: boolean;
}

const folder = path.dirname(fileURLToPath(import.meta.url));
const programs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.py'))
  .map((name) => name.replaceAll(path.sep, '/'))
  .sort();

const labelled = /#\s*(expect|may):\s*([a-z-]+(?:\s*,\s*[a-z-]+)*)/g;

function labelsOf(text: string): Label[] {
  return text
    .split('\n')
    .flatMap((source, line) =>
      [...source.matchAll(labelled)].flatMap(([, word, codes]) =>
        codes!.split(/\s*,\s*/).map((code) => ({ line: line + 1, code, expected: word === 'expect' })),
      ),
    );
}

/** A tensor that leaves without a join is one fault with two ends. */
function sameFault(a: string, b: string): boolean {
  return a === b || [a, b].sort().join(' ') === 'missing-wait unjoined-output';
}

let checker: SourceChecker;
beforeAll(async () => {
  checker = createSourceChecker(await loadParser());
});

function findingsIn(text: string): { line: number; code: string; message: string }[] {
  const unlabelled = text
    .split('\n')
    .map((line) => line.replace(/\s*#\s*(expect|may):.*$/, ''))
    .join('\n');
  const { findings, problems } = checker.check([{ file: 'program.py', text: unlabelled }], { fixes: false });
  expect(problems).toEqual([]);
  return findings
    .filter(({ code }) => !uncounted.has(code))
    .map(({ range, code, message }) => ({ line: range.start.line + 1, code, message }));
}

describe('correct programs', () => {
  it.each(programs.filter((name) => name.endsWith('.good.py')))('%s', (name) => {
    expect(findingsIn(readFileSync(path.join(folder, name), 'utf8'))).toEqual([]);
  });
});

describe('faulty programs', () => {
  const faulty = programs.filter((name) => name.endsWith('.bad.py'));

  it('have a correct twin each', () => {
    expect(
      faulty.map((name) => name.replace('.bad.py', '.good.py')).filter((name) => !programs.includes(name)),
    ).toEqual([]);
  });

  it('are the only ones that the list of missing findings names', () => {
    expect(Object.keys(notYet).filter((key) => !faulty.includes(key.split(':')[0]!))).toEqual([]);
  });

  it.each(faulty)('%s', (name) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    const labels = labelsOf(text);
    const findings = findingsIn(text);
    const isLabel = (label: Label, line: number, code: string) => label.line === line && label.code === code;
    const unlabelled = findings
      .filter(({ line, code }) => !labels.some((label) => isLabel(label, line, code)))
      .map(({ line, code }) => `${name}:${line} ${code}`);
    const missing = labels
      .filter(({ expected, code }) => expected && demanded.has(code))
      .filter((wanted) => {
        const good = labels.filter(
          (label) => label === wanted || (!label.expected && sameFault(label.code, wanted.code)),
        );
        return !findings.some(({ line, code }) => good.some((label) => isLabel(label, line, code)));
      })
      .map(({ line, code }) => `${name}:${line} ${code}`);
    const known = Object.keys(notYet).filter((key) => key.startsWith(`${name}:`));
    expect([...new Set([...unlabelled, ...missing])].sort()).toEqual(known.sort());
  });
});
