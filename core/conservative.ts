/**
 * Inserts every order that could be needed. The program is judged with everything unknown taken for the worst
 * (worstCase.ts): parameters and results of unknown calls are on the GPU, and whoever calls a function goes on using
 * what it handed over and what it got, and then drops it. What has no order even so gets one, by the same fixes that a
 * finding offers; where no stream can be named, the host waits. An order that exists is never made twice.
 *
 * Each insertion is analysed again before it is kept: it settles what it is for, brings nothing new, and parses.
 */
import { applyFileEdits, type FileEdit, LineMap } from './base/text.ts';
import { createSourceChecker, type SourceFile } from './checkSource.ts';
import { connectedFiles } from './connectedFiles.ts';
import { fixAll } from './fixAll.ts';
import { findHazards } from './hazards/find.ts';
import type { Hazard } from './hazards/hazard.ts';
import { type LowerOptions, lower } from './lower/lower.ts';
import type { LoweredEntry, LoweredPath } from './lower/lowered.ts';
import type { Step } from './program/program.ts';
import type { Module } from './python/ast.ts';
import { lazyModule } from './python/lazy.ts';
import type { PythonParser } from './python/parse.ts';
import { LoweringMemory } from './reuse.ts';
import type { Problem } from './rules/finding.ts';
import type { OffsetEdit } from './rules/fixes/edits.ts';
import { proposeFixes } from './rules/fixes/index.ts';
import { needsOf } from './rules/fixes/order.ts';
import { type Candidate, currentStream, placesOf, put, spoken, streamAt, withImports } from './rules/fixes/spot.ts';
import { type Trial, verifiedFixes, withEdits } from './rules/fixes/verify.ts';
import { type ExaminedEntry, keyOf, type Report, report } from './rules/report.ts';
import { openRegions } from './sideRegions.ts';
import { nothing, worstCase } from './worstCase.ts';

export interface ConservativeResult {
  readonly files: readonly SourceFile[];
  /** How many orders came in. */
  readonly inserted: number;
  /** Orders that could be needed and that found no place, in words. */
  readonly left: readonly LeftOrder[];
  readonly problems: readonly Problem[];
}

export interface LeftOrder {
  readonly file: string;
  /** From 0. */
  readonly line: number;
  readonly message: string;
}

/** `only`: files that may be edited; left out: all. */
export function conservative(
  parser: PythonParser,
  files: readonly SourceFile[],
  only?: ReadonlySet<string>,
): ConservativeResult {
  const problems: Problem[] = [];
  let current = [...files];
  let inserted = 0;
  const left: LeftOrder[] = [];
  const modules = files.map(({ file, text }) => lazyModule(parser, file, text));
  const concerned = new Set<string>();
  try {
    for (const { file } of ordersMissingIn(lowerAtWorst(modules, {}))) concerned.add(file);
    for (const { file, text } of modules) if (/\.stream\(/.test(text)) concerned.add(file);
  } catch (error) {
    for (const { file } of files) problems.push({ file, message: failed(error) });
  }
  for (const { file } of files) {
    if (!concerned.has(file) || (only && !only.has(file))) continue;
    try {
      // An edit concerns what imports connect with its file.
      const connected = connectedFiles(modules, file);
      const bench = new Bench(
        parser,
        file,
        current.filter((other) => connected.has(other.file)),
      );
      if (bench.isBroken) {
        problems.push({ file, message: 'not edited: it has syntax errors' });
        continue;
      }
      bench.run();
      inserted += bench.inserted;
      left.push(...bench.left());
      const edited = new Map(bench.files.map((other) => [other.file, other]));
      current = current.map((other) => edited.get(other.file) ?? other);
    } catch (error) {
      problems.push({ file, message: failed(error) });
    }
  }
  // What the analysis itself finds is settled as well, where it looks at a function without its callers.
  const fixed = fixAll(createSourceChecker(parser), current, {
    only: ({ file, code }) => missingOrders.has(code) && (!only || only.has(file)),
    ...(only ? { files: only } : {}),
  });
  for (const { file, range, code, message } of fixed.result.findings) {
    // A wait that does nothing is no missing order by itself.
    if (!missingOrders.has(code) || code === 'event-never-recorded' || (only && !only.has(file))) continue;
    const { line } = range.start;
    if (!left.some((other) => other.file === file && other.line === line)) left.push({ file, line, message });
  }
  return { files: fixed.files, inserted: inserted + fixed.applied, left, problems };
}

function failed(error: unknown): string {
  return `could not be analysed: ${error instanceof Error ? error.message : String(error)}`;
}

function ordersMissingIn(
  entries: readonly LoweredEntry[],
  examine: (path: LoweredPath) => readonly Hazard[] = ({ program }) => findHazards(program),
): readonly Report[] {
  const examined = entries.map(
    (entry): ExaminedEntry => ({ entry, hazards: entry.paths.map((path) => examine(path)) }),
  );
  return report(examined).filter(({ code }) => missingOrders.has(code));
}

/** Codes of a missing order, and of what stands in for one. */
const missingOrders: ReadonlySet<string> = new Set([
  'missing-wait',
  'write-after-read',
  'missing-record-stream',
  'unjoined-output',
  'backward-missing-sync',
  'collective-not-waited',
  'host-read-before-sync',
  'pinned-overwritten-in-flight',
  'reversed-wait',
  'event-never-recorded',
  'event-rerecorded',
  'late-record-stream',
]);

/** Every insertion settles a finding and brings none: their number bounds the rounds. This is for a file without end. */
const mostInsertions = 400;

class Bench {
  files: readonly SourceFile[];
  inserted = 0;
  readonly #parser: PythonParser;
  readonly #file: string;
  readonly #memory = new LoweringMemory(lowerAtWorst);
  #modules = new Map<string, Module>();
  readonly #hazards = new WeakMap<readonly Step[], readonly Hazard[]>();
  #reports: readonly Report[];
  #entries: readonly LoweredEntry[] = [];
  readonly #unplaced: { readonly line: number; readonly message: string }[] = [];

  constructor(parser: PythonParser, file: string, files: readonly SourceFile[]) {
    this.#parser = parser;
    this.#file = file;
    this.files = files;
    this.#reports = this.#analyse(files, this.#memory).reports;
  }

  get isBroken(): boolean {
    return (this.#modules.get(this.#file)?.errors.length ?? 0) > 0;
  }

  run(): void {
    this.#closeRegions();
    const hopeless = new Set<string>();
    for (let round = 0; round < mostInsertions; round++) {
      const next = this.#own().find((found) => !hopeless.has(keyOf(found)));
      if (!next) return;
      const edits = this.#fix(next);
      if (!edits) hopeless.add(keyOf(next));
      else {
        this.files = applyFileEdits(this.files, edits);
        this.inserted++;
        this.#reports = this.#analyse(this.files, this.#memory).reports;
        // Places have moved.
        hopeless.clear();
      }
    }
  }

  /** Work that the analysis does not see gets its order first: what it does see may then be in order as well. */
  #closeRegions(): void {
    const module = this.#modules.get(this.#file);
    if (!module) return;
    const edits: OffsetEdit[] = [];
    for (const region of openRegions(module, this.#placesSeen())) {
      if (region.edits && this.#parses(region.edits)) {
        edits.push(...region.edits);
        this.inserted += region.lacks === 'fork and join' ? 2 : 1;
      } else
        this.#unplaced.push({
          line: new LineMap(module.text).position(region.start).line,
          message: `what runs on \`${region.stream}\` here is not seen, and its ${region.lacks} found no place`,
        });
    }
    if (!edits.length) return;
    this.files = withEdits(this.files, edits);
    this.#reports = this.#analyse(this.files, this.#memory).reports;
  }

  #parses(edits: readonly OffsetEdit[]): boolean {
    return withEdits(this.files, edits).every(
      ({ file, text }) => file !== this.#file || this.#parser.parse(file, text).errors.length === 0,
    );
  }

  /** Whether a step comes from inside a call of the file. */
  #placesSeen(): (start: number, end: number) => boolean {
    const places = new Set<string>();
    for (const { paths } of this.#entries)
      for (const { program } of paths)
        for (const { origin: at } of program.steps) {
          const origin = program.origins[at];
          if (origin?.kind === 'source')
            for (const { file, start, end } of origin.frames) if (file === this.#file) places.add(`${start}:${end}`);
        }
    return (start, end) => places.has(`${start}:${end}`);
  }

  left(): LeftOrder[] {
    const module = this.#modules.get(this.#file);
    const lines = module && new LineMap(module.text);
    return [
      ...this.#unplaced.map((unplaced) => ({ file: this.#file, ...unplaced })),
      ...this.#own().map(({ file, start, message }) => ({ file, line: lines?.position(start).line ?? 0, message })),
    ];
  }

  /** Orders first: what a record_stream stands behind reads better. */
  #own(): Report[] {
    const own = this.#reports.filter(({ file }) => file === this.#file);
    const isLast = ({ code }: Report) => code === 'missing-record-stream';
    return [...own.filter((found) => !isLast(found)), ...own.filter(isLast)];
  }

  #fix(found: Report): readonly FileEdit[] | undefined {
    const fixes = verifiedFixes(found, {
      files: this.files,
      hazardsOf: (path) => this.#examine(path),
      propose: proposals,
      most: 1,
      analyse: (files): Trial => {
        const { reports, entries } = this.#analyse(files, this.#memory.fork());
        return { reports, entries, base: this.#reports };
      },
    });
    return fixes.find(({ edits }) => edits.every(({ file }) => file === this.#file))?.edits;
  }

  #analyse(
    files: readonly SourceFile[],
    memory: LoweringMemory,
  ): { readonly reports: readonly Report[]; readonly entries: readonly LoweredEntry[] } {
    const modules = files.map(({ file, text }) => {
      const known = this.#modules.get(file);
      return known?.text === text ? known : lazyModule(this.#parser, file, text);
    });
    if (memory === this.#memory) this.#modules = new Map(modules.map((module) => [module.file, module]));
    const entries = memory.lower(modules);
    if (memory === this.#memory) this.#entries = entries;
    return { reports: ordersMissingIn(entries, (path) => this.#examine(path)), entries };
  }

  #examine({ program }: LoweredPath): readonly Hazard[] {
    let hazards = this.#hazards.get(program.steps);
    if (!hazards) {
      hazards = findHazards(program);
      this.#hazards.set(program.steps, hazards);
    }
    return hazards;
  }
}

/** What a finding offers, then a join behind the work, then a host wait: that one needs no names. */
function proposals(found: Report, hazardsOf: (path: LoweredPath) => readonly Hazard[]): Candidate[] {
  return [...proposeFixes(found, hazardsOf), ...joinsBehind(found), ...hostWaits(found)];
}

/** Where it is the caller who goes on, the wait comes behind the work and not before the next use. */
function joinsBehind({ instances }: Report): Candidate[] {
  const [first] = instances;
  if (!first) return [];
  const { path } = first;
  const needs = needsOf(instances);
  const [need] = needs;
  if (!need) return [];
  return placesOf(path, need.first, 'after').flatMap((spot) => {
    const consumer = streamAt(spot, need.consumer) ?? currentStream(spot);
    const producers = needs.map(({ producer }) => streamAt(spot, producer));
    if (producers.some((producer) => producer === undefined || producer === consumer)) return [];
    const lines = producers.map((producer) => `${consumer}.wait_stream(${producer})`);
    return [
      {
        title: `Make ${spoken(consumer)} wait for ${producers.map((producer) => spoken(producer!)).join(' and ')}`,
        edits: withImports(spot, [put(spot, lines)]),
      },
    ];
  });
}

function hostWaits({ instances }: Report): Candidate[] {
  const [first] = instances;
  if (!first) return [];
  const { path, hazard } = first;
  const [earlier, later] =
    hazard.kind === 'order' || hazard.kind === 'host'
      ? [hazard.first, hazard.second]
      : hazard.kind === 'unjoined'
        ? [hazard.write, hazard.escape]
        : hazard.kind === 'lifetime'
          ? [hazard.use, hazard.release]
          : hazard.kind === 'reversed' || hazard.kind === 'rerecorded'
            ? (hazard.settles[0] ?? [])
            : [];
  if (earlier === undefined || later === undefined) return [];
  const spots = [...placesOf(path, later, 'before').slice(0, 2), ...placesOf(path, earlier, 'after').slice(0, 2)];
  return spots.map((spot) => ({
    title: 'Make the host wait for the device (synchronize)',
    edits: withImports(spot, [put(spot, [`${spot.activation.torchName ?? 'torch'}.cuda.synchronize()`])]),
  }));
}

/** Entries of an earlier run are handed out again, and are at their worst already. */
const atWorst = new WeakSet<readonly Step[]>();

function lowerAtWorst(modules: readonly Module[], options: LowerOptions): readonly LoweredEntry[] {
  return lower(modules, options).map((entry) => ({
    ...entry,
    paths: entry.paths.map((path) => {
      if (atWorst.has(path.program.steps)) return path;
      const worst = withCaller(path, entry.name !== '<module>');
      atWorst.add(worst.program.steps);
      return worst;
    }),
  }));
}

/**
 * What a caller can be expected to do with what an entry had of it and gave it: it goes on with the tensors it passed,
 * and it uses what it got and drops it, while the stream that made it is given new work.
 */
function withCaller(path: LoweredPath, isCalled: boolean): LoweredPath {
  const worst = worstCase(path.program);
  // That a call comes long after the one before it is what the analysis takes for granted between methods.
  const steps = worst.steps.map((step) =>
    step.kind === 'hostWait' && step.implicit && step.on.kind === 'device' ? nothing(step) : step,
  );
  const program = { ...worst, steps };
  const { blocks } = program;
  if (!isCalled) return { ...path, program };
  const later: Step[] = [];
  const madeBefore = new Map<number, number>();
  const touched = new Map<number, Step>();
  const gone = new Set<number>();
  const dropped = new Set<number>();
  for (const step of steps) {
    if (step.kind === 'launch')
      for (const { block } of step.accesses)
        if (step.before) madeBefore.set(block, step.stream);
        else if (step.stream !== madeBefore.get(block)) touched.set(block, step);
    if (step.kind === 'release') gone.add(step.block);
  }
  for (const [block, stream] of madeBefore) {
    const last = touched.get(block);
    if (!last || gone.has(block) || !blocks[block]!.evidence || blocks[block]!.memory !== 'device') continue;
    const { thread, origin } = last;
    later.push({
      kind: 'launch',
      stream,
      name: "the caller's later work",
      accesses: [{ block, write: true }],
      thread,
      origin,
    });
  }
  for (const step of steps) {
    if (step.kind !== 'escape' || step.how !== 'return') continue;
    const { block, stream, thread, origin } = step;
    const made = blocks[block]!.stream;
    if (made === undefined || made === stream || gone.has(block) || dropped.has(block)) continue;
    if (madeBefore.has(block)) continue;
    dropped.add(block);
    later.push(
      { kind: 'launch', stream, name: "the caller's work", accesses: [{ block, write: false }], thread, origin },
      { kind: 'release', block, how: 'scope', thread, origin },
      { kind: 'outside', stream: made, thread, origin },
    );
  }
  if (!later.length) return { ...path, program };
  const open = path.activations.map((activation) => ({
    ...activation,
    // The names of the call are those that it ends with.
    bindings: activation.bindings.map((binding) => {
      if (binding.until === undefined || binding.until < steps.length) return binding;
      const { until: _, ...rest } = binding;
      return rest;
    }),
  }));
  return { ...path, activations: open, program: { ...program, steps: [...steps, ...later] } };
}
