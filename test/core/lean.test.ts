import { beforeAll, describe, expect, it } from 'vitest';
import { applyEdits } from '../../core/base/text.ts';
import { createSourceChecker } from '../../core/checkSource.ts';
import { spareCalls } from '../../core/lean.ts';
import type { PythonParser } from '../../core/python/parse.ts';
import { loadParser } from '../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

/** Each as `line: call | proof`. */
function spare(text: string): string[] {
  const { calls, problems } = spareCalls(parser, [{ file: 'program.py', text }]);
  expect(problems).toEqual([]);
  // They can all go together: what is left has no finding that was not there before.
  const checker = createSourceChecker(parser);
  const races = (source: string) =>
    checker
      .check([{ file: 'program.py', text: source }], { fixes: false })
      .findings.filter(({ severity }) => severity !== 'hint').length;
  const without = applyEdits(
    text,
    calls.map(({ range }) => ({ range, newText: 'pass' })),
  );
  expect(races(without)).toBeLessThanOrEqual(races(text));
  return calls.map(({ range, call, proof }) => `${range.start.line + 1}: ${call} | ${proof}`);
}

const head = 'import torch\nside = torch.cuda.Stream()\n';

describe('calls that can go', () => {
  it('a wait that an earlier one covers', () => {
    const text = `${head}
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`;
    expect(spare(text)).toEqual([
      '8: side.wait_stream(here) | `side` is after the same work already: `side.wait_stream(here)` at line 7',
    ]);
  });

  it('a wait that a later one makes before anything relies on it', () => {
    const text = `${head}
def f(host):
    here = torch.cuda.current_stream()
    other = torch.cuda.Stream()
    x = host.cuda()
    other.wait_stream(here)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    other.wait_stream(side)
    with torch.cuda.stream(other):
        z = y + x
    here.wait_stream(other)
    return z.sum().item()
`;
    expect(spare(text)).toEqual([
      '8: other.wait_stream(here) | nothing relies on it before the same order is made by `other.wait_stream(side)` ' +
        'at line 12 and `side.wait_stream(here)` at line 9',
    ]);
  });

  it('a host wait where streams wait for the same', () => {
    const text = `${head}
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    side.synchronize()
    here.wait_stream(side)
    return y.sum().item()
`;
    expect(spare(text)).toEqual([
      '10: side.synchronize() | the host touches nothing that it waits for here, and streams are ordered by ' +
        '`here.wait_stream(side)` at line 11',
    ]);
  });

  it('record_stream before a join', () => {
    const text = `${head}
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    x.record_stream(side)
    here.wait_stream(side)
    return y.sum().item()
`;
    expect(spare(text)).toEqual([
      '10: x.record_stream(side) | `here` waits for `side` before `x` is dropped: `here.wait_stream(side)` at line 11',
    ]);
  });

  it('of two calls that stand in for each other one stays', () => {
    const text = `${head}
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    ready = here.record_event()
    side.wait_event(ready)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`;
    expect(spare(text)).toEqual([
      '9: side.wait_stream(here) | `side` is after the same work already: `side.wait_event(ready)` at line 8',
    ]);
  });
});

describe('on several paths', () => {
  it('what all of them can miss', () => {
    const text = `${head}
def f(host, early):
    here = torch.cuda.current_stream()
    x = host.cuda()
    if early:
        side.wait_stream(here)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`;
    expect(spare(text)).toEqual([
      '8: side.wait_stream(here) | nothing relies on it before the same order is made by `side.wait_stream(here)` at line 9',
    ]);
  });

  it('not what one of them needs', () => {
    const text = `${head}
def f(host, early):
    here = torch.cuda.current_stream()
    x = host.cuda()
    if early:
        side.wait_stream(here)
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        if early:
            y = y + x
    here.wait_stream(side)
    return y.sum().item()
`;
    expect(spare(text)).toEqual([]);
  });
});

describe('calls that stay', () => {
  const keeps = (name: string, text: string) => it(name, () => expect(spare(head + text)).toEqual([]));

  keeps(
    'a fork and a join',
    `
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    y.record_stream(here)
    return y
`,
  );
  keeps(
    'a fork for a tensor of which nobody knows where it lies',
    `
def f(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return y
`,
  );
  keeps(
    'a join for a buffer that its caller has',
    `
def fill(out):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.fill_(1.0)
    torch.cuda.current_stream().wait_stream(side)
`,
  );
  keeps(
    'a second wait behind code that nobody sees',
    `
def f(host, hook):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    hook(x)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`,
  );
  keeps(
    'a synchronization next to a clock',
    `
import time
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    start = time.perf_counter()
    with torch.cuda.stream(side):
        y = x * 2
    side.synchronize()
    print(time.perf_counter() - start)
    here.wait_stream(side)
    return y.sum().item()
`,
  );
  keeps(
    'a wait that only an incidental synchronization would make up for',
    `
def f(host):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        x = host.cuda()
        x.sum().item()
    here.wait_stream(side)
    return (x + 1).sum().item()
`,
  );
  keeps(
    'a record_stream on what goes to the caller',
    `
def f(host):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    here.wait_stream(side)
    x.record_stream(here)
    return x
`,
  );
});
