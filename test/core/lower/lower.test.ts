import { describe, expect, test } from 'vitest';
import { lowered, steps } from './dump.ts';

describe('streams and events', () => {
  test('work goes to the stream that is current, and back to the former one after `with`', async () => {
    expect(
      await steps(`
        import torch
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            x = torch.zeros(4, device="cuda")
        y = x + 1
      `),
    ).toEqual([
      '4: allocate x on side',
      '4: zeros on side: w x',
      '5: allocate y on default',
      '5: add on default: w y, r x',
    ]);
  });

  test('wait_stream is a record and a wait; record and wait take the current stream by default', async () => {
    expect(
      await steps(`
        import torch
        side = torch.cuda.Stream()
        done = torch.cuda.Event()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            done.record()
        done.wait()
        side.synchronize()
      `),
    ).toEqual([
      '4: record wait_stream on default',
      '4: side waits for wait_stream',
      '6: record done on side',
      '7: default waits for done',
      '8: host waits for side',
    ]);
  });

  test('the streams of two devices are two streams, each current on its own', async () => {
    expect(
      await steps(`
        import torch
        far = torch.device("cuda", 1)
        x = torch.zeros(4, device=far)
        with torch.cuda.stream(torch.cuda.Stream(device=far)):
            y = x * 2
        z = torch.ones(4, device="cuda:0")
      `),
    ).toEqual([
      '3: allocate x on default of device 1',
      '3: zeros on default of device 1: w x',
      '5: allocate y on stream',
      '5: mul on stream: w y, r x',
      '6: allocate z on default',
      '6: ones on default: w z',
    ]);
  });

  test('a poll that says done orders as a host wait does', async () => {
    expect(
      await steps(`
        import torch
        done = torch.cuda.Event()
        done.record()
        if done.query():
            torch.cuda.synchronize()
      `),
    ).toEqual(['3: record done on default', '4: poll of done is done', '5: host waits for device 0']);
  });
});

describe('references', () => {
  test('del, rebinding and the end of a function release, a view keeps', async () => {
    expect(
      await steps(`
        import torch
        def f():
            a = torch.empty(4, device="cuda")
            b = a[:2]
            del a
            b = None
            c = torch.empty(4, device="cuda")
        f()
      `),
    ).toEqual([
      '3: allocate a on default',
      '6: release a by statement',
      '7: allocate c on default',
      '7: release c by scope',
    ]);
  });

  test('an argument that only the call held goes when the callee drops it', async () => {
    expect(
      await steps(`
        import torch
        def consume(x):
            x = x.sum()
            return x
        y = consume(torch.empty(4, device="cuda"))
      `),
    ).toEqual([
      '5: allocate x on default',
      '3: allocate x on default',
      '3: sum on default: w x, r x',
      '3: release x by statement',
    ]);
  });

  test('a list, an attribute and a closure keep; clear() is a statement that drops', async () => {
    expect(
      await steps(`
        import torch
        class Box: pass
        box = Box()
        def fill():
            kept = torch.empty(4, device="cuda")
            box.item = torch.empty(4, device="cuda")
            return lambda: kept
        get = fill()
        items = [torch.empty(4, device="cuda")]
        items.clear()
        box.item = None
      `),
    ).toEqual([
      '5: allocate kept on default',
      '6: allocate box.item on default',
      '9: allocate empty on default',
      '10: release empty by statement',
      '11: release box.item by statement',
    ]);
  });

  test('a suspended generator keeps its locals', async () => {
    expect(
      await steps(`
        import torch
        def items():
            held = torch.empty(4, device="cuda")
            yield 1
        it = items()
        next(it)
        y = torch.empty(4, device="cuda")
        del it
      `),
    ).toEqual(['3: allocate held on default', '7: allocate y on default', '8: release held by statement']);
  });
});

describe('memory', () => {
  test('an upload blocks unless told not to; a download without blocking lands in pinned memory', async () => {
    expect(
      await steps(`
        import torch
        h = torch.empty(4, pin_memory=True)
        a = h.to("cuda")
        b = h.cuda(non_blocking=True)
        back = b.to("cpu", non_blocking=True)
        print(back.tolist())
      `),
    ).toEqual([
      '3: allocate a on default',
      '3: copy on default: w a, r h',
      '3: host waits for default (implicit)',
      '4: allocate b on default',
      '4: copy on default: w b, r h',
      '5: copy on default: w back, r b',
      '6: host tolist: r back',
    ]);
  });

  test('in place, out= and views of parts', async () => {
    expect(
      await steps(`
        import torch
        x = torch.zeros(8, device="cuda")
        x.mul_(2)
        x += 1
        torch.add(x, 1, out=x)
        left, right = x.chunk(2)
        left.zero_()
      `),
    ).toEqual([
      '2: allocate x on default',
      '2: zeros on default: w x',
      '3: mul_ on default: w x, r x',
      '4: add_ on default: w x, r x',
      '5: add on default: w x, r x',
      '7: zero_ on default: w x[part]',
    ]);
  });

  test('an index that the host has to look at makes it wait: a mask, a bound of the device, places of the host', async () => {
    const waits = async (line: string) => {
      const all = await steps(`
        import torch
        x = torch.zeros(8, device="cuda")
        at = torch.argsort(x)
        ${line}
      `);
      return all.filter((step) => step.includes('waits')).map((step) => step.replace(/^\d+: /, ''));
    };
    const once = ['host waits for default (implicit)'];
    for (const line of [
      'y = x[x > 0]',
      'y = x[~(torch.isnan(x) & (x > 0))]',
      'm = torch.isfinite(x); y = x[m.clone(), 0]',
      'x[x > 0] = at',
      'y = x[:at]',
      'y = x[[1, 2]]',
      'y = x[torch.arange(4)]',
    ])
      expect(await waits(line), line).toEqual(once);
    for (const line of [
      'y = x[at]',
      'y = x[2:4]',
      'x[x > 0] = 0.0',
      'x[at] = x',
      'y = torch.where(x > 0, x, at)',
      'y = torch.arange(4)[torch.arange(4) > 2]',
    ])
      expect(await waits(line), line).toEqual([]);
  });

  test('a mask of what may be a tensor makes the host wait, a test of plain values does not', async () => {
    const waits = async (line: string) =>
      (
        await steps(`
          import torch
          import elsewhere
          rows, numbers = elsewhere.rows(), elsewhere.numbers()
          ${line}
        `)
      ).filter((step) => step.includes('waits for default')).length;
    for (const line of ['y = rows[rows >= 3]', 'y = x[~(rows == 3)]', 'y = rows[(rows > 3) & (rows < 9)]'])
      expect(await waits(line), line).toBe(1);
    for (const line of ['y = rows[numbers + 1]', 'y = rows[1:numbers]', 'y = rows >= 3'])
      expect(await waits(line), line).toBe(0);
  });

  test('linear algebra that looks whether it has failed makes the host wait; its unchecked forms do not', async () => {
    const waits = async (call: string) =>
      (
        await steps(`
          import torch
          x = torch.zeros(8, 8, device="cuda")
          y = ${call}
        `)
      ).filter((step) => step.includes('waits')).length;
    for (const call of [
      'torch.linalg.solve(x, x)',
      'x.inverse()',
      'torch.linalg.svd(x)',
      'torch.linalg.eigh(x)',
      'torch.histc(x)',
    ])
      expect(await waits(call), call).toBe(1);
    for (const call of ['torch.linalg.qr(x)', 'torch.linalg.cholesky_ex(x)', 'torch.topk(x, 2)'])
      expect(await waits(call), call).toBe(0);
  });
});

describe('entries', () => {
  test('a parameter is ready on the caller’s stream; a result leaves to it', async () => {
    expect(
      await steps(
        `
        import torch
        side = torch.cuda.Stream()
        def twice(x):
            with torch.cuda.stream(side):
                return x * 2
      `,
        'twice',
      ),
    ).toEqual([
      '5: before on default: w x',
      '5: allocate mul on side',
      '5: mul on side: w mul, r x',
      '5: mul leaves by return to default',
    ]);
  });

  test('a function that a caller runs through is no entry of its own', async () => {
    const entries = await lowered(`
      import torch
      side = torch.cuda.Stream()
      def helper(x):
          with torch.cuda.stream(side):
              return x * 2
      def caller(x):
          y = helper(x)
          torch.cuda.current_stream().wait_stream(side)
          return y
    `);
    expect(entries.map((entry) => entry.name)).toEqual(['<module>', 'caller']);
  });

  test('helpers of other files are followed', async () => {
    expect(
      await steps(
        {
          'pkg/__init__.py': 'from .lanes import lane\n',
          'pkg/lanes.py': 'import torch\n_lane = torch.cuda.Stream()\ndef lane():\n    return _lane\n',
          'main.py': `
            import torch
            from pkg import lane
            lane().wait_stream(torch.cuda.current_stream())
          `,
        },
        '<module>',
      ),
    ).toEqual(['3: record wait_stream on default', '3: _lane waits for wait_stream']);
  });

  test('tests call nothing on behalf of the package', async () => {
    const entries = await lowered({
      'pkg/work.py': `
        import torch
        side = torch.cuda.Stream()
        def twice(x):
            with torch.cuda.stream(side):
                return x * 2
      `,
      'tests/test_work.py': `
        from pkg.work import twice
        def test_it(x):
            twice(x)
      `,
    });
    expect(entries.map((entry) => entry.name)).toEqual(['<module>', 'twice']);
  });

  test('an unknown callee keeps what it gets, and waits for a stream that it gets', async () => {
    expect(
      await steps(
        `
        import torch
        def send(transport, x):
            side = torch.cuda.Stream()
            y = x.clone()
            transport.push(y, side)
      `,
        'send',
      ),
    ).toEqual([
      '4: before on default: w x',
      '4: allocate y on default',
      '4: clone on default: w y, r x',
      '5: host waits for side (implicit)',
    ]);
  });
});

describe('paths', () => {
  const guarded = `
    import torch
    side = torch.cuda.Stream()
    def f(x, overlap):
        if overlap:
            side.wait_stream(torch.cuda.current_stream())
        y = x.clone()
        if overlap:
            torch.cuda.current_stream().wait_stream(side)
  `;

  test('a test is decided once and kept: fork and join go together', async () => {
    const entries = await lowered(guarded);
    const paths = entries.find((entry) => entry.name === 'f')!.paths;
    expect(paths.map((path) => path.program.steps.filter((step) => step.kind === 'wait').length)).toEqual([2, 0]);
    expect(paths[1]!.decisions.map((decision) => decision.taken)).toEqual([false]);
  });

  test('`if bad: raise` is taken as not being, and costs no path', async () => {
    const entries = await lowered(`
      import torch
      side = torch.cuda.Stream()
      def f(x, n):
          if n < 0:
              raise ValueError(n)
          side.wait_stream(torch.cuda.current_stream())
    `);
    expect(entries.find((entry) => entry.name === 'f')!.paths).toHaveLength(1);
  });

  test('a recursion and an endless loop end', async () => {
    const entries = await lowered(`
      import torch
      side = torch.cuda.Stream()
      def f(x):
          while True:
              side.wait_stream(torch.cuda.current_stream())
              f(x)
    `);
    const { paths } = entries.find((entry) => entry.name === 'f')!;
    expect(paths).toHaveLength(1);
    expect(paths[0]!.program.steps.length).toBeGreaterThan(0);
  });

  test('the same text gives the same programs', async () => {
    const [first, second] = [await lowered(guarded), await lowered(guarded)];
    const plain = (entries: unknown): string =>
      JSON.stringify(entries, (key, value) => (key === 'module' || key === 'function' || key === 'test' ? key : value));
    expect(plain(first)).toBe(plain(second));
  });
});

describe('decorators', () => {
  test('functools.wraps leaves the wrapper as it is', async () => {
    expect(
      await steps(`
        import functools
        import torch
        side = torch.cuda.Stream()
        def aside(function):
            @functools.wraps(function)
            def run(*given):
                with torch.cuda.stream(side):
                    return function(*given)
            return run
        @aside
        def double(x):
            return x * 2
        y = double(torch.ones(4, device="cuda"))
      `),
    ).toContainEqual(expect.stringContaining('mul on side'));
  });
});

describe('results with names', () => {
  test('values and indices of a sort are made where the sort runs', async () => {
    const found = await steps(`
      import torch
      side = torch.cuda.Stream()
      x = torch.ones(4, device="cuda")
      with torch.cuda.stream(side):
          ordered = x.sort(dim=0).values
      y = ordered + 1
    `);
    expect(found).toContainEqual(expect.stringMatching(/sort on side/));
    expect(found).toContainEqual(expect.stringMatching(/add on default: w y, r ordered/));
  });
});

describe('frames', () => {
  test('a step knows which frame selected its stream', async () => {
    const [entry] = await lowered(`
      import torch
      side = torch.cuda.Stream()
      def inner(x):
          return x * 2
      def outer(x):
          with torch.cuda.stream(side):
              return inner(x)
      outer(torch.ones(4, device="cuda"))
    `);
    const { program } = entry!.paths[0]!;
    const multiply = program.steps.find((step) => step.kind === 'launch' && step.name === 'mul')!;
    const origin = program.origins[multiply.origin]!;
    expect(origin.kind === 'source' && [origin.frames.length, origin.streamFrame]).toEqual([3, 1]);
  });
});
