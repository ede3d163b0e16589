import { beforeAll, describe, expect, it } from 'vitest';
import { findHazards } from '../../../core/hazards/find.ts';
import { lower } from '../../../core/lower/lower.ts';
import type { LoweredEntry } from '../../../core/lower/lowered.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import { LoweringMemory } from '../../../core/reuse.ts';
import { report } from '../../../core/rules/report.ts';
import { loadParser } from '../../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

function pipeline(i: number): string {
  return `class Pipeline${i}:
    def __init__(self):
        self.copy = torch.cuda.Stream()
        self.ready = torch.cuda.Event()

    def stage(self, host):
        with torch.cuda.stream(self.copy):
            batch = host.to("cuda", non_blocking=True)
        ${i % 2 ? 'torch.cuda.current_stream().wait_stream(self.copy)' : 'pass'}
        return helper${i}(batch)


def helper${i}(x):
    y = x * 2
    return y


def run${i}(hosts):
    pipeline = Pipeline${i}()
    total = torch.zeros(1, device="cuda")
    for host in hosts:
        total += pipeline.stage(host).sum()
    return total


`;
}

const program = `import torch\n\n\n${[0, 1, 2, 3].map(pipeline).join('')}`;

/** What an editor could see of the result. */
function shown(entries: readonly LoweredEntry[]) {
  const reports = report(
    entries.map((entry) => ({ entry, hazards: entry.paths.map((path) => findHazards(path.program)) })),
  );
  return reports.map(({ file, start, end, code, certainty, message, related }) => ({
    file,
    start,
    end,
    code,
    certainty,
    message,
    related,
  }));
}

function counting() {
  const ran: string[] = [];
  const memory = new LoweringMemory((modules, options) =>
    lower(modules, {
      ...options,
      reuse: (name, file, reach) => {
        const known = options.reuse?.(name, file, reach);
        if (!known) ran.push(name);
        return known;
      },
    }),
  );
  const run = (text: string, file = 'a.py') => {
    ran.length = 0;
    const entries = memory.lower([parser.parse(file, text)]);
    return { entries, ran: [...ran] };
  };
  return { memory, run };
}

describe('after an edit', () => {
  it('runs again only what ran through the edited function', () => {
    const { run } = counting();
    const all = run(program).ran;
    expect(all.length).toBeGreaterThan(4);
    expect(run(program.replace('x * 2', 'x * 3')).ran).toEqual(['Pipeline0.stage', 'run0']);
  });

  it('moves the rest along, key after key', () => {
    const { run } = counting();
    run(program);
    let text = program;
    for (let key = 0; key < 20; key++) {
      text = key % 3 < 2 ? text.replace('y = x * 2', 'y = x * 2 ') : text.replace('x * 2  ', 'x * 2 ');
      const { ran, entries } = run(text);
      expect(ran).toEqual(['Pipeline0.stage', 'run0']);
      const rangeOf = ({ start, end }: { readonly start: number; readonly end: number }) => [start, end];
      const places = (some: readonly LoweredEntry[]) =>
        some.map(({ paths }) =>
          paths.map(({ program, decisions, handOvers }) => ({
            origins: program.origins,
            decisions: decisions.map(({ test }) => rangeOf(test)),
            handOvers: handOvers?.map(({ node }) => rangeOf(node)),
          })),
        );
      // Asked for now and then: the others wait for many keys.
      if (key % 7 === 6) expect(places(entries)).toEqual(places(lower([parser.parse('a.py', text)])));
    }
  });

  it('runs nothing again for the same text', () => {
    const { run } = counting();
    run(program);
    expect(run(program).ran).toEqual([]);
  });

  it('starts afresh when module code changes', () => {
    const { run } = counting();
    const all = run(program).ran;
    expect(run(`${program}side = torch.cuda.Stream()\n`).ran.length).toBeGreaterThanOrEqual(all.length);
  });

  it('shows what a fresh run shows, edit after edit', () => {
    const { memory } = counting();
    let text = program;
    const places = [
      ['x * 2', 'x * 3'],
      ['y = x * 3\n    return y', 'y = x * 3\n    z = y.\n    return y'],
      ['z = y.\n', 'z = y.relu()\n'],
      ['pass\n        return helper0', 'torch.cuda.current_stream().wait_stream(self.copy)\n        return helper0'],
      ['self.ready = torch.cuda.Event()\n\n', 'self.ready = torch.cuda.Event()\n        self.count = 0\n\n'],
      ['pipeline = Pipeline1()', 'pipeline = Pipeline0()'],
      ['return helper2(batch)', 'return (helper2(batch'],
      ['return (helper2(batch', 'return helper2(batch)'],
      ['def helper3(x):', 'def helper3(x, side=None):'],
      ['    total = torch.zeros(1, device="cuda")\n', ''],
      ['        pass\n        return helper2', '        return helper2'],
      ['return total\n\n\nclass Pipeline2', 'return total + 1\n\n\n# words\nclass Pipeline2'],
    ] as const;
    for (const [from, to] of places) {
      expect(text).toContain(from);
      text = text.replace(from, to);
      const modules = [parser.parse('a.py', text)];
      expect(shown(memory.lower(modules)), `${from} → ${to}`).toEqual(shown(lower(modules)));
    }
  });

  it('shows what a fresh run shows while characters come and go anywhere', () => {
    const { memory } = counting();
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % n;
    };
    let text = program;
    for (let i = 0; i < 60; i++) {
      const at = random(text.length);
      const before = text;
      if (random(3) === 0) text = text.slice(0, at) + text.slice(at + 1 + random(4));
      else text = text.slice(0, at) + ['x', ' ', '\n', '(', '#', ':', 'copy', '"'][random(8)]! + text.slice(at);
      const modules = [parser.parse('a.py', text)];
      expect(shown(memory.lower(modules)), JSON.stringify(text.slice(at - 30, at + 30))).toEqual(shown(lower(modules)));
      // Back to something that parses, most of the time.
      if (random(4) > 0) {
        text = before;
        memory.lower([parser.parse('a.py', text)]);
      } else if (random(3) === 0) text = program;
    }
  });

  it('follows edits of another file', () => {
    const { memory } = counting();
    const main =
      'import torch\nfrom helper import double\n\nside = torch.cuda.Stream()\n\ndef run(host):\n' +
      '    with torch.cuda.stream(side):\n        x = host.cuda(non_blocking=True)\n    return double(x)\n';
    for (const body of ['return x * 2', 'return x', 'y = x.sum()\n    return y.item()', 'return']) {
      const modules = [parser.parse('main.py', main), parser.parse('helper.py', `def double(x):\n    ${body}\n`)];
      expect(shown(memory.lower(modules)), body).toEqual(shown(lower(modules)));
    }
  });
});
