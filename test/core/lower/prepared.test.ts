import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type LowerOptions, lower } from '../../../core/lower/lower.ts';
import type { LoweredEntry } from '../../../core/lower/lowered.ts';
import type { Module, Node } from '../../../core/python/ast.ts';
import { readFixtures } from '../../harness/fixtures.ts';
import { loadParser } from '../../harness/parser.ts';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../core/rules');

describe('a path that goes on from what another one has prepared is what it is from the start', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.fixtures.py'));
  it.each(files)('%s', async (name) => {
    const parser = await loadParser();
    for (const fixture of readFixtures(readFileSync(path.join(folder, name), 'utf8'))) {
      const modules = fixture.files.map(({ file, text }) => parser.parse(file, text));
      // A few paths are as good as all: most fixtures have two.
      const limits = { stepsPerPath: 1_000, stepsPerEntry: 3_000, pathsPerEntry: 4 };
      expect(difference(told(modules, 'always', limits), told(modules, 'never', limits)), fixture.name).toBeUndefined();
    }
  });

  it('also where methods of a class are entered in turn, a later path decides what the constructor has asked, and the steps run out', async () => {
    const parser = await loadParser();
    const modules = [parser.parse('/project/pipeline.py', pipeline)];
    for (const stepsPerPath of [30, 60, 120, 8_000])
      expect(
        difference(told(modules, 'always', { stepsPerPath }), told(modules, 'never', { stepsPerPath })),
        `${stepsPerPath} steps`,
      ).toBeUndefined();
  });

  it('also where the object takes more steps than it may, and parts of it do', async () => {
    const parser = await loadParser();
    const modules = [parser.parse('/project/stages.py', stages)];
    for (const [stepsPerPath, stepsPerEntry] of [
      [8_000, 16_000],
      [8_000, 4_000],
      [3_500, 4_000],
      [900, 2_000],
    ])
      expect(
        difference(
          told(modules, 'always', { stepsPerPath, stepsPerEntry }),
          told(modules, 'never', { stepsPerPath, stepsPerEntry }),
        ),
        `${stepsPerPath} steps`,
      ).toBeUndefined();
  });

  it('also where the object holds a chain of thousands of tensors', async () => {
    const parser = await loadParser();
    const modules = [parser.parse('/project/chain.py', chain)];
    expect(difference(told(modules, 'always', {}), told(modules, 'never', {}))).toBeUndefined();
  });
});

const chain = `import torch

class Chain:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.x = torch.zeros(8, device="cuda")
        for _ in range(40):
            for _ in range(60):
                self.x = self.x * 2

    def first(self):
        self.side.wait_stream(torch.cuda.current_stream())

    def second(self):
        torch.cuda.current_stream().wait_stream(self.side)
`;

const pipeline = `import contextlib
from dataclasses import dataclass
import torch

@dataclass
class Batch:
    host: torch.Tensor
    copy: torch.cuda.Stream = torch.cuda.Stream()

    def upload(self):
        with torch.cuda.stream(self.copy):
            return self.host.to("cuda", non_blocking=True)

    def join(self):
        torch.cuda.current_stream().wait_stream(self.copy)

class Pipeline:
    def __init__(self, model, device, overlap=True, hosts=None):
        self.model = model.to(device)
        self.device = device
        self.copy = torch.cuda.Stream() if overlap else None
        self.ready = torch.cuda.Event()
        self.hosts = hosts or []
        self.guard = contextlib.nullcontext()
        self.batches = {}
        for name in ("a", "b"):
            self.batches[name] = torch.empty(4, device=device)
        if model.training:
            self.hosts.append(torch.empty(4).pin_memory())
        model.register_forward_hook(self.note)

    def note(self, module, inputs, output):
        self.ready.record()

    def put(self, host):
        with torch.cuda.stream(self.copy):
            self.batches["a"].copy_(host, non_blocking=True)
            self.ready.record()
        self.hosts.append(host)

    def take(self):
        if self.copy is not None:
            self.ready.wait()
        return self.batches["a"] * 2

    def drain(self):
        with self.guard:
            out = self.model(self.batches["b"])
        return out.to("cpu", non_blocking=True)

    def items(self):
        for host in self.hosts:
            self.put(host)
            yield self.take()

    @property
    def stream(self):
        return self.copy

    def waiting(self):
        torch.cuda.current_stream().wait_stream(self.stream)
`;

/** A constructor that is cut, parts of which are, and a method of many paths. */
const stages = `import torch

class Part:
    def __init__(self, number):
        self.names = [f"{number}.{i}" for i in range(30)]
        self.sizes = [len(name) for name in self.names]

class Stage:
    def __init__(self, number):
        self.parts = [Part(i + number) for i in range(30)]

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.stages = [Stage(i) for i in range(30)]
        self.scale = 2

    def run(self, x, a, b, c, d, e):
        x = x.cuda() + 1
        if a:
            x = x + 1
        if b:
            x = x + 2
        if c:
            x = x + 3
        if d:
            x = x + 4
        if e:
            with torch.cuda.stream(self.side):
                x = x * self.scale
        return x

    def other(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        return self.run(x, True, False, True, False, True)
`;

/** All that lowering tells, with places for syntax. */
function told(modules: readonly Module[], keep: 'always' | 'never', limits: LowerOptions): readonly string[] {
  const spent: string[] = [];
  const entries: LoweredEntry[] = [];
  lower(modules, {
    ...limits,
    keep,
    ran: (entry) => entries.push(entry),
    observe: (name, file, paths, steps) => spent.push(`${file} ${name}: ${paths} paths, ${steps} steps`),
  });
  return [...spent, ...entries.map((entry) => JSON.stringify(entry, placed))];
}

/** Both texts around the first place where they differ. */
function difference(a: readonly string[], b: readonly string[]): readonly string[] | undefined {
  const i = a.findIndex((line, at) => line !== b[at]);
  if (i < 0) return a.length === b.length ? undefined : [`${a.length} lines`, `${b.length} lines`];
  const [one, other] = [a[i]!, b[i] ?? ''];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return [one.slice(Math.max(0, at - 200), at + 200), other.slice(Math.max(0, at - 200), at + 200)];
}

function placed(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { kind, file, start, end } = value as Partial<Node> & { readonly kind?: string; readonly file?: string };
  if (kind === 'Module') return file;
  return kind !== undefined && start !== undefined ? `${kind} ${start}-${end}` : value;
}
