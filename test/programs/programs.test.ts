/**
 * Programs that were recorded on a GPU: what the recording shows, and what the source analysis says of the same text.
 * Where the two differ, the difference is written down with its reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createSourceChecker } from '../../core/checkSource.ts';
import { judgeTrace } from '../../core/judgeTrace.ts';
import { openTrace } from '../../core/trace/index.ts';
import { loadParser } from '../harness/parser.ts';

const folder = path.dirname(fileURLToPath(import.meta.url));
const programs = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

interface Place {
  readonly code: string;
  readonly line: number;
}

/** Static findings where they are not those of the recording. */
const different: Readonly<Record<string, { readonly findings: readonly Place[]; readonly why: string }>> = {
  dropped_early: {
    findings: [{ code: 'missing-record-stream', line: 15 }],
    why: 'the source shows that a statement drops the tensor; a recording knows the use, and where the reference went',
  },
  wait_before_record: {
    findings: [{ code: 'event-never-recorded', line: 10 }],
    why: 'in source the wait without a record stands in for the race that it causes',
  },
};

describe.each(programs)('%s', (name) => {
  const read = (file: string) => readFileSync(path.join(folder, name, file));
  const expected: readonly Place[] = JSON.parse(read('expect.json').toString()).hazards;

  it('its recording shows what was planted and nothing else', () => {
    const trace = openTrace(read('trace.raceline.gz'), `${name}.raceline.gz`, { gunzip: (bytes) => gunzipSync(bytes) });
    expect(trace.problems).toEqual([]);
    expect(trace.clock).toBe('gpu');
    expect(trace.counts.kernels).toBeGreaterThan(0);
    expect(judgeTrace(trace).map(({ code, at }) => ({ code, line: at.line }))).toEqual(expected);
  });

  it('its source is judged alike', async () => {
    const file = `${name}/program.py`;
    const checker = createSourceChecker(await loadParser());
    const { findings, problems } = checker.check([{ file, text: read('program.py').toString() }], { fixes: true });
    expect(problems).toEqual([]);
    expect(findings.map(({ code, range }) => ({ code, line: range.start.line + 1 }))).toEqual(
      different[name]?.findings ?? expected,
    );
    for (const finding of findings) expect(finding.fixes, finding.message).not.toEqual([]);
  });
});
