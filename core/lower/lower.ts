/**
 * Python syntax → stream programs: picks the entries, executes each path by path, flips one decision at a time within a
 * budget of steps. Knows nothing of hazards: which of these programs is wrong is the engine's to say.
 */
import type { Module, Node } from '../python/ast.ts';
import { CallerSearch } from './callers.ts';
import {
  commonFolder,
  type FunctionEntry,
  functionsOf,
  isStaticForward,
  isTestFile,
  namesMentioned,
  reaching,
  saysStreams,
} from './entries.ts';
import { ImportGraph } from './importGraph.ts';
import { Workspace } from './imports.ts';
import { OutOfBudget, Raised } from './interpreter/frame.ts';
import { Machine } from './interpreter/machine.ts';
import { EntryStates, runFunctionEntry, runModuleEntry } from './interpreter/run.ts';
import { leftoversOf } from './interpreter/leftovers.ts';
import type { LoweredEntry, LoweredPath, Open } from './lowered.ts';
import { withTurned } from './turned.ts';
import { actsOnStreams, codeOfNode, moduleMentionsStreams, ordersStreams, speaksOfStreams } from './words.ts';

export interface LowerOptions {
  /** Statements and calls that one path may execute. */
  readonly stepsPerPath?: number;
  /** … and all paths of one entry together. */
  readonly stepsPerEntry?: number;
  readonly pathsPerEntry?: number;
  /** Files of which everything is entered, also what has no word of streams: for showing what it does. */
  readonly entered?: (file: string) => boolean;
  /**
   * Whether what paths have in common before the entry's own call is kept for the next: always, or never. Left out: where
   * that takes less time than to run it again. The result is the same.
   */
  readonly keep?: 'always' | 'never';
  /** Emit the end of every block, for showing memory; otherwise only of blocks that several streams used. */
  readonly everyRelease?: boolean;
  /** The oldest PyTorch that the modules have to work with, as `2.4` or `2.4.1`. Left out: not known. */
  readonly torchVersion?: string;
  /**
   * Who decides with an entry whether it is right: its callers are run as well then. Left out: any caller. Callers that
   * do something with streams themselves are run anyway.
   */
  readonly leavesOpen?: (entry: LoweredEntry) => Open;
  /** Told of each entry that was run, also of those for which a caller stands in the result. */
  readonly ran?: (entry: LoweredEntry) => void;
  /** Told what each entry cost; for benches. */
  readonly observe?: (name: string, file: string, paths: number, spent: number) => void;
  /**
   * An earlier result of an entry that holds for these modules, with its places in them. `reach` names the functions
   * that have to do with streams, as `file#name`: with another `reach`, calls may be followed that were not.
   */
  readonly reuse?: (name: string, file: string, reach: ReadonlySet<string>) => LoweredEntry | undefined;
}

const defaults = { stepsPerPath: 8_000, stepsPerEntry: 16_000, pathsPerEntry: 16 };
/** How many paths an entry is worth, and steps. */
interface Worth {
  readonly paths: number;
  readonly steps: number;
  /** Paths in which nothing but one stream shows, before no more are tried; and paths that do nothing at all. */
  readonly dull: number;
  readonly idle: number;
  /** Whether it pays for what lies before its own call with each of its paths. */
  readonly paysBefore: boolean;
}

/** An entry that orders streams itself is worth all paths until they come to that; one that only speaks of them, a few. */
const dullPaths = { orders: 12, speaks: 4, calls: 2 };
/** An entry without a word of streams: what it calls has most of the tests that matter. */
const callerPaths = 6;
const callerSteps = 8_000;

function worthOf(node: Node, module: Module, { pathsPerEntry, stepsPerEntry }: Limits): Worth {
  if (!saysStreams(node, module))
    return {
      paths: Math.min(pathsPerEntry, callerPaths),
      steps: Math.min(stepsPerEntry, callerSteps),
      dull: dullPaths.calls,
      idle: 1,
      paysBefore: true,
    };
  const dull = ordersStreams(codeOfNode(node, module)) ? dullPaths.orders : dullPaths.speaks;
  return { paths: pathsPerEntry, steps: stepsPerEntry, dull, idle: dull, paysBefore: false };
}

/** Paths for decisions that functions without a word of streams take. */
const farPaths = 4;
/** Up to so many entries each has its full budget of steps; in a larger run it shrinks with their number. */
const entriesInFull = 256;
const leastSteps = 4_000;

export function lower(modules: readonly Module[], options: LowerOptions = {}): LoweredEntry[] {
  const limits = { ...defaults, ...options };
  const finder = new Workspace(modules);
  const graph = new ImportGraph(modules, finder);
  const speaking = modules.filter(moduleMentionsStreams);
  const reach = reaching(speaking, (module) => graph.of(module));
  const workspace = new Workspace(modules, reach.concerns);

  const root = commonFolder(modules.map((module) => module.file));
  const tests = new Set(modules.filter((module) => isTestFile(module.file, root)));
  const onlyTests = tests.size === modules.length;
  const isTest = (module: Module): boolean => !onlyTests && tests.has(module);
  const entered = (module: Module): boolean => options.entered?.(module.file) === true && !isTest(module);
  const searched = modules.filter((module) => entered(module) || (moduleMentionsStreams(module) && !isTest(module)));
  const callers = new CallerSearch(graph, isTest);
  const seeds = searched
    .flatMap((module) => functionsOf(module))
    .filter(
      (entry) =>
        (entered(entry.module) || (saysStreams(entry.node, entry.module) && actsOnStreams(entry.node, entry.module))) &&
        isEntry(entry),
    );
  limits.stepsPerEntry = stepsPerEntry(limits.stepsPerEntry, seeds.length);

  let reached: ReadonlySet<string> | undefined;
  const signature = (): ReadonlySet<string> => {
    reached ??= new Set(
      speaking.flatMap((module) =>
        functionsOf(module)
          .filter(({ node }) => reach.functions.has(node))
          .map(({ name }) => `${module.file}#${name}`),
      ),
    );
    return reached;
  };

  let places: ReadonlySet<string> | undefined;
  const concerned = (place: string): boolean => {
    places ??= new Set(
      speaking.flatMap((module) =>
        functionsOf(module)
          .filter(({ node }) => reach.functions.has(node))
          .map(({ place }) => place),
      ),
    );
    return places.has(place);
  };

  const states = new EntryStates(options.keep === 'always' ? 0 : undefined);
  const statesOf = (): EntryStates => (options.keep === 'never' ? new EntryStates() : states);
  const done = new Map<string, Done>();
  /** Functions that some caller's run went through. */
  const judged = new Set<string>();
  /** … other than their own. */
  const passed = new Set<string>();
  const add = (place: string, entry: FunctionEntry | undefined, lowered: LoweredEntry, spent: number): void => {
    for (const through of lowered.judges ?? []) {
      judged.add(through);
      if (through !== place) passed.add(through);
    }
    judged.add(place);
    done.set(place, { entry, lowered });
    options.ran?.(lowered);
    options.observe?.(lowered.name, lowered.file, lowered.paths.length, spent);
  };
  const run = (name: string, module: Module, node: Node, start: (m: Machine) => void): [LoweredEntry, number] => {
    const known = options.reuse?.(name, module.file, signature());
    if (known) return [known, 0];
    return lowerEntry(workspace, name, module.file, start, limits, worthOf(node, module, limits), concerned);
  };
  const runModule = (module: Module): void => {
    if (done.has(module.file)) return;
    add(module.file, undefined, ...run('<module>', module, module, (m) => runModuleEntry(m, module)));
  };
  const runFunction = (entry: FunctionEntry): boolean => {
    const { place } = entry;
    // Half-typed code says nothing yet.
    if (judged.has(place) || entry.node.broken) return false;
    add(place, entry, ...run(entry.name, entry.module, entry.node, (m) => runFunctionEntry(m, entry, statesOf())));
    return true;
  };

  for (const module of searched)
    if (entered(module) || speaksOfStreams(callers.topLevelCode(module))) runModule(module);
  // Callers first: what they run through is judged with them.
  const called = new Set<string>();
  for (const { node, module } of seeds) for (const name of namesMentioned(node, module)) called.add(name);
  for (const entry of seeds) if (!called.has(entry.node.name)) runFunction(entry);
  for (const entry of seeds) if (called.has(entry.node.name)) runFunction(entry);
  const byPlace = new Map(seeds.map((entry) => [entry.place, entry]));
  runCallers(
    done,
    callers,
    { runModule, runFunction, seed: (place) => byPlace.get(place), passed },
    options.leavesOpen ?? (() => 'to callers'),
  );
  cover(done);
  const runs = [...done.values()].flatMap(({ entry }) => entry ?? []);
  return [...done.values()]
    .filter(({ covered }) => !covered)
    .map(({ entry, lowered }) => (entry ? withTurned(entry, lowered, runs) : lowered));
}

/** An entry that was run. */
interface Done {
  readonly entry: FunctionEntry | undefined;
  readonly lowered: LoweredEntry;
  /** A caller that was found later went through it, and judges it. */
  covered?: true;
}

/** How far up callers are followed that have no word of streams themselves. */
const callerRounds = 3;
/** Of the callers of one function so many are run, the nearest first: what a hundred models do with a cache, sixteen do. */
const callersRun = 16;

interface Runs {
  runModule(module: Module): void;
  /** Whether it was run now. */
  runFunction(entry: FunctionEntry): boolean;
  seed(place: string): FunctionEntry | undefined;
  /** Functions that some run but their own went through. */
  readonly passed: ReadonlySet<string>;
}

/** Runs what calls an entry that leaves something open, in place of the entry. */
function runCallers(
  done: Map<string, Done>,
  callers: CallerSearch,
  { runModule, runFunction, seed, passed }: Runs,
  leavesOpen: (entry: LoweredEntry) => Open,
): void {
  const searched = new Map<FunctionEntry, Open>();
  /** Functions of autograd whose run did not come to what they name: they get its object from whoever applies them. */
  const blind = new Set<FunctionEntry>();
  const search = (entry: FunctionEntry | undefined, open: Open, leftIn?: readonly string[]): void => {
    if (!entry || searched.get(entry) === 'to callers' || searched.get(entry) === open) return;
    searched.set(entry, open);
    const { functions, modules } = open === 'to programs' ? callers.programsOf(entry) : callers.of(entry, leftIn);
    let left = callersRun;
    const forwards: FunctionEntry[] = [];
    for (const caller of functions) {
      if (caller.owner && isStaticForward(caller.node)) forwards.push(caller);
      if (isEntry(caller) && runFunction(caller) && --left === 0) break;
    }
    for (const module of modules) runModule(module);
    if (entry.owner && !passed.has(entry.place)) for (const caller of forwards) blind.add(caller);
  };
  let latest = [...done.values()];
  for (let round = 0; round < callerRounds && (latest.length || blind.size); round++) {
    const before = new Set(done.keys());
    const unseeing = [...blind];
    blind.clear();
    for (const { entry, lowered } of latest) {
      const open = lowered.changesCallers ? 'to callers' : leavesOpen(lowered);
      if (open === 'no') continue;
      search(entry, open, lowered.leftIn);
      // What it went through may have other callers, too.
      for (const place of lowered.judges ?? []) search(seed(place), open);
    }
    for (const caller of unseeing) search(caller, 'to callers');
    latest = [...done].flatMap(([place, one]) => (before.has(place) ? [] : [one]));
  }
}

/** An entry that a caller went through later is judged with that one. Of two that call each other both stand. */
function cover(done: ReadonlyMap<string, Done>): void {
  for (const [caller, { lowered }] of done)
    for (const place of lowered.judges ?? []) {
      const one = done.get(place);
      if (one && place !== caller && !one.lowered.judges?.includes(caller)) one.covered = true;
    }
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
  readonly torchVersion?: string;
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
  worth: Worth,
  concerned: (place: string) => boolean,
): [LoweredEntry, spent: number] {
  const paths: LoweredPath[] = [];
  const dependsOn = new Set<string>([file]);
  const judges = new Set<string>();
  const acted = new Set<string>();
  const leftIn = new Set<string>();
  let leavesUnknown = false;
  const tried = new Set<string>(['']);
  const queue: ReadonlySet<string>[] = [new Set()];
  const far: ReadonlySet<string>[] = [];
  /** How many decisions of a plan are those that the program needs to go on. */
  const given = new Map<ReadonlySet<string>, number>();
  let farLeft = farPaths;
  let dull = true;
  let idle = true;
  let budget = worth.steps;
  let spent = 0;
  let before = 0;
  let truncated = false;
  let changesCallers = false;
  let fault: string | undefined;
  for (;;) {
    const plan = queue.shift() ?? (farLeft-- > 0 ? far.shift() : undefined);
    if (!plan) {
      truncated ||= far.length > 0;
      break;
    }
    const most = paths.length === 0 || !dull ? worth.paths : Math.min(worth.paths, idle ? worth.idle : worth.dull);
    if (paths.length >= most || budget <= 0) {
      truncated = true;
      break;
    }
    const allowance = paths.length === 0 ? limits.stepsPerPath : Math.min(limits.stepsPerPath, before + budget);
    const m = new Machine(workspace, plan, allowance, limits.everyRelease);
    m.oldestTorch = limits.torchVersion;
    let cut = false;
    try {
      start(m);
    } catch (error) {
      if (error instanceof OutOfBudget) {
        truncated = true;
        cut = true;
      } else if (error instanceof Raised) m.cutShort();
      else {
        // A fault of the analysis ends this path; the other entries do not suffer from it.
        truncated = true;
        m.cutShort();
        fault ??= error instanceof Error ? error.message : String(error);
      }
    }
    const used = allowance - Math.max(0, m.budgetLeft);
    // What lies before the entry's own call is mostly gone on from, and is not to take paths away from what has streams.
    before = worth.paysBefore ? 0 : m.stepsBefore;
    budget -= used - before;
    spent += used;
    const left = cut ? undefined : leftoversOf(m);
    if (left) for (const name of left) leftIn.add(name);
    else leavesUnknown = true;
    for (const place of m.touched) dependsOn.add(place);
    for (const place of m.judged) judges.add(place);
    for (const place of m.acted) acted.add(place);
    changesCallers ||= m.changesCallers;
    dull &&= m.builder.dull;
    idle &&= m.builder.idle;
    paths.push(cut ? { ...m.finish(), cut } : m.finish());
    const { refused } = m;
    if (refused && !plan.has(refused.key)) {
      // What the program goes on with is the other way: from there the others are turned.
      const next = new Set([...plan, refused.key]);
      const key = [...next].sort().join('\n');
      if (!tried.has(key)) {
        tried.add(key);
        given.set(next, (given.get(plan) ?? 0) + 1);
        queue.unshift(next);
      }
    }
    for (const decision of m.decisions.made) {
      if (!decision.open || plan.has(decision.key)) continue;
      const next = new Set([...plan, decision.key]);
      const given_ = given.get(plan) ?? 0;
      if (next.size - given_ > 2) continue;
      const key = [...next].sort().join('\n');
      if (tried.has(key)) continue;
      tried.add(key);
      given.set(next, given_);
      (decision.near ? queue : far).push(next);
    }
  }
  const lowered = {
    name,
    file,
    paths,
    truncated,
    dependsOn: [...dependsOn],
    // What has to do with streams is not judged by paths that never came to where it does.
    judges: truncated ? [...judges].filter((place) => acted.has(place) || !concerned(place)) : [...judges],
    ...(changesCallers ? { changesCallers } : {}),
    ...(leavesUnknown ? {} : { leftIn: [...leftIn] }),
    ...(fault === undefined ? {} : { fault }),
  };
  return [lowered, spent];
}
