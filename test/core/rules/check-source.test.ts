import { beforeAll, describe, expect, it } from 'vitest';
import { applyEdits } from '../../../core/base/text.ts';
import { createSourceChecker, type Lower, type SourceChecker } from '../../../core/checkSource.ts';
import { lower } from '../../../core/lower/lower.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import { loadParser } from '../../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

const bad = `import torch

side = torch.cuda.Stream()


def total(host):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    return x.sum().item()


def other(host):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    return x.mean().item()
`;

function found(checker: SourceChecker, text: string, fixes = false) {
  return checker.check([{ file: 'a.py', text }], { fixes });
}
const lines = (checker: SourceChecker, text: string) =>
  found(checker, text).findings.map((finding) => `${finding.range.start.line}:${finding.code}`);

describe('a check', () => {
  it('is the same for the same texts, and for a fresh checker', () => {
    const checker = createSourceChecker(parser);
    const first = JSON.stringify(found(checker, bad, true));
    expect(JSON.stringify(found(checker, bad, true))).toBe(first);
    expect(JSON.stringify(found(createSourceChecker(parser), bad, true))).toBe(first);
  });

  it('sorts by file and place, whatever the order of the files', () => {
    const checker = createSourceChecker(parser);
    const files = ['b.py', 'a.py', 'c/d.py'].map((file) => ({ file, text: bad }));
    const { findings } = checker.check(files, { fixes: false });
    expect(findings.map((f) => f.file)).toEqual(['a.py', 'a.py', 'b.py', 'b.py', 'c/d.py', 'c/d.py']);
    expect(checker.check([...files].reverse(), { fixes: false }).findings).toEqual(findings);
  });

  it('tells of an entry that could not be analysed completely, and of all that was found', () => {
    const faulty: Lower = (modules, options) =>
      lower(modules, options).map((entry) => (entry.name === 'other' ? { ...entry, fault: 'no such thing' } : entry));
    const { findings, problems } = found(createSourceChecker(parser, faulty), bad);
    expect(problems).toEqual([{ file: 'a.py', message: 'other could not be analysed completely: no such thing' }]);
    expect(findings).toEqual(found(createSourceChecker(parser), bad).findings);
  });

  it('tells the missing order where it cannot tell that a wait comes too early', () => {
    const text = `import torch

side = torch.cuda.Stream()


def total():
    side.wait_stream(torch.cuda.current_stream())
    k = torch.randn(64, device="cuda")
    with torch.cuda.stream(side):
        y = k.sum()
    torch.cuda.current_stream().wait_stream(side)
    return y
`;
    const cut: Lower = (modules, options) => lower(modules, options).map((entry) => ({ ...entry, truncated: true }));
    expect(lines(createSourceChecker(parser), text)).toEqual(['6:reversed-wait']);
    expect(lines(createSourceChecker(parser, cut), text)).toEqual(['9:missing-wait']);
  });

  it('gives a problem for what breaks, and the findings of the rest', () => {
    const breaking: Lower = (modules) => {
      if (modules.some(({ file }) => file === 'broken.py')) throw new Error('no such step');
      return lower(modules);
    };
    const checker = createSourceChecker(parser, breaking);
    const { findings, problems } = checker.check(
      [
        { file: 'a.py', text: bad },
        { file: 'broken.py', text: bad },
      ],
      { fixes: false },
    );
    expect(findings.map((f) => f.file)).toEqual(['a.py', 'a.py']);
    expect(problems).toEqual([{ file: 'broken.py', message: expect.stringContaining('no such step') }]);
  });

  it('leaves out what a comment silences', () => {
    const checker = createSourceChecker(parser);
    expect(lines(checker, bad)).toEqual(['8:missing-wait', '14:missing-wait']);
    expect(lines(checker, bad.replace('.item()', '.item()  # raceline: ignore[missing-wait]'))).toEqual([
      '14:missing-wait',
    ]);
    expect(lines(checker, `# raceline: ignore-file\n${bad}`)).toEqual([]);
  });
});

describe('fixes', () => {
  it('are there on request, and remove the finding', () => {
    const checker = createSourceChecker(parser);
    const { findings } = found(checker, bad);
    expect(findings[0]!.fixes).toEqual([]);
    const fixes = checker.fixesFor(findings[0]!);
    expect(fixes.map((fix) => [fix.title, fix.preferred ?? false])).toEqual([
      ['Make the current stream wait for `side` with an event (record + wait_event)', true],
      ['Make the current stream wait for `side` (wait_stream)', false],
    ]);
    for (const { edits } of fixes) {
      expect(edits.every(({ file }) => file === 'a.py')).toBe(true);
      expect(lines(createSourceChecker(parser), applyEdits(bad, edits))).toHaveLength(1);
    }
    expect(applyEdits(bad, fixes[0]!.edits)).toContain('    torch.cuda.current_stream().wait_event(side_done)\n');
  });

  it('of all findings of a check share a budget, and the rest gets them on request', () => {
    const costly: Lower = (modules, options) => {
      options?.observe?.('total', 'a.py', 1, 2_000_000);
      return lower(modules, options);
    };
    const checker = createSourceChecker(parser, costly);
    const { findings } = found(checker, bad, true);
    expect(findings.map(({ fixes }) => fixes.length > 0)).toEqual([true, false]);
    expect(checker.fixesFor(findings[1]!)).not.toEqual([]);
    expect(found(createSourceChecker(parser), bad, true).findings.every(({ fixes }) => fixes.length > 0)).toBe(true);
  });

  it('are none for a finding of another text', () => {
    const checker = createSourceChecker(parser);
    const [finding] = found(checker, bad).findings;
    found(checker, 'x = 1\n');
    expect(checker.fixesFor(finding!)).toEqual([]);
  });

  it('keep the line ends of the file', () => {
    const checker = createSourceChecker(parser);
    const text = bad.replaceAll('\n', '\r\n');
    const fix = checker.fixesFor(found(checker, text).findings[0]!)[0]!;
    expect(applyEdits(text, fix.edits).replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('bring the import that they need', () => {
    const text = bad.replace('import torch\n', 'from torch import cuda\n').replaceAll('torch.cuda', 'cuda');
    const checker = createSourceChecker(parser);
    const [finding] = found(checker, text).findings;
    expect(finding).toBeDefined();
    const fixed = applyEdits(text, checker.fixesFor(finding!)[0]!.edits);
    expect(fixed.startsWith('from torch import cuda\nimport torch\n')).toBe(true);
  });
});

describe('a function that does not parse', () => {
  it('keeps its findings, moved with the edit', () => {
    const checker = createSourceChecker(parser);
    lines(checker, bad);
    const typing = bad.replace('def total(host):\n', 'def total(host):\n    y = host.\n');
    expect(parser.parse('a.py', typing).errors).not.toEqual([]);
    expect(lines(checker, typing)).toEqual(['9:missing-wait', '15:missing-wait']);
    const more = typing.replace('y = host.\n', 'y = host.\n    z = (\n');
    expect(lines(checker, more)).toContain('10:missing-wait');
    expect(lines(checker, bad)).toEqual(['8:missing-wait', '14:missing-wait']);
  });

  it('loses a finding whose own text is edited', () => {
    const checker = createSourceChecker(parser);
    lines(checker, bad);
    expect(lines(checker, bad.replace('x.sum().item()', 'x.sum('))).not.toContain('8:missing-wait');
  });

  it('has none where it never parsed', () => {
    const typing = bad.replace('def total(host):\n', 'def total(host):\n    y = host.\n');
    expect(lines(createSourceChecker(parser), typing)).toEqual(['15:missing-wait']);
  });
});
