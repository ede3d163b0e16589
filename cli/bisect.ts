/**
 * `raceline bisect`: where a synchronization makes the program's result right again, found by running it, and what the
 * checker and the recording say about that place.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createSourceChecker } from '../core/checkSource.ts';
import { planConfirm } from '../core/confirmPlan.ts';
import type { TraceHazard } from '../core/trace/trace.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';
import { loadParser } from './checker.ts';
import { displayPath } from './display-path.ts';
import { executorFolder, findPython, runPython } from './executor.ts';
import { heldStreams, inLog, logTail, recordForRerun } from './rerun.ts';
import { readTrace } from './trace.ts';

interface Line {
  readonly file: string;
  readonly line: number;
}

/** A place that the executor found: the latest and the earliest line before which a synchronization helps. */
interface Place {
  readonly site: Line;
  readonly earliest: Line;
  /** The line that runs just before the earliest. */
  readonly after: Line | null;
  readonly stress: string;
}

interface Report {
  readonly status: 'found' | 'right' | 'logic' | 'not by synchronization' | 'given up' | 'failed';
  readonly message: string;
  readonly runs: number;
  readonly places: readonly Place[];
}

interface Named {
  readonly source: 'check' | 'trace';
  readonly code: string;
  readonly message: string;
  readonly at: Line;
}

export async function bisect(args: readonly string[]): Promise<number> {
  const given = parseArguments(
    args,
    ['--trace', '--record', '--python', '--format', '--check', '--timeout', '-o'],
    ['--exit-code'],
  );
  const program = given.after ?? given.rest;
  if (!program.length) throw new UsageError('bisect needs a script: raceline bisect -- SCRIPT.py ARGS…');
  const format = choice(given, '--format', ['text', 'json'], 'text');
  const limit = Number(given.values.get('--timeout') ?? 900);
  if (!(limit > 0)) throw new UsageError('--timeout is a number of seconds');
  const python = given.values.get('--python') ?? findPython();
  const recording =
    given.values.get('--trace') ?? (await recordForRerun(python, program, given.values.get('--record')));
  const considered = planConfirm(await readTrace(recording));
  const report = await search(recording, python, program, limit, {
    version: 1,
    hazards: considered.flatMap(({ planned }) => planned ?? []),
    check: given.values.get('--check'),
    exit_code: given.flags.has('--exit-code') || undefined,
  });
  const hazards = considered.map(({ told }) => told);
  const places = await Promise.all(
    report.places.map(async (place) => ({ ...place, names: await namesOf(place, hazards) })),
  );
  const found = { ...report, places, recorded: hazards.length };
  const text = format === 'json' ? `${JSON.stringify({ version: 1, trace: recording, ...found })}\n` : inWords(found);
  const out = given.values.get('-o');
  if (out) writeFileSync(out, text);
  else process.stdout.write(text);
  if (report.status === 'found') return 1;
  return report.status === 'right' ? 0 : 2;
}

async function search(
  recording: string,
  python: string,
  program: readonly string[],
  limit: number,
  plan: object,
): Promise<Report> {
  const stem = recording.replace(/\.raceline(\.gz)?$/, '');
  const [planFile, report, log] = [`${stem}.plan.json`, `${stem}.bisect.json`, `${stem}.bisect.log`];
  rmSync(report, { force: true });
  writeFileSync(planFile, JSON.stringify(plan));
  const end = Date.now() + limit * 1000;
  console.error(`raceline: the program runs many times; what it prints goes to ${log}`);
  const code = await inLog(log, (output) =>
    runPython({
      python,
      args: [executorFolder(), '--bisect', planFile, '--report', report, ...program],
      env: heldStreams,
      output,
      giveUp: () =>
        Date.now() > end
          ? `no place was found in ${limit} s; give more with --timeout SECONDS. See ${log}.`
          : undefined,
    }),
  );
  if (code === 130) throw new Error('stopped by you');
  if (!existsSync(report)) throw new Error(`the program cannot be run again (exit code ${code}):\n${logTail(log)}`);
  return JSON.parse(readFileSync(report, 'utf8')) as Report;
}

/** What is known about the lines between which the order is missing: the checker's findings first, the nearest first. */
async function namesOf(place: Place, hazards: readonly TraceHazard[]): Promise<readonly Named[]> {
  const { file } = place.site;
  const from = Math.min(place.site.line, place.after?.file === file ? place.after.line : place.earliest.line);
  const to = Math.max(place.site.line, from);
  const named: { readonly name: Named; readonly distance: number }[] = [];
  const consider = (name: Named, related: readonly Line[]) => {
    const lines = [name.at, ...related].filter((line) => path.resolve(line.file) === path.resolve(file));
    const distances = lines.filter(({ line }) => line >= from && line <= to).map(({ line }) => to - line);
    if (distances.length) named.push({ name, distance: Math.min(...distances) });
  };
  for (const { code, severity, message, at, related } of hazards)
    if (severity !== 'hint') consider({ source: 'trace', code, message, at }, related);
  if (existsSync(file)) {
    const checker = createSourceChecker(await loadParser());
    const { findings } = checker.check([{ file, text: readFileSync(file, 'utf8') }], { fixes: false });
    for (const finding of findings) {
      if (finding.severity === 'hint') continue;
      const at = { file: finding.file, line: finding.range.start.line + 1 };
      const related = finding.related.map((one) => ({ file: one.file, line: one.range.start.line + 1 }));
      consider({ source: 'check', code: finding.code, message: finding.message, at }, related);
    }
  }
  named.sort((a, b) =>
    a.name.source === b.name.source ? a.distance - b.distance : a.name.source === 'check' ? -1 : 1,
  );
  return named.map(({ name }) => name);
}

function inWords({
  status,
  message,
  runs,
  places,
}: Report & { readonly places: readonly (Place & { readonly names: readonly Named[] })[] }): string {
  const lines: string[] = [];
  const where = ({ file, line }: Line) => `${displayPath(file)}:${line}`;
  for (const { site, earliest, after, stress, names } of places) {
    const same = site.file === earliest.file && site.line === earliest.line;
    lines.push(
      `${where(site)}: a synchronization before this line makes the result right (wrong ${stress})`,
      same ? '  nowhere else does' : `  it may come as early as before ${where(earliest)}`,
    );
    if (after) lines.push(`  what it waits for runs at ${where(after)}`);
    for (const { source, code, message: words, at } of names)
      lines.push(`  ${source === 'check' ? 'the checker' : 'the recording'}: ${where(at)}: ${code}\n    ${words}`);
    if (!names.length) lines.push('  neither the checker nor the recording has a finding here');
  }
  if (status !== 'found') lines.push(message);
  lines.push(`${runs} runs`);
  return `${lines.join('\n')}\n`;
}
