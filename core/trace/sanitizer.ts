/**
 * Reads what other checkers print: PyTorch's CUDA sanitizer (TORCH_CUDA_SANITIZER=1, "CSAN") and NVIDIA's
 * compute-sanitizer, as text or XML. A race of CSAN becomes the two accesses that it names, on their streams, so that it is
 * judged and shown as any other; errors of compute-sanitizer stand inside kernels, and become problems of the trace.
 *
 *     CSAN detected a possible data race on tensor with data pointer 139…       a block
 *     Access by stream 0 during kernel:          aten::fill_ … writing to …     the second access
 *     Previous access by stream 775694496 …      aten::mm …    reading from …   the first one
 *     Tensor was allocated with stack trace: …
 *
 * Times are not in these files. What the tools cannot see is said.
 */
import { strFromU8, strToU8 } from 'fflate';
import { RacelineReader } from './raceline.ts';
import { type AccessMode, RacelineWriter } from './raceline-write.ts';
import type { FormatReader } from './reader.ts';
import type { Trace, TraceProblem } from './trace.ts';
import { WholeFile } from './whole-file.ts';

/** Whether a text is, or begins with, what one of these tools printed. */
export function isSanitizerText(head: string): boolean {
  return csanStart.test(head) || /^========= \S/m.test(head) || head.includes('<ComputeSanitizerOutput');
}

const csanStart = /^CSAN detected a possible data race/m;
const longestText = 64 << 20;

export class SanitizerReader implements FormatReader {
  readonly #file = new WholeFile(
    longestText,
    'This report is larger than 64 MB. Cut it to the errors that are of interest.',
  );

  hold(bytes: Uint8Array): void {
    this.#file.hold(bytes);
  }

  push(bytes: Uint8Array): void {
    this.#file.push(bytes);
  }

  finish(cut?: string): Trace {
    const text = strFromU8(this.#file.take());
    const races = readRaces(text);
    const errors = text.includes('<ComputeSanitizerOutput') ? readXml(text) : readErrors(text);
    const reader = new RacelineReader();
    reader.push(strToU8(asTrace(races, errors.length > 0 || !csanStart.test(text))));
    const trace = reader.finish();
    const problems: TraceProblem[] = errors.map((message) => ({ message, offset: -1, row: -1 }));
    if (cut) problems.push({ message: cut, offset: -1, row: -1 });
    return { ...trace, problems: [...trace.problems, ...problems] };
  }
}

interface Race {
  readonly address: string;
  readonly previous: Access;
  readonly access: Access;
}

interface Access {
  readonly stream: string;
  readonly operator: string;
  readonly mode: AccessMode;
  readonly frames: readonly Frame[];
}

interface Frame {
  readonly file: string;
  readonly line: number;
  readonly function: string;
}

function asTrace(races: readonly Race[], isCompute: boolean): string {
  const producer = races.length || !isCompute ? 'CUDA sanitizer of PyTorch' : 'compute-sanitizer';
  const writer = new RacelineWriter({ producer, mode: 'cuda', level: 'full' });
  const streams = new Map<string, number>();
  const stream = (handle: string) => {
    let id = streams.get(handle);
    if (id === undefined) {
      id = streams.size;
      streams.set(handle, id);
      const isDefault = handle === '0';
      writer.stream({ id, handle: hex(handle), default: isDefault, name: isDefault ? 'default' : undefined });
    }
    return id;
  };
  const site = (frames: readonly Frame[]) => {
    let at: number | undefined;
    for (const frame of frames) at = writer.site(frame.file, frame.line, frame.function, at);
    return at;
  };
  let n = 0;
  races.forEach(({ address, previous, access }, b) => {
    writer.block({ b, addr: hex(address), size: 1 });
    for (const { stream: handle, operator, mode, frames } of [previous, access])
      writer.op({ n: n++, st: stream(handle), name: operator, acc: [[b, 0, 1, mode]], s: site(frames) });
  });
  for (const limit of isCompute && !races.length ? computeLimits : csanLimits) writer.limit(limit);
  writer.end(0, 'ok');
  return writer.take();
}

const csanLimits = [
  'The CUDA sanitizer stops at the operator that races first: later races are not in its report.',
  'It compares start addresses, so it does not see races on views of one tensor, and forgets a block at its release, so it does not see memory that is handed out too early. It knows nothing of the host.',
  'It takes the work of a graph capture as run, so a race inside of one may be none.',
];

const computeLimits = [
  'compute-sanitizer looks into kernels: it does not know in which order streams have to run. Only with --track-stream-ordered-races and the cudaMallocAsync allocator does it see memory that is handed out too early.',
  'Its errors name kernels, not lines of Python.',
];

function readRaces(text: string): Race[] {
  const races: Race[] = [];
  const seen = new Set<string>();
  for (const part of text.split(csanStart).slice(1)) {
    const address = /^ on tensor with data pointer (\d+)/.exec(part)?.[1];
    const access = readAccess(part, /^Access by stream (\d+) during kernel:$/m);
    const previous = readAccess(part, /^Previous access by stream (\d+) during kernel:$/m);
    if (!address || !access || !previous) continue;
    const key = JSON.stringify([previous, access]);
    // It says the same at its end once more.
    if (seen.has(key)) continue;
    seen.add(key);
    races.push({ address, previous, access });
  }
  return races;
}

function readAccess(part: string, start: RegExp): Access | undefined {
  const found = start.exec(part);
  if (!found) return undefined;
  const [schema = '', ...lines] = part.slice(found.index + found[0].length + 1).split('\n');
  const told: string[] = [];
  while (lines.length && !lines[0]!.startsWith('With stack trace:') && lines[0] !== '') told.push(lines.shift()!);
  lines.shift();
  const frames: string[] = [];
  while (lines.length && /^ {2,}/.test(lines[0]!)) frames.push(lines.shift()!);
  const words = told.join('\n');
  const writes = words.includes('writing to');
  return {
    stream: found[1]!,
    operator: /^[\w:]+/.exec(schema)?.[0] ?? 'operator',
    mode: writes ? (words.includes('reading from') ? 'rw' : 'w') : 'r',
    frames: readFrames(frames.join('\n')),
  };
}

/** Frames of the program, outermost first; those of PyTorch itself are left out. */
function readFrames(text: string): Frame[] {
  return [...text.matchAll(/^ {2}File "(.*)", line (\d+), in (.*)$/gm)]
    .map(([, file, line, fn]) => ({ file: file!, line: Number(line), function: fn! }))
    .filter(({ file }) => !/[\\/](?:site|dist)-packages[\\/]torch[\\/]|^site-packages[\\/]torch[\\/]/.test(file));
}

/** Errors of compute-sanitizer's text: the first line of each, and where in the kernel. */
function readErrors(text: string): string[] {
  const lines = text.split('\n').flatMap((line) => (line.startsWith('=========') ? [line.slice(9)] : []));
  const errors: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const [indent] = /^ */.exec(lines[i]!)!;
    const words = lines[i]!.trim();
    if (indent.length !== 1 || !errorStart.test(words)) continue;
    const details: string[] = [];
    while (i + 1 < lines.length && /^ {4,}\S/.test(lines[i + 1]!) && details.length < 3) {
      const detail = lines[++i]!.trim();
      if (!/^(?:Saved host backtrace|Host Frame|Device Frame|by thread)/.test(detail)) details.push(detail);
    }
    errors.push([words, ...details].join(' '));
  }
  return [...new Set(errors)];
}

const errorStart =
  /^(?:Invalid|Error: |Warning: |Program hit|Use-after-free|Uninitialized|Potential|Race reported|Misaligned|Leaked)/;

function readXml(text: string): string[] {
  const inside = (part: string, name: string) =>
    new RegExp(`<${name}[^>]*>([\\s\\S]*?)</${name}>`).exec(part)?.[1]?.trim();
  return [...text.matchAll(/<record>([\s\S]*?)<\/record>/g)].map(([, record]) => {
    const what = inside(record!, 'what') ?? '';
    const where = inside(record!, 'where') ?? '';
    const [path, line, fn] = ['path', 'line', 'func'].map((name) => inside(where, name));
    const place = path && line ? ` in ${path}:${line}` : '';
    return plain(`${inside(what, 'text') ?? (what || 'error')}${fn ? ` at ${fn}` : ''}${place}`);
  });
}

const plain = (text: string) =>
  text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();

const hex = (decimal: string) => `0x${BigInt(decimal).toString(16)}`;
