/** Files that the host unpacks open as those that we unpack ourselves, whole, cut and damaged. */
import { gzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { openTrace, openTraceUnpacking, TraceError } from '../../../core/trace/index.ts';
import { unpacker } from '../../../webview/unpacking.ts';
import { bytesOf, dump } from './dump.ts';
import { kernel, kinetoText, runtime } from './kineto-text.ts';

const events = Array.from({ length: 400 }, (_, i) => [
  runtime('cudaLaunchKernel', `${i * 9}.000`, '2.000', i + 1),
  kernel(`kernel ${(i * 7919) % 97}`, 13, `${i * 9 + 3}.000`, '4.000', i + 1),
]).flat();
const text = bytesOf(kinetoText(events));
const packed = gzipSync(text);

/** What is shown, or why nothing is. */
async function told(open: () => ReturnType<typeof openTrace> | Promise<ReturnType<typeof openTrace>>): Promise<string> {
  try {
    const trace = await open();
    return `${dump(trace)}\n${JSON.stringify(trace.problems)}`;
  } catch (error) {
    if (error instanceof TraceError) return `${error.message} (${error.offset})`;
    throw error;
  }
}

async function expectSame(bytes: Uint8Array): Promise<string> {
  const ours = await told(() => openTrace(bytes, 'trace.json.gz'));
  expect(await told(() => openTraceUnpacking(bytes, 'trace.json.gz', unpacker!))).toBe(ours);
  return ours;
}

it('a whole file, packed and not', async () => {
  expect(await expectSame(packed)).toContain('kernel 5');
  await expectSame(text);
  expect(await told(() => openTrace(packed, 'x'))).toBe(await told(() => openTrace(text, 'x')));
});

it('the bytes that are taken in are told, up to the last', async () => {
  const read: number[] = [];
  await openTraceUnpacking(packed, 'x', unpacker!, {
    onProgress: (at, total) => {
      expect(total).toBe(packed.length);
      read.push(at);
    },
  });
  expect(read.at(-1)).toBe(packed.length);
});

it('cut anywhere: what came before is shown, and where it breaks off is told', async () => {
  for (const share of [0.02, 0.3, 0.6, 0.95]) await expectSame(packed.subarray(0, Math.floor(packed.length * share)));
  const cut = await expectSame(packed.subarray(0, packed.length >> 1));
  expect(cut).toMatch(/The gzip stream breaks off or is damaged near its byte \d+/);
  await expectSame(packed.subarray(0, packed.length - 4));
  await expectSame(packed.subarray(0, 8));
});

it('damaged, packed twice, in two members, with something behind it, and what is no trace', async () => {
  const damaged = packed.slice();
  damaged.fill(0xff, packed.length >> 1, (packed.length >> 1) + 40);
  await expectSame(damaged);
  expect(await expectSame(gzipSync(packed))).toContain('packed twice');
  const joined = (...parts: readonly Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  await expectSame(joined(gzipSync(text.subarray(0, 5000)), gzipSync(text.subarray(5000))));
  await expectSame(joined(packed, bytesOf('behind')));
  expect(await expectSame(gzipSync(bytesOf('Dear reader')))).toContain('no trace that Raceline knows');
  await expectSame(gzipSync(new Uint8Array(0)));
});

it('no more than may be read', async () => {
  const trace = await openTraceUnpacking(packed, 'x', unpacker!, { mostBytes: 20_000 });
  expect(JSON.stringify(trace.problems)).toContain('as much as can be shown at once');
});
