/**
 * The worker: opens a trace, judges it, lays it out over time, hands the columns over, and answers what a step touches and
 * who touches a block. The page stays free to draw while it works.
 */
import { answersOf } from '../core/answers/answers.ts';
import type { StreamProgram } from '../core/program/program.ts';
import type { Alignment } from '../core/timeline/align.ts';
import type { Side } from '../core/timeline/unite.ts';
import { readInputs, readInputsUnpacking } from '../core/trace/inputs.ts';
import type { InputsReader } from '../core/trace/inputs-reader.ts';
import type { Trace } from '../core/trace/trace.ts';
import type { BlockUse, FromWorker, Run, ToWorker } from './messages.ts';
import { compareRuns, openSide, type Progress, readSide, runOf } from './opening.ts';
import { scheduleOf } from './schedules.ts';
import { unpacker } from './unpacking.ts';

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
};

/** Programs of the runs on the axis, one after the other, as their tables are. */
let programs: readonly StreamProgram[] = [];
/** The file of the run as it is on disk. */
let file: Uint8Array = new Uint8Array(0);
/** What its operators were called with, from the first time that it is asked for. */
let inputs: InputsReader | undefined;
let format: Trace['format'] = 'kineto';
/** Programs of two schedules, while they are shown in place of the run's own. */
let played: readonly StreamProgram[] | undefined;
let compared: readonly [Side, Side] | undefined;

/** What was asked is answered one after the other: none sees a run of which another is half read. */
let answered: Promise<void> = Promise.resolve();

scope.onmessage = ({ data }) => {
  answered = answered.then(() => answer(data)).catch(tellFailure);
};

function tellFailure(error: unknown): void {
  scope.postMessage({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}

async function answer(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'open':
      await open(message.bytes, message.name);
      return;
    case 'grow':
      await open(joined([file, ...message.pieces]), message.name);
      return;
    case 'compare': {
      const own = programs[0]!;
      const { first, second } = message;
      const other = await sideOf(second.bytes, second.name, second.note, progress());
      compared = [{ ...first, trace: { ...first.trace, program: own } }, other];
      programs = [own, other.trace.program];
      played = undefined;
      align(message.by);
      return;
    }
    case 'align':
      align(message.by);
      return;
    case 'alone':
      compared = undefined;
      played = undefined;
      programs = programs.slice(0, 1);
      return;
    case 'schedule':
      showSchedule(message.hazard);
      return;
    case 'answer': {
      const [program] = programs;
      if (program) scope.postMessage({ type: 'answers', answers: answersOf({ ...message.trace, program }) });
      return;
    }
    case 'describe':
      describe(message.step);
      return;
    case 'inputs':
      inputs ??= unpacker ? await readInputsUnpacking(format, file, unpacker) : readInputs(format, file);
      scope.postMessage({ type: 'inputs', row: message.row, inputs: inputs.of(message.row) });
      return;
    case 'bytes':
      scope.postMessage({ type: 'bytes', bytes: file });
      return;
    case 'users':
      scope.postMessage({ type: 'users', block: message.block, uses: usesOf(message.programBlock) });
  }
}

async function open(bytes: Uint8Array, name: string): Promise<void> {
  // Also where it cannot be read: what is appended next may make it whole.
  file = bytes;
  inputs = undefined;
  const told = progress();
  const run = runOf(await sideOf(bytes, name, '', told), bytes, told);
  format = run.trace.format;
  programs = [run.trace.program];
  compared = undefined;
  played = undefined;
  handOver(run);
}

function sideOf(bytes: Uint8Array, name: string, note: string, told: Progress): Side | Promise<Side> {
  return unpacker ? readSide(bytes, name, note, told, unpacker) : openSide(bytes, name, note, told);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function showSchedule(hazard: Parameters<typeof scheduleOf>[1]): void {
  const [program] = programs;
  const schedule = program && scheduleOf(program, hazard);
  if (!program || !schedule) throw new Error('No schedule was found in which this goes wrong.');
  const encoder = new TextEncoder();
  const side = (text: string, name: string, note: string): Side =>
    openSide(encoder.encode(text), `${name}.raceline`, note, () => {});
  const intended = side(schedule.intended, 'intended', 'The same calls on the built-in executor, with modelled times.');
  const witness = side(schedule.witness, 'witness', plainWords(schedule.wrong));
  compared = [
    { ...intended, name: 'As it is meant' },
    { ...witness, name: 'A schedule in which it goes wrong' },
  ];
  // What a step touches is asked of these two from now on; the run itself comes back with its own program.
  played = [intended.trace.program, witness.trace.program];
  align('start');
}

/** A sentence of what was a clause with names in backticks. */
function plainWords(text: string): string {
  const words = text.replaceAll('`', '');
  return words === '' ? '' : `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}

function align(by: Alignment): void {
  if (compared) handOver({ ...compareRuns(compared[0], compared[1], by), played: played !== undefined });
}

function handOver(run: Run): void {
  const { streams, threads } = run.trace.program;
  const empty: StreamProgram = { streams, threads, events: [], blocks: [], origins: [], steps: [] };
  const light = { ...run, trace: { ...run.trace, program: empty } };
  const buffers = new Set<ArrayBuffer>();
  findBuffers(light, buffers);
  scope.postMessage({ type: 'opened', run: light }, [...buffers]);
}

function progress(): Progress {
  let last = 0;
  return (phase, read, total) => {
    const now = performance.now();
    if (phase === 'reading' && now - last < 50) return;
    last = now;
    scope.postMessage({ type: 'progress', phase, read, total });
  };
}

/** Finds the program in which an index of the tables lies, and the index within it. */
function locate(
  index: number,
  length: (program: StreamProgram) => number,
): readonly [StreamProgram, number, number] | undefined {
  let offset = 0;
  for (const program of played ?? programs) {
    if (index < offset + length(program)) return [program, index - offset, offset];
    offset += length(program);
  }
  return undefined;
}

function describe(step: number): void {
  const [program, index] = locate(step, ({ steps }) => steps.length) ?? [];
  const entry = program?.steps[index!];
  const names = (write: boolean): string[] => {
    if (entry?.kind !== 'launch') return [];
    const blocks = entry.accesses.filter((access) => access.write === write).map((access) => access.block);
    return [...new Set(blocks)].map((block) => program?.blocks[block]?.name || 'a block without a name');
  };
  scope.postMessage({ type: 'described', step, reads: names(false), writes: names(true) });
}

/** Nobody reads a longer list of kernels that use one block. */
const mostUses = 2_000;

function usesOf(programBlock: number): BlockUse[] {
  const place = programBlock < 0 ? undefined : locate(programBlock, ({ blocks }) => blocks.length);
  if (!place) return [];
  const [program, block] = place;
  const [first] = played ?? programs;
  const offset = program === first ? 0 : first!.steps.length;
  const uses: BlockUse[] = [];
  program.steps.forEach((step, i) => {
    if (step.kind !== 'launch' || uses.length >= mostUses) return;
    const touching = step.accesses.filter((access) => access.block === block);
    if (touching.length > 0) uses.push({ step: i + offset, write: touching.some((access) => access.write) });
  });
  return uses;
}

/** Buffers of all typed arrays in a value, each once. A snapshot has thousands: they are gathered in one set. */
function findBuffers(value: unknown, found: Set<ArrayBuffer>): void {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (Array.isArray(value)) {
    // Tables of text and other plain values hold no buffers; one look tells.
    if (typeof value[0] === 'object') for (const entry of value) findBuffers(entry, found);
  } else if (typeof value === 'object' && value !== null)
    for (const entry of Object.values(value)) findBuffers(entry, found);
}
