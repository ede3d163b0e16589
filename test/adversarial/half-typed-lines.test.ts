/**
 * A half-typed edit at each line of files of real size, in checkers that live as long as an editor's: nothing throws, the
 * other functions keep their findings and get none, and undoing the edit gives the findings of the start.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSourceChecker } from '../../core/checkSource.ts';
import { editsAt, faultsOf } from '../harness/halfTyped.ts';
import { loadParser } from '../harness/parser.ts';

const parser = await loadParser();
const labelled = new URL('../labelled/', import.meta.url);
const programs = readdirSync(labelled, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.bad.py'))
  .sort()
  .map((path) => readFileSync(new URL(path, labelled), 'utf8'));
const count = 10;

/** Labelled programs below each other, as one module: imports at the top, and the names of each its own. */
function moduleOf(parts: readonly string[]): string {
  const imports = new Set<string>();
  const bodies = parts.map((text, i) => {
    const lines = text.split('\n').filter((line) => {
      const isImport = /^(?:import|from) [^(\\]*$/.test(line);
      if (isImport) imports.add(line);
      return !isImport;
    });
    const body = lines.join('\n').trim();
    const names = [...body.matchAll(/^(?:class |(?:async )?def )?(\w+)(?=\(|:$| = )/gm)].map(([, name]) => name!);
    const own = new RegExp(`(?<![.\\w])(?:${[...new Set(names)].join('|')})\\b`, 'g');
    return names.length ? body.replace(own, (name) => `${name}_${i}`) : body;
  });
  return `${[...imports].join('\n')}\n\n\n${bodies.join('\n\n\n')}\n`;
}

/** More would take longer and show nothing else. */
const parts = 3;

const files = Array.from({ length: count }, (_, i) =>
  moduleOf(programs.filter((_, at) => at % count === i).slice(0, parts)),
);

describe('a half-typed edit at each line', () => {
  it.each(files.map((text, i) => [i, text] as const))(
    'file %i',
    (i, text) => {
      const file = `/file${i}.py`;
      const checker = createSourceChecker(parser);
      const { findings, problems } = checker.check([{ file, text }], { fixes: false });
      expect(problems).toEqual([]);
      expect(findings.length).toBeGreaterThanOrEqual(3);
      const lines = text.split('\n');
      expect(lines.length).toBeGreaterThan(60);
      const faults: string[] = [];
      lines.forEach((line, at) => {
        const edits = editsAt(text, at);
        // All of the kinds on each line would take minutes: each line gets another one.
        const edit = edits[(at * 5 + i) % edits.length];
        if (!edit) return;
        for (const fault of faultsOf({ checker, parser, file, text, known: findings }, edit))
          faults.push(`${edit.kind} at line ${at + 1} (${line.trim()}): ${fault}`);
      });
      expect(faults).toEqual([]);
    },
    120_000,
  );
});
