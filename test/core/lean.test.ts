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

const head = `import torch
side = torch.cuda.Stream()
`;

/**
 * A line `# ^ why` stands below each call that can go, and is taken out of the text. They can all go together: what is left
 * has no finding that was not there before.
 */
function check(name: string, marked: string): void {
  it(name, () => {
    const lines: string[] = [];
    const expected: string[] = [];
    for (const line of (head + marked).split('\n')) {
      const proof = /^\s*# \^ (.*)$/.exec(line)?.[1];
      if (proof === undefined) lines.push(line);
      else expected.push(`${lines.length}: ${lines.at(-1)!.trim()} | ${proof}`);
    }
    const text = lines.join('\n');
    const { calls, problems } = spareCalls(parser, [{ file: 'program.py', text }]);
    expect(problems).toEqual([]);
    expect(calls.map(({ range, call, proof }) => `${range.start.line + 1}: ${call} | ${proof}`)).toEqual(expected);
    const checker = createSourceChecker(parser);
    const races = (source: string) =>
      checker
        .check([{ file: 'program.py', text: source }], { fixes: false })
        .findings.filter(({ severity }) => severity !== 'hint').length;
    const edits = calls.map(({ range }) => ({ range, newText: 'pass' }));
    expect(races(applyEdits(text, edits))).toBeLessThanOrEqual(races(text));
  });
}

describe('calls that can go', () => {
  check(
    'a wait that an earlier one covers',
    `
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    side.wait_stream(here)
    # ^ \`side\` is after the same work already: \`side.wait_stream(here)\` at line 7
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`,
  );

  check(
    'a wait that a later one makes before anything relies on it',
    `
def f(host):
    here = torch.cuda.current_stream()
    other = torch.cuda.Stream()
    x = host.cuda()
    other.wait_stream(here)
    # ^ nothing relies on it before the same order is made by \`other.wait_stream(side)\` at line 12 and \`side.wait_stream(here)\` at line 9
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    other.wait_stream(side)
    with torch.cuda.stream(other):
        z = y + x
    here.wait_stream(other)
    return z.sum().item()
`,
  );

  check(
    'a host wait where streams wait for the same',
    `
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    side.synchronize()
    # ^ the host touches nothing that it waits for here, and streams are ordered by \`here.wait_stream(side)\` at line 11
    here.wait_stream(side)
    return y.sum().item()
`,
  );

  check(
    'record_stream before a join',
    `
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    x.record_stream(side)
    # ^ \`here\` waits for \`side\` before \`x\` is dropped: \`here.wait_stream(side)\` at line 11
    here.wait_stream(side)
    return y.sum().item()
`,
  );

  check(
    'of two calls that stand in for each other one stays',
    `
def f(host):
    here = torch.cuda.current_stream()
    x = host.cuda()
    ready = here.record_event()
    side.wait_event(ready)
    side.wait_stream(here)
    # ^ \`side\` is after the same work already: \`side.wait_event(ready)\` at line 8
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`,
  );
});

describe('on several paths', () => {
  check(
    'what all of them can miss',
    `
def f(host, early):
    here = torch.cuda.current_stream()
    x = host.cuda()
    if early:
        side.wait_stream(here)
        # ^ nothing relies on it before the same order is made by \`side.wait_stream(here)\` at line 9
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()
`,
  );

  check(
    'not what one of them needs',
    `
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
`,
  );
});

describe('calls that stay', () => {
  check(
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
  check(
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
  check(
    'a fork for work on a tensor of which nobody knows where it lies',
    `
def f(x):
    here = torch.cuda.current_stream()
    y = x + 1
    side.wait_stream(here)
    with torch.cuda.stream(side):
        z = y * 2
    here.wait_stream(side)
    return z
`,
  );
  check(
    'a join for a buffer that its caller has',
    `
def fill(out):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.fill_(1.0)
    torch.cuda.current_stream().wait_stream(side)
`,
  );
  check(
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
  check(
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
    side.synchronize()
    print(time.perf_counter() - start)
    return y.sum().item()
`,
  );
  check(
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
  check(
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
