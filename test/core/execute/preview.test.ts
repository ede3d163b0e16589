// The preview: which function runs, and what its run says about the source.
import { beforeAll, expect, test } from 'vitest';
import { judgeTrace } from '../../../core/judgeTrace.ts';
import { preview } from '../../../core/preview.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import { openTrace } from '../../../core/trace/index.ts';
import { loadParser } from '../../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

const racing = `import torch

def quiet():
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.ones(8, device="cuda").mul_(2)
    torch.cuda.synchronize()

def racing():
    side = torch.cuda.Stream()
    rows = torch.ones(1024, device="cuda")
    with torch.cuda.stream(side):
        doubled = rows * 2
    torch.cuda.synchronize()
    return doubled.sum().item()

def pure(a):
    return len(a) + 1
`;

const run = (text: string, name?: string) => {
  const shown = preview(parser, [{ file: '/project/rows.py', text }], name);
  const trace = openTrace(new TextEncoder().encode(shown.raceline), 'rows.raceline');
  return { ...shown, trace, hazards: judgeTrace(trace) };
};

test('the function with most hazards runs, and its places are those of the source', () => {
  const { entry, entries, trace, hazards } = run(racing);
  expect(entry).toBe('racing');
  expect(entries).toEqual(expect.arrayContaining(['quiet', 'racing']));
  expect(entries).not.toContain('pure');
  expect(trace.problems).toEqual([]);
  expect(hazards.map(({ code, at }) => `${code} ${at.file}:${at.line}`)).toEqual(['missing-wait /project/rows.py:13']);
  expect(hazards[0]!.related[0]).toMatchObject({ line: 11 });
});

test('streams and tensors are called as the program calls them', () => {
  const { trace } = run(racing);
  expect(trace.streams.map(({ name }) => name)).toEqual(expect.arrayContaining(['side']));
  expect(trace.streams.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  expect([...trace.blocks.name].map((name) => trace.strings[name])).toEqual(
    expect.arrayContaining(['rows', 'doubled']),
  );
});

test('stacks hold the functions that were followed', () => {
  const { trace } = run(
    `${racing.replace('doubled = rows * 2', 'doubled = twice(rows)')}\ndef twice(x):\n    return x * 2\n`,
  );
  const { sites, deviceSlices, strings } = trace;
  const stacks = [...deviceSlices.site].map((site) => {
    const functions: string[] = [];
    for (let at = site; at >= 0; at = sites.parent[at]!) functions.push(strings[sites.function[at]!]!);
    return functions.join(' < ');
  });
  expect(stacks).toContain('twice < racing');
});

test('a function can be named', () => {
  expect(run(racing, 'quiet').entry).toBe('quiet');
  expect(run(racing, 'quiet').hazards).toEqual([]);
});

test('what cannot run is said with what can', () => {
  expect(() => run(racing, 'absent')).toThrow(/no “absent” to run; there is: .*racing/);
  expect(() => run('def f():\n    return 1\n')).toThrow('nothing to run');
});

test('the same source gives the same run', () => {
  expect(run(racing).raceline).toBe(run(racing).raceline);
});
