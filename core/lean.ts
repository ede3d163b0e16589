/**
 * Which waits, synchronizations and record_stream calls of a program can go without a race, each with the order that
 * remains. A call is taken out of every path that executes it, and the engine looks for a race in what is left, at its
 * worst (spareSubject.ts); where none comes up, there still must be a reason that can be told (spareProofs.ts). All that are
 * listed can go together: each is judged without the ones before it.
 *
 * Silence is never a proof. Where an entry was not executed to its end, where code runs in between that nobody sees, in a
 * graph capture, with several host threads, or next to a clock, nothing is listed.
 */
import { LineMap, type Range } from './base/text.ts';
import type { SourceFile } from './checkSource.ts';
import type { Hazard } from './hazards/hazard.ts';
import { lower } from './lower/lower.ts';
import type { LoweredEntry, LoweredPath } from './lower/lowered.ts';
import type { SourceFrame, Step, StepIndex, StreamId } from './program/program.ts';
import type { Module } from './python/ast.ts';
import { lazyModule } from './python/lazy.ts';
import type { PythonParser } from './python/parse.ts';
import type { Problem } from './rules/finding.ts';
import { blocksAround, statementOf } from './rules/fixes/blocks.ts';
import { compareText } from './rules/report.ts';
import { awaitedBy, type Proof, unrecorded, unwaited } from './spareProofs.ts';
import { type Found, frameOf, racesIn, type Subject, subjectOf, without } from './spareSubject.ts';
import { nothing } from './worstCase.ts';

export interface SpareCall {
  readonly file: string;
  readonly range: Range;
  readonly kind: 'wait' | 'synchronize' | 'record_stream';
  /** The call as it is written. */
  readonly call: string;
  /** Why it can go, as one line that stands alone. */
  readonly proof: string;
  /** The calls that make the order that remains. */
  readonly remains: readonly { readonly file: string; readonly range: Range; readonly call: string }[];
}

export interface LeanResult {
  /** By file and place. */
  readonly calls: readonly SpareCall[];
  readonly problems: readonly Problem[];
}

export function spareCalls(parser: PythonParser, files: readonly SourceFile[]): LeanResult {
  const modules = files.map(({ file, text }) => lazyModule(parser, file, text));
  const problems: Problem[] = [];
  let entries: readonly LoweredEntry[] = [];
  try {
    entries = lower(modules);
  } catch (error) {
    const message = `could not be analysed: ${error instanceof Error ? error.message : String(error)}`;
    for (const { file } of files) problems.push({ file, message });
  }
  for (const { file, name, fault } of entries)
    if (fault !== undefined) problems.push({ file, message: `${name} could not be analysed completely: ${fault}` });
  return { calls: new Search(modules, entries).run(), problems };
}

/** One statement that may go, with its executions. */
interface Candidate extends SourceFrame {
  readonly kind: SpareCall['kind'];
  readonly uses: Map<Subject, StepIndex[]>;
  /** An entry that runs through it was not executed to its end. */
  unsure: boolean;
}

class Search {
  readonly #modules: ReadonlyMap<string, Module>;
  readonly #lines = new Map<string, LineMap>();
  readonly #candidates = new Map<string, Candidate>();

  constructor(modules: readonly Module[], entries: readonly LoweredEntry[]) {
    this.#modules = new Map(modules.map((module) => [module.file, module]));
    for (const entry of entries) for (const path of entry.paths) this.#collect(entry, path);
  }

  run(): SpareCall[] {
    const found: SpareCall[] = [];
    for (const candidate of inOrder([...this.#candidates.values()])) {
      const spare = candidate.unsure ? undefined : this.#try(candidate);
      if (spare) found.push(spare);
    }
    return found.sort(
      (a, b) =>
        compareText(a.file, b.file) ||
        a.range.start.line - b.range.start.line ||
        a.range.start.character - b.range.start.character,
    );
  }

  #collect(entry: LoweredEntry, path: LoweredPath): void {
    let subject: Subject | undefined;
    path.program.steps.forEach((step, at) => {
      const kind = kindOf(step);
      const frame = kind && frameOf(path.program, at);
      if (!kind || !frame) return;
      subject ??= subjectOf(entry, path);
      const key = `${frame.start}:${frame.end}:${frame.file}`;
      let candidate = this.#candidates.get(key);
      if (!candidate) {
        candidate = { ...frame, kind, uses: new Map(), unsure: false };
        this.#candidates.set(key, candidate);
      }
      const uses = candidate.uses.get(subject);
      if (uses) uses.push(at);
      else candidate.uses.set(subject, [at]);
      if (!subject.decides || entry.truncated || entry.fault !== undefined || candidate.kind !== kind)
        candidate.unsure = true;
    });
  }

  #try(candidate: Candidate): SpareCall | undefined {
    const module = this.#modules.get(candidate.file);
    const [subject] = candidate.uses.keys();
    if (!module || !subject || !isWholeStatement(module, subject, candidate)) return undefined;
    const tried: { subject: Subject; left: Found; gone: readonly StepIndex[] }[] = [];
    let proof: Proof | undefined;
    let proved: Subject | undefined;
    for (const [subject, gone] of candidate.uses) {
      if (candidate.kind === 'synchronize' && timesSomething(subject.path, gone)) return undefined;
      if (isEntangled(subject, gone)) return undefined;
      const program = without(subject, gone);
      const left = racesIn(program);
      if ([...left.races.keys()].some((key) => !subject.found.races.has(key))) return undefined;
      const proofs = gone.map((at) =>
        candidate.kind === 'record_stream' ? unrecorded(subject, at) : unwaited(subject, program, left, gone, at),
      );
      if (proofs.some((one) => !one)) return undefined;
      if (!proof) {
        proof = proofs[0];
        proved = subject;
      }
      tried.push({ subject, left, gone });
    }
    if (!proof || !proved) return undefined;
    for (const { subject, left, gone } of tried) {
      for (const at of gone) subject.steps[at] = nothing(subject.steps[at]!);
      subject.found = left;
    }
    const remains = proof.by.flatMap((at) => {
      const place = frameOf(proved!.path.program, at);
      const holder = place && this.#modules.get(place.file);
      if (!place || !holder) return [];
      return [
        {
          file: place.file,
          range: this.#range(holder, place),
          call: oneLine(holder.text.slice(place.start, place.end)),
        },
      ];
    });
    const where = remains.map(({ call, range, file }) => {
      const other = file === candidate.file ? '' : ` of ${file.split('/').at(-1)}`;
      return `\`${call}\` at line ${range.start.line + 1}${other}`;
    });
    return {
      file: candidate.file,
      range: this.#range(module, candidate),
      kind: candidate.kind,
      call: oneLine(module.text.slice(candidate.start, candidate.end)),
      proof: proof.text.replace('%', [...new Set(where)].join(' and ')),
      remains,
    };
  }

  #range(module: Module, { start, end }: { start: number; end: number }): Range {
    let lines = this.#lines.get(module.file);
    if (!lines) {
      lines = new LineMap(module.text);
      this.#lines.set(module.file, lines);
    }
    return { start: lines.position(start), end: lines.position(end) };
  }
}

/**
 * What costs the host comes first, what costs the allocator next; within a kind the later call first, so that the order
 * that remains is an earlier one.
 */
function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const rank = { synchronize: 0, record_stream: 1, wait: 2 };
  return [...candidates].sort(
    (a, b) => rank[a.kind] - rank[b.kind] || compareText(a.file, b.file) || b.start - a.start,
  );
}

function kindOf(step: Step): SpareCall['kind'] | undefined {
  if (step.kind === 'wait') return step.implicit ? undefined : 'wait';
  if (step.kind === 'hostWait') return step.implicit ? undefined : 'synchronize';
  return step.kind === 'recordStream' ? 'record_stream' : undefined;
}

/** Whether the call is all of its statement: what else uses its value needs it. */
function isWholeStatement(module: Module, { path }: Subject, call: SourceFrame): boolean {
  const root = path.activations[call.activation]?.function ?? module;
  const link = blocksAround(root, call).at(-1);
  const statement = link && statementOf(link);
  return statement?.kind === 'ExpressionStatement' && statement.start === call.start && statement.end === call.end;
}

/** Where an order is missing already, nobody can tell what else it would have needed. */
function isEntangled(subject: Subject, gone: readonly StepIndex[]): boolean {
  const { own, steps, found } = subject;
  const touched = new Set<StreamId>();
  let everything = false;
  for (const at of gone) {
    const step = steps[at]!;
    if (step.kind === 'wait') {
      touched.add(step.stream);
      const awaited = awaitedBy(steps, at);
      if (awaited !== undefined) touched.add(awaited);
    } else everything = true;
  }
  for (const hazard of found.races.values()) {
    const [second, streams] = sidesOf(hazard);
    if (second >= own) continue;
    if (everything || streams.some((stream) => touched.has(stream))) return true;
  }
  return false;
}

function sidesOf(hazard: Hazard): [second: StepIndex, streams: readonly StreamId[]] {
  switch (hazard.kind) {
    case 'order':
      return [hazard.second, [hazard.firstStream, hazard.secondStream]];
    case 'host':
      return [hazard.second, [hazard.firstStream]];
    case 'unjoined':
      return [hazard.escape, [hazard.writeStream, hazard.escapeStream]];
    case 'lifetime':
      return [hazard.reuse, [hazard.useStream, hazard.allocatedOn]];
    default:
      return [Number.POSITIVE_INFINITY, []];
  }
}

const clock =
  /\b(time|perf_counter\w*|monotonic\w*|process_time\w*|timeit|elapsed_time|[Tt]imer|profiler?|benchmark\w*)\b/;

/** Whether one of the functions that lead to the call reads a clock: what it measures is what the call is for. */
function timesSomething(path: LoweredPath, gone: readonly StepIndex[]): boolean {
  return gone.some((at) => {
    const origin = path.program.origins[path.program.steps[at]!.origin];
    return (
      origin?.kind === 'source' &&
      origin.frames.some(({ activation }) => {
        const { module, function: definition } = path.activations[activation]!;
        const { start, end } = definition ?? module;
        return clock.test(module.text.slice(start, end));
      })
    );
  });
}

function oneLine(source: string): string {
  return source.replace(/\s*\n\s*/g, ' ');
}
