/**
 * `raceline confirm`: makes the hazards of a recording happen. Each is tried by the native executor, in runs of the program in
 * which one stream is held back; here is what is tried, which process tries it, and what is said of it.
 */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ConsideredHazard, planConfirm } from '../core/confirmPlan.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { displayPath } from './display-path.ts';
import { executorFolder, findPython, runPython } from './executor.ts';
import { heldStreams, inLog, logTail, recordForRerun } from './rerun.ts';
import { readTrace } from './trace.ts';

/** What the executor says of one hazard. */
interface Result {
  readonly id: number;
  readonly status: Status;
  /** The second call came before the first one was done. */
  readonly happened?: boolean;
  readonly message: string;
  readonly wrong?: Wrong;
}

interface Wrong {
  /** The output of the second or the first call, that of the second when all was done, or a value that the host read. */
  readonly what: 'second' | 'first' | 'afterwards' | 'read';
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly tensor: string;
  readonly index: readonly number[] | null;
  readonly expected: string;
  readonly got: string;
  readonly wrong: number | null;
  readonly total: number | null;
}

type Status = 'reproduced' | 'not reproduced' | 'failed' | 'not tried';

/** The executor's exit code for: the device is lost, go on in another process. */
const goOn = 75;

export async function confirm(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, ['--trace', '--record', '--python', '--format', '--timeout', '-o']);
  const program = given.after ?? given.rest;
  if (!program.length) throw new UsageError('confirm needs a script: raceline confirm -- SCRIPT.py ARGS…');
  const format = choice(given, '--format', ['text', 'json'], 'text');
  const limit = Number(given.values.get('--timeout') ?? 300);
  if (!(limit > 0)) throw new UsageError('--timeout is a number of seconds');
  const python = given.values.get('--python') ?? findPython();
  const recording =
    given.values.get('--trace') ?? (await recordForRerun(python, program, given.values.get('--record')));
  const considered = planConfirm(await readTrace(recording));
  const results = await tryAll(considered, { python, program, recording, limit });
  const found = considered.map(({ told, planned, left }) => {
    const result = results.find(({ id }) => id === planned?.id);
    return { told, result: result ?? notTried(left) };
  });
  const report = format === 'json' ? `${JSON.stringify(asJson(recording, found))}\n` : asText(recording, found);
  const out = given.values.get('-o');
  if (out) writeFileSync(out, report);
  else process.stdout.write(report);
  if (found.some(({ result }) => result.status === 'failed')) return 2;
  return found.some(({ result }) => result.status === 'reproduced') ? 1 : 0;
}

interface Found {
  readonly told: ConsideredHazard['told'];
  readonly result: Omit<Result, 'id'>;
}

interface Trying {
  readonly python: string;
  readonly program: readonly string[];
  readonly recording: string;
  readonly limit: number;
}

/** In as few processes as it takes: one goes on until its device is lost. */
async function tryAll(considered: readonly ConsideredHazard[], how: Trying): Promise<readonly Result[]> {
  const hazards = considered.flatMap(({ planned }) => planned ?? []);
  if (!hazards.length) return [];
  const stem = how.recording.replace(/\.raceline(\.gz)?$/, '');
  const [plan, report, log] = [`${stem}.plan.json`, `${stem}.confirm.json`, `${stem}.confirm.log`];
  rmSync(report, { force: true });
  writeFileSync(plan, JSON.stringify({ version: 1, hazards }));
  let results: readonly Result[] = [];
  const { length } = hazards;
  console.error(
    `raceline: ${length} ${length === 1 ? 'hazard' : 'hazards'} to try; what the runs print goes to ${log}`,
  );
  for (;;) {
    const since = Date.now();
    let told = results.length;
    const quiet = () => {
      const tried = readResults(report).filter(({ message }) => message !== pending).length;
      if (tried > told) console.error(`raceline: ${tried} of ${length} tried`);
      told = Math.max(told, tried);
      const at = existsSync(report) ? statSync(report).mtimeMs : since;
      return Date.now() - Math.max(at, since) > how.limit * 1000
        ? `a run took longer than ${how.limit} s; give more with --timeout SECONDS. Its output is in ${log}.`
        : undefined;
    };
    const args = [executorFolder(), '--confirm', plan, '--report', report, ...how.program];
    const code = await inLog(log, (output) =>
      runPython({ python: how.python, args, output, env: heldStreams, giveUp: quiet }),
    );
    const before = results.length;
    results = readResults(report);
    if (code === 130) throw new Error(`stopped by you; ${results.length} of ${length} were tried: ${report}`);
    if (!results.length) throw new Error(`the program cannot be run again (exit code ${code}):\n${logTail(log)}`);
    if (results.length === length || results.length === before) return results;
    if (code !== goOn && results.at(-1)?.status !== 'failed') return results;
  }
}

/** What the executor writes of a hazard before it tries it. */
const pending = 'The process ended while this hazard was tried.';

function readResults(file: string): readonly Result[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { results: Result[] }).results : [];
}

function notTried(left: ConsideredHazard['left']): Omit<Result, 'id'> {
  const message =
    left === 'no-place'
      ? 'The recording does not tell on which line of the program its two calls stand.'
      : left === 'no-value'
        ? 'It is about a call, not about a value: what goes wrong shows in the other hazards, or the program ends by itself.'
        : 'No run came to it.';
  return { status: 'not tried', message };
}

function asJson(recording: string, found: readonly Found[]): object {
  return {
    version: 1,
    trace: recording,
    hazards: found.map(({ told, result: { status, happened, message, wrong } }) => ({
      code: told.code,
      message: told.message,
      at: told.at,
      related: told.related,
      result: { status, happened, message: message || undefined, wrong },
    })),
  };
}

function asText(recording: string, found: readonly Found[]): string {
  const lines = [recording];
  for (const { told, result } of found) {
    const place = told.at.file ? `${displayPath(told.at.file)}:${told.at.line}: ` : '';
    lines.push(`  ${place}${told.code}: ${result.status}`, `    ${told.message}`);
    if (result.wrong) lines.push(`    ${wrongInWords(result.wrong)}`);
    if (result.message) lines.push(`    ${result.message}`);
  }
  if (!found.length) lines.push('  no hazard found in this recording, so there is nothing to confirm');
  const count = (status: Status) => found.filter(({ result }) => result.status === status).length;
  if (found.length)
    lines.push(`  ${count('reproduced')} of ${found.length - count('not tried')} tried were reproduced`);
  return `${lines.join('\n')}\n`;
}

function wrongInWords({ what, name, file, line, tensor, index, expected, got, wrong, total }: Wrong): string {
  const place = `${displayPath(path.resolve(file))}:${line}`;
  const whose = {
    second: `what \`${name}\` at ${place} gives`,
    first: `what \`${name}\` at ${place} gives`,
    afterwards: `what \`${name}\` at ${place} wrote, when all is done`,
    read: `the value that \`${name}\` at ${place} reads`,
  }[what];
  const element = index?.length ? ` at [${index.join(', ')}]` : '';
  const many = total && total > 1 ? `; ${wrong} of ${total} elements are wrong` : '';
  return `${whose} (${tensor}) is wrong${element}: expected ${expected}, got ${got}${many}`;
}
