/**
 * The worker: opens a trace, judges it, lays it out over time, hands the columns over, and answers what a step touches.
 * The page stays free to draw while it works.
 */
import type { StreamProgram } from '../core/program/program.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { openRun } from './opening.ts';

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
};

let program: StreamProgram | undefined;

scope.onmessage = ({ data }) => {
  if (data.type === 'open') open(data.name, data.bytes);
  else describe(data.step);
};

function open(name: string, bytes: Uint8Array): void {
  try {
    let last = 0;
    const run = openRun(bytes, name, (phase, read, total) => {
      const now = performance.now();
      if (phase === 'reading' && now - last < 50) return;
      last = now;
      scope.postMessage({ type: 'progress', phase, read, total });
    });
    program = run.trace.program;
    const empty: StreamProgram = { ...program, events: [], blocks: [], origins: [], steps: [] };
    const light = { ...run, trace: { ...run.trace, program: empty } };
    scope.postMessage({ type: 'opened', run: light }, buffersOf(light));
  } catch (error) {
    scope.postMessage({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

function describe(step: number): void {
  const entry = program?.steps[step];
  const names = (write: boolean): string[] => {
    if (entry?.kind !== 'launch') return [];
    const blocks = entry.accesses.filter((access) => access.write === write).map((access) => access.block);
    return [...new Set(blocks)].map((block) => program?.blocks[block]?.name || 'a block without a name');
  };
  scope.postMessage({ type: 'described', step, reads: names(false), writes: names(true) });
}

/** Buffers of all typed arrays in a value, each once. */
function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (Array.isArray(value)) {
    // Tables of text and other plain values hold no buffers; one look tells.
    if (typeof value[0] === 'object') for (const entry of value) buffersOf(entry, found);
  } else if (typeof value === 'object' && value !== null)
    for (const entry of Object.values(value)) buffersOf(entry, found);
  return [...found];
}
