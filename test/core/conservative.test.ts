import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSourceChecker } from '../../core/checkSource.ts';
import { conservative } from '../../core/conservative.ts';
import type { PythonParser } from '../../core/python/parse.ts';
import { loadParser } from '../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

/** The text with every order that could be needed; nothing is missing in it, and a second run adds nothing. */
function safe(text: string): string {
  const result = conservative(parser, [{ file: 'program.py', text }]);
  expect(result.problems).toEqual([]);
  expect(result.left).toEqual([]);
  const [{ text: written } = { text: '' }] = result.files;
  expect(parser.parse('program.py', written).errors).toEqual([]);
  expect(conservative(parser, result.files)).toEqual({ files: result.files, inserted: 0, left: [], problems: [] });
  return written;
}

const head = 'import torch\n\nside = torch.cuda.Stream()\n\n\n';

describe('orders that come in', () => {
  it('around work on tensors of which nobody knows where they lie', () => {
    expect(
      safe(`${head}def doubled(x):
    with torch.cuda.stream(side):
        y = x * 2
    return y
`),
    ).toBe(`${head}def doubled(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y
`);
  });

  it('around calls of which nobody knows what they do', () => {
    expect(
      safe(`${head}def run(model, x):
    with torch.cuda.stream(side):
        h = model(x)
    return h
`),
    ).toBe(`${head}def run(model, x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        h = model(x)
    torch.cuda.current_stream().wait_stream(side)
    return h
`);
  });

  it('before a return inside of the region', () => {
    expect(
      safe(`${head}def run(model, x):
    with torch.cuda.stream(side):
        return model(x)
`),
    ).toBe(`${head}def run(model, x):
    caller = torch.cuda.current_stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        result = model(x)
        caller.wait_stream(side)
        return result
`);
  });

  it('for a buffer that the caller goes on with', () => {
    expect(
      safe(`${head}def fill(out):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.fill_(1.0)
`),
    ).toBe(`${head}def fill(out):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.fill_(1.0)
    torch.cuda.current_stream().wait_stream(side)
`);
  });

  it('in a block of one line, with the line ends of the file', () => {
    const text = `${head}def doubled(x):\n    with torch.cuda.stream(side): y = x * 2  # on the side\n    return y\n`;
    expect(safe(text.replaceAll('\n', '\r\n'))).toBe(
      `${head}def doubled(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side): y = x * 2  # on the side
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y
`.replaceAll('\n', '\r\n'),
    );
  });
});

describe('what stays as it is', () => {
  it('a program with all of its orders', () => {
    const text = `${head}def doubled(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y
`;
    expect(safe(text)).toBe(text);
  });

  it('a stream that may be None', () => {
    const text = `${head}def run(model, x, lane=None):
    with torch.cuda.stream(lane):
        h = model(x)
    return h
`;
    const { files, left } = conservative(parser, [{ file: 'program.py', text }]);
    expect(files[0]!.text).toBe(text);
    expect(left.map(({ line }) => line)).toEqual([6]);
  });

  it('a file with a syntax error', () => {
    const text = `${head}def run(x):\n    with torch.cuda.stream(side):\n        y = x *\n    return y\n`;
    const { files, problems } = conservative(parser, [{ file: 'program.py', text }]);
    expect(files[0]!.text).toBe(text);
    expect(problems).toEqual([{ file: 'program.py', message: 'not edited: it has syntax errors' }]);
  });

  it('a file that may not be edited', () => {
    const text = `${head}def doubled(x):\n    with torch.cuda.stream(side):\n        y = x * 2\n    return y\n`;
    expect(conservative(parser, [{ file: 'program.py', text }], new Set()).inserted).toBe(0);
  });
});

/** What is meant to be missing, and its consequences. */
const missing =
  /^(missing-wait|write-after-read|missing-record-stream|unjoined-output|backward-missing-sync|reversed-wait|collective-not-waited|host-read-before-sync|pinned-overwritten-in-flight)$/;

describe('after it the labelled programs miss no order', () => {
  const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../labelled');
  const programs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.bad.py'))
    .map((name) => name.replaceAll(path.sep, '/'))
    .sort();
  it.each(programs)('%s', (name) => {
    const text = readFileSync(path.join(folder, name), 'utf8').replace(/[ \t]*#[ \t]*(expect|may):.*$/gm, '');
    const { files, left } = conservative(parser, [{ file: 'program.py', text }]);
    expect(parser.parse('program.py', files[0]!.text).errors).toEqual([]);
    const { findings } = createSourceChecker(parser).check(files, { fixes: false });
    const found = findings.filter(({ code }) => missing.test(code));
    // What found no place is told.
    expect(found.filter(({ range }) => !left.some(({ line }) => line === range.start.line))).toEqual([]);
    expect(left.length, JSON.stringify(left)).toBeLessThanOrEqual(1);
  });
});
