/**
 * Python syntax → stream programs: picks the entries, executes each path by path, flips one decision at a time within a
 * budget of steps. Knows nothing of hazards: which of these programs is wrong is the engine's to say.
 */
import type { Import, ImportFrom, Module, Node, Statement } from '../python/ast.ts';
import {
  commonFolder,
  type FunctionEntry,
  functionsOf,
  isTestFile,
  mentionsStreams,
  namesMentioned,
  reaching,
  saysStreams,
} from './entries.ts';
import { Workspace } from './imports.ts';
import { OutOfBudget, Raised } from './interpreter/frame.ts';
import { Machine } from './interpreter/machine.ts';
import { runFunctionEntry, runModuleEntry } from './interpreter/run.ts';
import { walk } from './names.ts';
import type { LoweredEntry, LoweredPath } from './lowered.ts';

export interface LowerOptions {
  /** Statements and calls that one path may execute. */
  readonly stepsPerPath?: number;
  /** … and all paths of one entry together. */
  readonly stepsPerEntry?: number;
  readonly pathsPerEntry?: number;
  /** Emit the end of every block, for showing memory; otherwise only of blocks that several streams used. */
  readonly everyRelease?: boolean;
  /** The oldest PyTorch that the modules have to work with, as `2.4` or `2.4.1`. Left out: not known. */
  readonly torchVersion?: string;
  /** Told what each entry cost; for benches. */
  readonly observe?: (name: string, file: string, paths: number, spent: number) => void;
  /**
   * An earlier result of an entry that holds for these modules, with its places in them. `reach` names the functions
   * that have to do with streams, as `file#name`: with another `reach`, calls may be followed that were not.
   */
  readonly reuse?: (name: string, file: string, reach: ReadonlySet<string>) => LoweredEntry | undefined;
}

const defaults = { stepsPerPath: 8_000, stepsPerEntry: 20_000, pathsPerEntry: 16 };
/**
 * Paths of an entry in which nothing but one stream shows, where it says that it is about streams, and where not. Where
 * nothing at all is done, one path tells enough.
 */
const dullPaths = 4;
const silentPaths = 2;
/** Paths of an entry without a word of streams: what it calls has most of the tests that matter. */
const callerPaths = 10;
/** Paths for decisions that functions without a word of streams take. */
const farPaths = 4;
/** Up to so many entries each has its full budget of steps; in a larger run it shrinks with their number. */
const entriesInFull = 256;
const leastSteps = 4_000;

export function lower(modules: readonly Module[], options: LowerOptions = {}): LoweredEntry[] {
  const limits = { ...defaults, ...options };
  const finder = new Workspace(modules);
  const relevant = relevantModules(modules, finder);
  const reach = reaching(relevant, (module) => importsOf(module, finder));
  const workspace = new Workspace(modules, reach.concerns);
  const entries: LoweredEntry[] = [];
  /** Functions that some caller's run went through. */
  const judged = new Set<string>();

  let reached: ReadonlySet<string> | undefined;
  const signature = (): ReadonlySet<string> => {
    reached ??= new Set(
      relevant.flatMap((module) =>
        functionsOf(module)
          .filter(({ node }) => reach.functions.has(node))
          .map(({ name }) => `${module.file}#${name}`),
      ),
    );
    return reached;
  };

  const run = (name: string, module: Module, node: Node, start: (m: Machine) => void): void => {
    const known = options.reuse?.(name, module.file, signature());
    const lowered = known
      ? { ...known, spent: 0 }
      : lowerEntry(workspace, name, module.file, start, limits, saysStreams(node, module));
    for (const place of lowered.judges ?? []) judged.add(place);
    options.observe?.(name, module.file, lowered.paths.length, lowered.spent);
    entries.push(lowered);
  };

  const root = commonFolder(modules.map((module) => module.file));
  const tests = new Set(modules.filter((module) => isTestFile(module.file, root)));
  const onlyTests = tests.size === modules.length;
  const isTest = (module: Module): boolean => !onlyTests && tests.has(module);
  const functions = relevant.flatMap((module) => functionsOf(module));
  const waiting = functions.filter(
    (entry) => reach.functions.has(entry.node) && isEntry(entry) && !isTest(entry.module),
  );
  limits.stepsPerEntry = stepsPerEntry(limits.stepsPerEntry, waiting.length);
  for (const module of relevant) {
    if (isTest(module)) continue;
    run('<module>', module, module, (m) => runModuleEntry(m, module));
  }
  // Callers first: what they run through is judged with them.
  const called = new Set<string>();
  for (const entry of waiting) for (const name of namesMentioned(entry.node, entry.module)) called.add(name);
  const first = waiting.filter((entry) => !called.has(entry.node.name));
  const rest = waiting.filter((entry) => called.has(entry.node.name));
  for (const entry of [...first, ...rest]) {
    const place = `${entry.module.file}#${entry.node.start}`;
    if (judged.has(place)) continue;
    run(entry.name, entry.module, entry.node, (m) => runFunctionEntry(m, entry));
    judged.add(place);
  }
  return entries;
}

/** Modules of the run that a module imports, anywhere in it. */
function importsOf(module: Module, workspace: Workspace): readonly Module[] {
  const found = new Set<Module>();
  const add = (name: string, level: number): void => {
    const other = workspace.find(module, name, level);
    if (other && other !== module) found.add(other);
  };
  for (const statement of module.body) for (const [name, level] of importedIn(statement)) add(name, level);
  return [...found];
}

type Imported = readonly [name: string, level: number];

/** By the statement: what an edit left as it was is not walked again. */
const imported = new WeakMap<Statement, readonly Imported[]>();

function importedIn(statement: Statement): readonly Imported[] {
  const known = imported.get(statement);
  if (known) return known;
  const names: Imported[] = [];
  walk(statement, (node) => {
    if (node.kind === 'Import') for (const alias of (node as unknown as Import).names) names.push([alias.name, 0]);
    else if (node.kind === 'ImportFrom') {
      const { module, level, names: aliases } = node as unknown as ImportFrom;
      names.push([module, level]);
      for (const alias of aliases) names.push([module === '' ? alias.name : `${module}.${alias.name}`, level]);
    }
    return true;
  });
  imported.set(statement, names);
  return names;
}

/** Modules with a word of streams, and those that use what such a module defines. */
function relevantModules(modules: readonly Module[], workspace: Workspace): readonly Module[] {
  const said = new Set(modules.filter((module) => mentionsStreams(module.text)));
  const names = new Map<Module, readonly string[]>();
  for (const module of said)
    names.set(
      module,
      functionsOf(module)
        .filter((entry) => saysStreams(entry.node, module))
        .map((entry) => entry.owner?.name ?? entry.node.name),
    );
  return modules.filter(
    (module) =>
      said.has(module) ||
      (/\bimport\b/.test(module.text) &&
        importsOf(module, workspace).some((other) => names.get(other)?.some((name) => module.text.includes(name)))),
  );
}

function isEntry(entry: FunctionEntry): boolean {
  const name = entry.node.name;
  if (/^__(init|call|iter|next|enter|exit|getitem|len|setattr|del)__$/.test(name)) return name !== '__del__';
  return true;
}

interface Limits {
  readonly stepsPerPath: number;
  readonly stepsPerEntry: number;
  readonly pathsPerEntry: number;
  readonly everyRelease?: boolean;
}

/**
 * What one of so many entries may spend. It halves with each doubling of their number, so that one entry more or less
 * hardly ever changes what is found in the others.
 */
function stepsPerEntry(full: number, entries: number): number {
  let steps = full;
  for (let most = entriesInFull; most < entries && steps > leastSteps; most *= 2) steps /= 2;
  return Math.max(Math.min(full, leastSteps), Math.floor(steps));
}

function lowerEntry(
  workspace: Workspace,
  name: string,
  file: string,
  start: (m: Machine) => void,
  limits: Limits,
  says: boolean,
): LoweredEntry & { readonly spent: number } {
  const paths: LoweredPath[] = [];
  const dependsOn = new Set<string>([file]);
  const judges = new Set<string>();
  const tried = new Set<string>(['']);
  const queue: ReadonlySet<string>[] = [new Set()];
  const far: ReadonlySet<string>[] = [];
  let farLeft = farPaths;
  let dull = true;
  let idle = true;
  let budget = limits.stepsPerEntry;
  let truncated = false;
  let fault: string | undefined;
  for (;;) {
    const plan = queue.shift() ?? (farLeft-- > 0 ? far.shift() : undefined);
    if (!plan) {
      truncated ||= far.length > 0;
      break;
    }
    const most =
      paths.length > 0 && dull
        ? says
          ? dullPaths
          : idle
            ? 1
            : silentPaths
        : says
          ? limits.pathsPerEntry
          : callerPaths;
    if (paths.length >= Math.min(most, limits.pathsPerEntry) || budget <= 0) {
      truncated = true;
      break;
    }
    const allowance = paths.length === 0 ? limits.stepsPerPath : Math.min(limits.stepsPerPath, budget);
    const m = new Machine(workspace, plan, allowance, limits.everyRelease);
    try {
      start(m);
    } catch (error) {
      if (error instanceof OutOfBudget) truncated = true;
      else if (error instanceof Raised) m.cutShort();
      else {
        // A fault of the analysis ends this path; the other entries do not suffer from it.
        truncated = true;
        m.cutShort();
        fault ??= error instanceof Error ? error.message : String(error);
      }
    }
    budget -= allowance - Math.max(0, m.budgetLeft);
    for (const place of m.touched) dependsOn.add(place);
    for (const place of m.judged) judges.add(place);
    dull &&= m.builder.dull;
    idle &&= m.builder.idle;
    paths.push(m.finish());
    for (const decision of m.decisions.made) {
      if (!decision.open || plan.has(decision.key)) continue;
      const next = new Set([...plan, decision.key]);
      if (next.size > 2) continue;
      const key = [...next].sort().join('\n');
      if (tried.has(key)) continue;
      tried.add(key);
      (decision.near ? queue : far).push(next);
    }
  }
  return {
    name,
    file,
    paths,
    truncated,
    dependsOn: [...dependsOn],
    judges: [...judges],
    ...(fault === undefined ? {} : { fault }),
    spent: limits.stepsPerEntry - budget,
  };
}
