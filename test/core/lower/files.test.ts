/** Which files of a run are looked into at all: by their words, by who imports whom, by what an entry leaves to its callers. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createSourceChecker } from '../../../core/checkSource.ts';
import { functionsOf } from '../../../core/lower/entries.ts';
import { examine } from '../../../core/hazards/find.ts';
import { ImportGraph } from '../../../core/lower/importGraph.ts';
import { lower } from '../../../core/lower/lower.ts';
import type { LoweredEntry, Open } from '../../../core/lower/lowered.ts';
import { actsOnStreams, mentionsStreams } from '../../../core/lower/words.ts';
import type { Module } from '../../../core/python/ast.ts';
import type { PythonParser } from '../../../core/python/parse.ts';
import { loadParser } from '../../harness/parser.ts';

let parser: PythonParser;
beforeAll(async () => {
  parser = await loadParser();
});

describe('a word of streams', () => {
  it.each([
    's = torch.cuda.Stream()',
    'with get_accelerator().stream(s): pass',
    'x.record_stream(s)',
    'y = x.to(device, non_blocking=True)',
    'work = dist.all_reduce(x, async_op=True)',
    'done = torch.cuda.Event()',
    'from torch.cuda import Event\nready = Event()',
    'target.copy_(source, True)',
    'g = torch.cuda.CUDAGraph()',
  ])('is in %j', (text) => {
    expect(mentionsStreams(text)).toBe(true);
  });

  it.each([
    '# torch.cuda.Stream()',
    'text = "torch.cuda.Stream()"',
    '"""\nwait_stream(s)\n"""',
    'with httpx.stream("GET", url): pass',
    'x.to(device, non_blocking=False)',
    'stop = threading.Event()',
    'upstream = downstream',
    'if torch.cuda.is_current_stream_capturing(): pass',
    'launch(x, torch.cuda.current_stream().cuda_stream)',
    'dataset_streaming = True; reset_streaming_state(); max_concurrent_streams = 4; set_stream_timeout(3)',
  ])('is not in %j', (text) => {
    expect(mentionsStreams(text)).toBe(false);
  });
});

const acts = (text: string): boolean => {
  const module = parser.parse('copies.py', text);
  const move = functionsOf(module).find(({ node }) => node.name === 'move')!;
  return actsOnStreams(move.node, module);
};

describe('a function that measures', () => {
  const timed = (rest: string) => `def move(x, side):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record(torch.cuda.current_stream())
    y = x @ x
    end.record()
    ${rest}
`;

  it('the time between two events, and waits for the second, acts on no stream', () => {
    expect(acts(timed('end.synchronize(); return start.elapsed_time(end)'))).toBe(false);
  });

  it.each([
    ['and never asks for the time', 'return y'],
    ['and lets a stream wait', 'side.wait_event(end); return start.elapsed_time(end)'],
    ['and selects a stream', 'with torch.cuda.stream(side): y.add_(1)\n    return start.elapsed_time(end)'],
  ])('%s acts on streams', (_, rest) => {
    expect(acts(timed(rest))).toBe(true);
  });
});

describe('a function that asks for the current stream', () => {
  it('acts on it if the host waits for it, and not by the asking', () => {
    expect(acts('def move(x):\n    torch.cuda.current_stream().synchronize()\n    return x')).toBe(true);
    expect(acts('def move(x):\n    return launch(x, stream=torch.cuda.current_stream())')).toBe(false);
    expect(acts('def move(x):\n    here = current_stream()\n    with use_stream(SIDE):\n        f(x, here)')).toBe(
      true,
    );
  });
});

describe('a function that copies', () => {
  const mover = (device: string, copy: string) => `class Mover:
    def __init__(self, device=${device}):
        self.device = device

    def move(self, x, wait):
        return x.${copy}
`;

  it.each([
    ["to the object's device, which may be the host", mover('"cpu"', 'to(self.device, non_blocking=True)')],
    ['to a device that is named by its keyword', mover('"cpu"', 'to(device=self.device, non_blocking=True)')],
    ['without blocking where a variable says so', mover('None', 'to("cuda", non_blocking=not wait)')],
  ])('%s acts on streams', (_, text) => {
    expect(acts(text)).toBe(true);
  });

  it.each([
    ["to the object's device, which nothing says to be the host", mover('None', 'to(self.device, non_blocking=True)')],
    ['to a device that the function is given', mover('"cpu"', 'to(wait, non_blocking=True)')],
    ["to the object's device, while the host waits", mover('"cpu"', 'to(self.device, non_blocking=False)')],
  ])('%s does not', (_, text) => {
    expect(acts(text)).toBe(false);
  });
});

describe('imports', () => {
  const others = [
    '/w/pkg/__init__.py',
    '/w/pkg/other.py',
    '/w/pkg/deep/__init__.py',
    '/w/pkg/deep/mod.py',
    '/w/src/lib.py',
  ];
  const graphOf = (files: Record<string, string>) => {
    const modules = Object.entries(files).map(
      ([file, text]): Module => ({ kind: 'Module', file, text, body: [], errors: [], start: 0, end: text.length }),
    );
    const graph = new ImportGraph(modules);
    const module = (file: string) => modules.find((one) => one.file === file)!;
    const names = (some: readonly Module[]) => some.map(({ file }) => file).sort();
    return { of: (f: string) => names(graph.of(module(f))), to: (f: string) => names(graph.importersOf(module(f))) };
  };

  it.each([
    ['import pkg.deep.mod', ['/w/pkg/deep/mod.py']],
    ['import os, pkg.other as o', ['/w/pkg/other.py']],
    ['from pkg import other', ['/w/pkg/__init__.py', '/w/pkg/other.py']],
    ['from pkg import (\n  thing,  # why\n  other,\n)', ['/w/pkg/__init__.py', '/w/pkg/other.py']],
    ['from pkg.deep.mod import f as g, h', ['/w/pkg/deep/mod.py']],
    ['    from pkg.other import x', ['/w/pkg/other.py']],
    ['from lib import x', ['/w/src/lib.py']],
    ['x = "import pkg"', []],
    ['from torch import nn', []],
  ])('are read from %j', (text, found) => {
    const files = { '/w/main.py': text, ...Object.fromEntries(others.map((file) => [file, ''])) };
    expect(graphOf(files).of('/w/main.py')).toEqual(found);
  });

  it('are followed by their dots, from a package too, and both ways', () => {
    const graph = graphOf({
      '/w/p/__init__.py': 'from .a import x',
      '/w/p/a.py': 'from . import b\nfrom .q.c import y',
      '/w/p/b.py': 'import p.a',
      '/w/p/q/__init__.py': 'from .. import b',
      '/w/p/q/c.py': '',
    });
    expect(graph.of('/w/p/a.py')).toEqual(['/w/p/__init__.py', '/w/p/b.py', '/w/p/q/c.py']);
    expect(graph.of('/w/p/q/__init__.py')).toEqual(['/w/p/__init__.py', '/w/p/b.py']);
    expect(graph.to('/w/p/b.py')).toEqual(['/w/p/a.py', '/w/p/q/__init__.py']);
  });
});

describe('a check of several files', () => {
  const copies = `import torch

def upload(host, stream):
    with torch.cuda.stream(stream):
        return host.cuda(non_blocking=True)
`;
  const caller = `from pkg import upload
from somewhere import make

def run(host):
    return upload(host, make()).sum()
`;
  const files = {
    '/w/main.py': caller,
    '/w/pkg/__init__.py': 'from .copies import upload\n',
    '/w/pkg/copies.py': copies,
    '/w/other.py': 'def upload_nothing(x):\n    return x\n',
    '/w/guide.py': 'import pkg\n\ndef guide():\n    return "call upload(host, stream)"\n',
    '/w/tests/test_main.py': 'from pkg import upload\n\ndef test_it():\n    upload(1, 2)\n',
  };
  const list = (texts: Record<string, string>) => Object.entries(texts).map(([file, text]) => ({ file, text }));

  it('parses what has to do with streams, and who calls that through a package; tests call nothing', () => {
    const looked: string[] = [];
    const watched: PythonParser = {
      parse: (file, text) => parser.parse(file, text),
      outline: (file, text) => {
        looked.push(file);
        return parser.outline(file, text);
      },
    };
    createSourceChecker(watched).check(list(files), { fixes: false });
    expect(looked.sort()).toEqual(['/w/main.py', '/w/pkg/__init__.py', '/w/pkg/copies.py']);
  });

  it('runs callers without a word of streams only where an entry leaves something to them', () => {
    const modules = list(files).map(({ file, text }) => parser.parse(file, text));
    const names = (leavesOpen: Open) =>
      lower(modules, { leavesOpen: () => leavesOpen }).map(({ name, file }) => `${file} ${name}`);
    expect(names('to callers')).toEqual(['/w/main.py run']);
    expect(names('no')).toEqual(['/w/pkg/copies.py upload']);
  });

  it('runs of what is in order by itself only the callers that are programs', () => {
    const texts = {
      '/w/joined.py': `import torch

def halve(x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.cuda() / 2
    torch.cuda.current_stream().wait_stream(side)
    return y
`,
      '/w/library.py': 'from joined import halve\n\ndef quarter(x):\n    return halve(halve(x))\n',
      '/w/table.py': 'from joined import halve\n\ntable = halve(1)\n',
      '/w/short.py': 'from joined import halve; half = halve(1)\n',
      '/w/folded.py': 'from joined import halve\n\ndef eighth(\n    x,\n):\n    return halve(x)\n',
      '/w/program.py': `from joined import halve

def main():
    print(halve(1))

def unused(x):
    return halve(x)

if __name__ == "__main__":
    main()
`,
    };
    const modules = list(texts).map(({ file, text }) => parser.parse(file, text));
    const names = (open: Open) => lower(modules, { leavesOpen: () => open }).map(({ name, file }) => `${file} ${name}`);
    expect(names('to programs')).toEqual(['/w/program.py <module>']);
    expect(names('no')).toEqual(['/w/joined.py halve']);
    expect(names('to callers')).toEqual(
      expect.arrayContaining([
        '/w/library.py quarter',
        '/w/table.py <module>',
        '/w/short.py <module>',
        '/w/program.py unused',
        '/w/folded.py eighth',
      ]),
    );
    expect(names('to callers')).not.toContain('/w/folded.py <module>');
  });

  it('goes on with methods that take up what another left on its way, not with those that only read its settings', () => {
    const text = `import torch

class Loader:
    def __init__(self):
        self.copies = torch.cuda.Stream()
        self.batch = None
        self.count = 0

    def load(self, host):
        with torch.cuda.stream(self.copies):
            self.batch = host.cuda(non_blocking=True)
        self.count = self.count + 1

    def take(self):
        return self.batch.sum()

    def report(self):
        return self.count
`;
    const modules = list({ '/w/loader.py': text }).map(({ file, text }) => parser.parse(file, text));
    const ran: string[] = [];
    lower(modules, { ran: ({ name }) => ran.push(name) });
    expect(ran).toContain('Loader.take');
    expect(ran).not.toContain('Loader.report');
  });

  it('goes on with what hooks add to when they are called, not with what a constructor sets or adds itself', () => {
    const text = `import torch
import torch.distributed as dist

class Stage:
    def __init__(self, weights):
        self.side = torch.cuda.Stream()
        self.parts = []
        with torch.cuda.stream(self.side):
            for weight in weights:
                self.parts.append(weight.cuda(non_blocking=True))

    def count(self):
        return len(self.parts)

class Reducer:
    def __init__(self, module):
        self.side = torch.cuda.Stream()
        with torch.cuda.stream(self.side):
            self.table = torch.ones(8, device="cuda")
        self.handles = []

        def reduce(parameter):
            self.handles.append(dist.all_reduce(parameter.grad, async_op=True))

        for parameter in module.parameters():
            parameter.register_post_accumulate_grad_hook(reduce)

    def finish(self):
        self.handles.clear()

    def size(self):
        return self.table.numel()
`;
    const ran: string[] = [];
    lower([parser.parse('/w/reducer.py', text)], { ran: ({ name }) => ran.push(name) });
    expect(ran.sort()).toEqual(['Reducer.__init__', 'Reducer.finish', 'Stage.__init__']);
  });

  it('runs the callers of a function that works on a stream which they choose, also where it joins that', () => {
    const joined = (parameters: string, stream: string) => `import torch

def halve(${parameters}):
    side = ${stream}
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = torch.ones(8, device="cuda") / 2
    torch.cuda.current_stream().wait_stream(side)
    return y.sum()

def half(lane):
    return halve(lane)
`;
    const ranOf = (text: string): string[] => {
      const ran: string[] = [];
      const leavesOpen = ({ paths }: LoweredEntry): Open =>
        paths.some(({ program }) => examine(program).open) ? 'to callers' : 'no';
      lower([parser.parse('/w/halves.py', text)], { leavesOpen, ran: ({ name }) => ran.push(name) });
      return ran;
    };
    expect(ranOf(joined('stream', 'stream'))).toEqual(['halve', 'half']);
    expect(ranOf(joined('x', 'torch.cuda.Stream()'))).toEqual(['halve']);
  });

  it('runs sixteen of the callers of one function, those in its own module first', () => {
    const own = `${copies}
def nearest(host):
    return upload(host, make_stream())
`;
    const others = Array.from({ length: 40 }, (_, i) => [
      `/w/model${i}.py`,
      `from copies import upload\n\ndef run${i}(host, stream):\n    return upload(host, stream).sum()\n`,
    ]);
    const modules = list({ '/w/copies.py': own, ...Object.fromEntries(others) }).map(({ file, text }) =>
      parser.parse(file, text),
    );
    const ran: string[] = [];
    lower(modules, { ran: ({ name }) => ran.push(name) });
    expect(ran.slice(0, 2)).toEqual(['upload', 'nearest']);
    expect(ran).toHaveLength(1 + 16);
  });

  it('sees that a file has to do with streams since an edit elsewhere in it', () => {
    const quiet = `import torch
from torch import cuda as c
from copies import upload

def total(side):
    with c.stream(side):
        x = torch.ones(8, device="cuda")
    return x.sum().item()

def sent(host, to):
    return upload(host, to)
`;
    const checker = createSourceChecker(parser);
    const found = (text: string) => {
      const { findings } = checker.check(list({ 'a.py': text, 'copies.py': copies }), { fixes: false });
      return findings.flatMap(({ file, code }) => (file === 'a.py' ? [code] : []));
    };
    expect(found(quiet)).toEqual([]);
    expect(found(`${quiet}\nother = torch.cuda.Stream()\n`)).toEqual(['missing-wait']);
    expect(found(quiet)).toEqual([]);
  });

  it('takes what a proxy gives whose own module nobody knows for functions of the device', () => {
    const flags = `import importlib.util
import os

def lookup(name):
    found, version = importlib.util.find_spec(name) is not None, "N/A"
    if found:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = False
    return found, version

if os.environ.get("USE_TORCH", "AUTO").upper() in ("1", "AUTO"):
    _found, _version = lookup("torch")
else:
    _found = False

def has_torch():
    return _found
`;
    const proxy = `from flags import has_torch

if has_torch():
    import torch

class Backend:
    def __init__(self, device):
        self.module = torch.get_device_module(device)

    def __getattr__(self, name):
        return getattr(self.module, name)
`;
    const user = `import torch
from contextlib import nullcontext
from backend import Backend

class Loader:
    def __init__(self, device, stream: torch.cuda.Stream | None = None):
        self.device, self.stream, self.backend = device, stream, Backend(device)

    def load(self, host, slots):
        context = nullcontext() if self.stream is None else self.backend.stream(self.stream)
        current = self.backend.current_stream()
        with context:
            if self.stream is not None:
                for slot in slots:
                    slot.data = host.to(self.device, non_blocking=True)
                    slot.data.record_stream(current)
`;
    const codes = (text: string) =>
      createSourceChecker(parser)
        .check(list({ 'user.py': text, 'backend.py': proxy, 'flags.py': flags }), { fixes: false })
        .findings.map(({ code }) => code);
    expect(codes(user)).toEqual([]);
    expect(codes(user.replace('with context:', 'if slots:'))).toEqual(['redundant-record-stream']);
  });
});

/** What one method costs, and how many paths it gets. */
function costOf(name: string, files: Readonly<Record<string, string>>): { paths: number; steps: number } {
  const modules = Object.entries(files).map(([file, text]) => parser.parse(`/project/${file}`, text));
  let cost = { paths: 0, steps: 0 };
  lower(modules, {
    stepsPerEntry: 4_000,
    observe: (entry, _file, paths, steps) => {
      if (entry === name) cost = { paths, steps };
    },
  });
  return cost;
}

describe('what lies before the call of a method', () => {
  it('is no path’s to pay for', () => {
    const tests = Array.from({ length: 6 }, (_, i) => `        if flags[${i}]:\n            x = x + ${i}\n`).join('');
    const { paths } = costOf('Net.run', {
      'net.py': `import torch
class Part:
    def __init__(self, i):
        self.names = [f"{i}.{k}" for k in range(200)]
class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.parts = [Part(i) for i in range(4)]
    def run(self, x, flags):
        self.side.wait_stream(torch.cuda.current_stream())
${tests}        with torch.cuda.stream(self.side):
            return x * 2
`,
    });
    expect(paths).toBe(16);
  });

  it('is of a class with many settings those that are asked for', () => {
    const settings = Array.from({ length: 400 }, (_, i) => `    OPTION_${i} = Setting(${i})\n`).join('');
    const { steps } = costOf('run', {
      'settings.py': `class Setting:\n    def __init__(self, value):\n        self.value = value\nclass Settings:\n${settings}`,
      'program.py': `import torch
from settings import Settings
def run(x, side):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        return x * Settings.OPTION_7.value
`,
    });
    expect(steps).toBeGreaterThan(0);
    expect(steps).toBeLessThan(100);
  });
});
