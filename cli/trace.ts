/** `raceline trace`: the summary of a trace and its hazards. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { judgeTrace } from '../core/judgeTrace.ts';
import { openTraceFrom, TraceError } from '../core/trace/index.ts';
import { areOneRun, mergeTraces, type NamedTrace } from '../core/trace/merge.ts';
import { summarize, summarizeWaits } from '../core/trace/summary.ts';
import type { Trace, TraceHazard } from '../core/trace/trace.ts';
import { answerLines, answersJson } from './answers.ts';
import { displayPath } from './display-path.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';

export async function trace(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--format']);
  const format = choice(given, '--format', ['text', 'json'], 'text');
  if (!given.rest.length) throw new UsageError('trace needs a file');
  const reports: object[] = [];
  const run: NamedTrace[] = [];
  let hazardous = false;
  let failed = false;
  for (const file of given.rest) {
    try {
      const opened = await readTrace(file);
      const hazards = judgeTrace(opened);
      hazardous ||= hazards.length > 0;
      if (given.rest.length > 1) run.push({ name: path.basename(file), trace: opened });
      if (format === 'json') reports.push(toJson(file, opened, hazards, given.rest.length > 1));
      else printText(file, opened, hazards);
    } catch (error) {
      // One bad file never stops the rest.
      failed = true;
      console.error(`raceline: ${file}: ${(error as Error).message}`);
    }
  }
  const together = mergedRun(run);
  let merged: object | undefined;
  if (together) {
    const hazards = judgeTrace(together);
    hazardous ||= hazards.length > 0;
    if (format === 'json') merged = toJson('', together, hazards, false);
    else printText('together, as one run', together, hazards);
  }
  if (format === 'json' && reports.length)
    console.log(JSON.stringify(given.rest.length > 1 ? { version: 1, traces: reports, merged } : reports[0]));
  return failed ? 2 : hazardous ? 1 : 0;
}

/** Files whose times overlap are of one run: what each of them cannot tell another one may. */
function mergedRun(files: readonly NamedTrace[]): Trace | undefined {
  return areOneRun(files.map(({ trace }) => trace)) ? mergeTraces(files) : undefined;
}

/** Unpacks on another thread while the pieces are read, so that the unpacked file is never held. */
export async function readTrace(file: string): Promise<Trace> {
  const gz = await startsAsGzip(file);
  try {
    return await readPieces(file, gz);
  } catch (error) {
    // zlib keeps back what it unpacked last when it meets damage; in a short file that is all. The slower way gives it.
    if (gz && error instanceof TraceError) return await readPieces(file, false);
    throw error;
  }
}

async function readPieces(file: string, unpack: boolean): Promise<Trace> {
  const bytes = createReadStream(file, { highWaterMark: 1 << 20 });
  try {
    return await openTraceFrom(unpack ? unpacked(bytes) : bytes, path.basename(file));
  } finally {
    bytes.destroy();
  }
}

async function* unpacked(bytes: Readable): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 1 << 20 });
  // A failed read must end the pieces; pipe alone leaves the other end waiting for ever.
  bytes.on('error', (error) => gunzip.destroy(error));
  yield* bytes.pipe(gunzip);
}

async function startsAsGzip(file: string): Promise<boolean> {
  const handle = await open(file).catch((error: Error) => {
    throw new Error(`cannot be read: ${error.message}`);
  });
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`);
  } finally {
    await handle.close();
  }
}

function toJson(file: string, opened: Trace, hazards: readonly TraceHazard[], named: boolean): object {
  return {
    ...(named ? { file } : {}),
    ...summarize(opened),
    hazards: hazards.map((hazard) => ({
      code: hazard.code,
      severity: hazard.severity,
      status: hazard.status,
      message: hazard.message,
      count: hazard.count,
      at: hazard.at,
      related: hazard.related,
    })),
    waits: summarizeWaits(opened),
    answers: answersJson(opened),
    problems: opened.problems,
  };
}

function printText(file: string, opened: Trace, hazards: readonly TraceHazard[]): void {
  const { counts } = opened;
  console.log(`${file}: ${opened.producer}, ${(opened.duration / 1e6).toFixed(3)} ms`);
  console.log(
    `  ${opened.streams.length} streams, ${counts.kernels} kernels, ${counts.copies} copies, ${counts.records} records, ${counts.waits} waits (${counts.waitsWithRecord} with their record), ${counts.allocations} allocations, ${counts.releases} releases`,
  );
  for (const hazard of hazards) {
    const place = hazard.at.file ? `${displayPath(hazard.at.file)}:${hazard.at.line}: ` : '';
    const times = hazard.count > 1 ? ` (${hazard.count} times)` : '';
    console.log(`  ${place}${hazard.severity} ${hazard.code}, ${hazard.status}${times}\n    ${hazard.message}`);
    for (const related of hazard.related)
      console.log(`    ${displayPath(related.file)}:${related.line}: ${related.message}`);
  }
  if (!hazards.length) console.log('  no hazard found in what this file tells');
  for (const line of answerLines(opened)) console.log(`  ${line}`);
  for (const limit of opened.limits) console.log(`  cannot tell: ${limit}`);
  for (const problem of opened.problems)
    console.log(`  problem${problem.offset >= 0 ? ` at byte ${problem.offset}` : ''}: ${problem.message}`);
}
