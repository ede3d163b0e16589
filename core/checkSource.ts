/**
 * The source pipeline: texts → syntax → stream programs → hazards → findings with fixes. Used alike by the language
 * server and the command line, so that the same program gets the same findings from both.
 *
 * Here is only how the parts are put together and what is kept between two checks. An internal fault of one part becomes
 * a problem of the file at hand and never stops the rest.
 */
import { LineMap, type Range } from './base/text.ts';
import { connectedFiles } from './connectedFiles.ts';
import { type Examination, examine } from './hazards/find.ts';
import type { Hazard } from './hazards/hazard.ts';
import { type LowerOptions, lower as lowerModules } from './lower/lower.ts';
import type { LoweredEntry, LoweredPath, Open } from './lower/lowered.ts';
import type { Module } from './python/ast.ts';
import type { Step } from './program/program.ts';
import { lazyModule } from './python/lazy.ts';
import type { PythonParser } from './python/parse.ts';
import { LoweringMemory } from './reuse.ts';
import type { Finding, Fix, Problem } from './rules/finding.ts';
import { type Analysis, type Trial, verifiedFixes } from './rules/fixes/verify.ts';
import { functionNameAt, isBrokenIn, keepLastGood, type RanThrough, type Shown } from './rules/last-good.ts';
import { type ExaminedEntry, type Place, type Report, report } from './rules/report.ts';
import { silenceIn } from './rules/silence.ts';

export interface SourceFile {
  /** Key of the file in findings: an absolute path or a URI. */
  readonly file: string;
  readonly text: string;
}

export interface CheckOptions {
  /** Compute fixes with the findings. Each offered fix is re-analysed. The server asks for them later, one by one. */
  readonly fixes: boolean;
  /** The oldest PyTorch that the files have to work with, as `2.4` or `2.4.1`. Left out: not known. */
  readonly torchVersion?: string;
}

export interface CheckResult {
  /** Sorted by file and place; the same input gives the same findings. */
  readonly findings: readonly Finding[];
  readonly problems: readonly Problem[];
  /** How many more findings a baseline knows already. */
  readonly known?: number;
}

export interface SourceChecker {
  /** Replaces the set of files. Unchanged texts are not parsed again; unchanged functions are not executed again. */
  check(files: readonly SourceFile[], options: CheckOptions): CheckResult;
  /**
   * Fixes of one finding of the last check, best first. Only fixes that remove the finding and add none. `inBatch`: one of
   * all findings of the check, which get fewer alternatives, and none any more when their common budget is spent.
   */
  fixesFor(finding: Finding, inBatch?: boolean): readonly Fix[];
}

/** Alternatives that each of many findings gets. */
const mostInBatch = 2;
/** Statements and calls that trials of the fixes of one check may execute: a large program with many findings ends in time. */
const stepsInBatch = 1_500_000;

/** core/lower's entry point: the stream programs of a set of modules. */
export type Lower = (modules: readonly Module[], options?: LowerOptions) => readonly LoweredEntry[];

interface ParsedFile {
  readonly text: string;
  readonly module: Module;
}

export function createSourceChecker(parser: PythonParser, lower: Lower = lowerModules): SourceChecker {
  return new Checker(parser, lower);
}

class Checker implements SourceChecker {
  readonly #parser: PythonParser;
  readonly #lower: Lower;
  /** What the last check found out about functions. */
  #checked: LoweringMemory;
  #torchVersion: string | undefined;
  /** Statements and calls executed so far, and how many of them were for fixes of the last check. */
  #spent = 0;
  #spentInBatch = 0;
  /** Reports of a file and what is connected with it, by file; of the last check. */
  #alone: Map<string, readonly Report[]> | undefined;
  #parsed = new Map<string, ParsedFile>();
  #shown = new Map<string, Shown>();
  #reports = new Map<string, Report>();
  /** What a finding was made of, as long as it is shown. */
  readonly #causes = new WeakMap<Finding, Report>();
  #files: readonly SourceFile[] = [];
  /** By the steps: a path that only moved in the text keeps them. */
  readonly #examined = new WeakMap<readonly Step[], Examination>();
  readonly #lines = new WeakMap<Module, LineMap>();

  constructor(parser: PythonParser, lower: Lower) {
    this.#parser = parser;
    this.#lower = (modules, given) =>
      lower(modules, {
        ...given,
        ...(this.#torchVersion === undefined ? {} : { torchVersion: this.#torchVersion }),
        observe: (_name, _file, _paths, spent) => {
          this.#spent += spent;
        },
      });
    this.#checked = new LoweringMemory(this.#lower);
  }

  check(files: readonly SourceFile[], options: CheckOptions): CheckResult {
    if (options.torchVersion !== this.#torchVersion) {
      // The same call may do other things in another version: nothing that was executed stands.
      this.#torchVersion = options.torchVersion;
      this.#checked = new LoweringMemory(this.#lower);
    }
    const parsed = new Map<string, ParsedFile>();
    for (const { file, text } of files) parsed.set(file, this.#parse(file, text));
    const earlier = this.#parsed;
    this.#parsed = parsed;
    this.#files = files;
    this.#alone = undefined;
    this.#spentInBatch = 0;
    const { reports, problems } = this.#analyse(
      [...parsed.values()].map(({ module }) => module),
      this.#checked,
    );
    this.#reports = new Map();
    const byFile = new Map<string, Finding[]>();
    for (const found of reports) {
      const finding = this.#finding(found);
      if (!finding) continue;
      this.#reports.set(keyOfFinding(finding), found);
      this.#causes.set(finding, found);
      const list = byFile.get(found.file);
      if (list) list.push(finding);
      else byFile.set(found.file, [finding]);
    }
    const shown = new Map<string, Shown>();
    const findings: Finding[] = [];
    for (const file of [...new Set([...byFile.keys(), ...this.#shown.keys()])].sort(compareText)) {
      const module = parsed.get(file)?.module;
      if (!module) continue;
      const silence = silenceIn(module.text);
      const all = this.#withLastGood(module, byFile.get(file) ?? [], earlier.get(file)?.module)
        .filter((finding) => !silence.covers(finding.range.start.line, finding.code))
        .sort(compareFindings);
      if (all.length) shown.set(file, { module, findings: all });
      findings.push(...all);
    }
    this.#shown = shown;
    if (!options.fixes) return { findings, problems };
    return { findings: findings.map((finding) => ({ ...finding, fixes: this.fixesFor(finding, true) })), problems };
  }

  #withLastGood(now: Module, fresh: readonly Finding[], earlier: Module | undefined): Finding[] {
    return keepLastGood({
      before: this.#shown.get(now.file) ?? (earlier && { module: earlier, findings: [] }),
      now,
      fresh,
      ranThrough: (finding) => {
        const cause = this.#causes.get(finding);
        return cause ? functionsThrough(cause) : [];
      },
      isBroken: ({ file, name }) => {
        const module = this.#parsed.get(file)?.module;
        return module !== undefined && isBrokenIn(module, name);
      },
      carried: (finding, before) => {
        const cause = this.#causes.get(before);
        if (cause) this.#causes.set(finding, cause);
      },
    });
  }

  fixesFor(finding: Finding, inBatch = false): readonly Fix[] {
    const found = this.#reports.get(keyOfFinding(finding));
    if (!found || (inBatch && this.#spentInBatch > stepsInBatch)) return [];
    const before = this.#spent;
    try {
      return verifiedFixes(found, {
        files: this.#files,
        ...(inBatch ? { most: mostInBatch } : {}),
        hazardsOf: (path) => this.#examine(path),
        analyse: (files) => this.#try(files, found.file),
      });
    } catch {
      // A fix that cannot be worked out is not offered.
      return [];
    } finally {
      if (inBatch) this.#spentInBatch += this.#spent - before;
    }
  }

  /**
   * Other texts, next to those of the last check. An edit inside of a function runs again what ran through it; any other
   * is tried on the files that are connected by imports, and compared with these alone.
   */
  #try(files: readonly SourceFile[], edited: string): Trial {
    const modulesOf = (some: readonly SourceFile[]) => some.map(({ file, text }) => this.#parse(file, text).module);
    const memory = this.#checked.fork();
    const modules = modulesOf(files);
    if (memory.covers(modules)) return { ...this.#analyse(modules, memory), base: [...this.#reports.values()] };
    const connected = connectedFiles(modulesOf(this.#files), edited);
    const some = (all: readonly SourceFile[]) => all.filter(({ file }) => connected.has(file));
    this.#alone ??= new Map();
    let base = this.#alone.get(edited);
    if (!base) {
      base = this.#analyse(modulesOf(some(this.#files)), new LoweringMemory(this.#lower)).reports;
      this.#alone.set(edited, base);
    }
    return { ...this.#analyse(modulesOf(some(files)), new LoweringMemory(this.#lower)), base };
  }

  #parse(file: string, text: string): ParsedFile {
    const known = this.#parsed.get(file);
    if (known && known.text === text) return known;
    return { text, module: lazyModule(this.#parser, file, text, known !== undefined) };
  }

  #analyse(modules: readonly Module[], memory: LoweringMemory): Analysis & { readonly problems: Problem[] } {
    const problems: Problem[] = [];
    const examined: ExaminedEntry[] = [];
    for (const entry of this.#lowerAll(modules, memory, problems)) {
      if (entry.fault !== undefined) problems.push({ file: entry.file, message: incomplete(entry.name, entry.fault) });
      try {
        examined.push({ entry, hazards: entry.paths.map((path) => this.#examine(path)) });
      } catch (error) {
        problems.push({ file: entry.file, message: `${entry.name} could not be analysed: ${messageOf(error)}` });
      }
    }
    return { reports: this.#report(examined, problems), entries: examined.map(({ entry }) => entry), problems };
  }

  #report(examined: readonly ExaminedEntry[], problems: Problem[]): Report[] {
    try {
      return report(examined);
    } catch {
      const sound = examined.filter((one) => {
        try {
          report([one]);
          return true;
        } catch (error) {
          const { file, name } = one.entry;
          problems.push({ file, message: `what was found in ${name} could not be told: ${messageOf(error)}` });
          return false;
        }
      });
      return report(sound);
    }
  }

  #lowerAll(
    modules: readonly Module[],
    memory: LoweringMemory | undefined,
    problems: Problem[],
  ): readonly LoweredEntry[] {
    try {
      const leavesOpen = (entry: LoweredEntry) => this.#leavesOpen(entry);
      return memory ? memory.lower(modules, leavesOpen) : this.#lower(modules, { leavesOpen });
    } catch (error) {
      if (modules.length === 1) {
        problems.push({ file: modules[0]!.file, message: `could not be analysed: ${messageOf(error)}` });
        return [];
      }
      // Without its neighbours each file still gets its own findings.
      return modules.flatMap((module) => this.#lowerAll([module], undefined, problems));
    }
  }

  #leavesOpen({ paths }: LoweredEntry): Open {
    let isElsewhere = false;
    for (const path of paths) {
      try {
        const { hazards, open, elsewhere, stages } = this.#examination(path);
        isElsewhere ||= elsewhere;
        if (open || hazards.length > 0 || (stages && path.activations.some(({ module }) => pins(module.text))))
          return 'to callers';
      } catch {
        // Told as a problem when the entry is examined for its own sake.
      }
    }
    return isElsewhere ? 'to programs' : 'no';
  }

  #examine(path: LoweredPath): readonly Hazard[] {
    return this.#examination(path).hazards;
  }

  #examination({ program }: LoweredPath): Examination {
    let examination = this.#examined.get(program.steps);
    if (!examination) {
      examination = examine(program);
      this.#examined.set(program.steps, examination);
    }
    return examination;
  }

  #finding(found: Report): Finding | undefined {
    const range = this.#range(found);
    if (!range) return undefined;
    return {
      file: found.file,
      range,
      code: found.code,
      severity: found.severity,
      certainty: found.certainty,
      message: found.message,
      related: found.related.flatMap((place) => {
        const where = this.#range(place);
        return where ? [{ file: place.file, range: where, message: place.message }] : [];
      }),
      fixes: [],
    };
  }

  #range({ file, start, end }: Place): Range | undefined {
    const module = this.#parsed.get(file)?.module;
    if (!module) return undefined;
    let lines = this.#lines.get(module);
    if (!lines) {
      lines = new LineMap(module.text);
      this.#lines.set(module, lines);
    }
    return { start: lines.position(start), end: lines.position(end) };
  }
}

const through = new WeakMap<Report, readonly RanThrough[]>();

/** Whether a text makes pinned memory, which whoever gets it out of a container does not see. */
function pins(text: string): boolean {
  return /\bpin_memory\b/.test(text);
}

/** The functions that the paths of a report ran through, each once. */
function functionsThrough(cause: Report): readonly RanThrough[] {
  const known = through.get(cause);
  if (known) return known;
  const found = new Map<string, RanThrough>();
  for (const { path } of cause.instances)
    for (const { module, function: f } of path.activations) {
      const { file } = module;
      const name = f && functionNameAt(module, f.start);
      found.set(`${file}#${name ?? ''}`, { file, name });
    }
  const all = [...found.values()];
  through.set(cause, all);
  return all;
}

function keyOfFinding({ file, code, range: { start, end } }: Finding): string {
  return `${code}:${start.line}:${start.character}:${end.line}:${end.character}:${file}`;
}

function compareFindings(a: Finding, b: Finding): number {
  return (
    a.range.start.line - b.range.start.line ||
    a.range.start.character - b.range.start.character ||
    a.range.end.line - b.range.end.line ||
    a.range.end.character - b.range.end.character ||
    compareText(a.code, b.code)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function incomplete(name: string, fault: string): string {
  const subject = name === '<module>' ? 'the module code' : name;
  return `${subject} could not be analysed completely: ${fault}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
