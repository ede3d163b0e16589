/**
 * Modules of the workspace while a path runs. Code of a module other than the entry's runs by demand: a name that is
 * looked up makes the top-level statements that bind it run, so that importing a large package costs nothing.
 */
import type { Import, ImportFrom, Module, Statement } from '../../python/ast.ts';
import { moduleName } from '../imports.ts';
import { moduleBinders } from '../names.ts';
import { ExternalV, ModuleV, type Scope, Unknown, type Value } from '../values.ts';
import type { Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { execBlock } from './statements.ts';

export function moduleValue(m: Machine, syntax: Module): ModuleV {
  let module = m.modules.get(syntax.file);
  if (!module) {
    module = new ModuleV(syntax, moduleName(syntax), moduleBinders(syntax));
    module.torchName = torchName(syntax);
    m.modules.set(syntax.file, module);
  }
  return module;
}

function torchName(syntax: Module): string | undefined {
  for (const statement of syntax.body)
    if (statement.kind === 'Import')
      for (const alias of statement.names) {
        if (alias.name === 'torch') return alias.asname ?? 'torch';
        if (alias.name.startsWith('torch.') && !alias.asname) return 'torch';
      }
  return undefined;
}

/** A global name of `module`; undefined when nothing binds it. */
export function globalValue(m: Machine, module: ModuleV, name: string): Value | undefined {
  const known = module.scope.vars.get(name);
  if (known !== undefined) return known;
  if (name === '__name__') return module.main ? '__main__' : module.name;
  if (name === '__file__') return module.syntax.file;
  const binders = module.binders.get(name);
  if (binders) {
    const missing = binders.filter((statement) => !module.executed.has(statement));
    // Of an import only the name that is asked for is looked up: the others may lead into many files.
    const only = missing.length === 1 ? missing[0]! : undefined;
    if (only?.kind === 'ImportFrom' && !module.main) {
      const alias = only.names.find((one) => (one.asname ?? one.name) === name);
      if (alias) {
        m.touched.add(module.syntax.file);
        module.scope.vars.set(name, unknownGlobal(m, `importing:${module.syntax.file}:${name}`, name));
        const source = m.workspace.find(module.syntax, only.module, only.level);
        const value = importedValue(m, module, only, source, alias.name);
        module.scope.vars.set(name, value);
        return value;
      }
    }
    if (missing.length > 0 && !module.main) {
      for (const statement of missing) module.executed.add(statement);
      runModuleStatements(m, module, missing);
      const value = module.scope.vars.get(name);
      const said = value === null || typeof value === 'boolean' ? globalSaid(module, name) : undefined;
      if (said?.reassigned) {
        // Other calls may have set it since.
        const unknown = new Unknown(name, 'attribute');
        unknown.hint = value!;
        unknown.plain = value !== null;
        unknown.setUnder = said.flag;
        module.scope.vars.set(name, unknown);
        return unknown;
      }
      if (value !== undefined) return value;
    }
    // Bound later, or on a branch that was not taken.
    return undefined;
  }
  for (const statement of module.binders.get('*') ?? []) {
    if (statement.kind !== 'ImportFrom') continue;
    const source = m.workspace.find(module.syntax, statement.module, statement.level);
    if (!source || source === module.syntax) continue;
    const key = `*${module.syntax.file}:${name}`;
    if (m.caches.has(key)) continue;
    m.caches.set(key, null);
    const value = globalValue(m, moduleValue(m, source), name);
    m.caches.delete(key);
    if (value !== undefined) {
      module.scope.vars.set(name, value);
      return value;
    }
  }
  return undefined;
}

/** What the text of a module says of a global of its own. It is asked for on each path. */
interface GlobalSaid {
  /** A function sets it. */
  readonly reassigned: boolean;
  readonly flag: string | undefined;
}

const saidOf = new WeakMap<Module, Map<string, GlobalSaid>>();

function globalSaid({ syntax }: ModuleV, name: string): GlobalSaid {
  let names = saidOf.get(syntax);
  if (!names) {
    names = new Map();
    saidOf.set(syntax, names);
  }
  let said = names.get(name);
  if (!said) {
    const reassigned = new RegExp(`\\bglobal\\s+[\\w, ]*\\b${name}\\b`).test(syntax.text);
    said = { reassigned, flag: reassigned ? flagOf(syntax.text, name) : undefined };
    names.set(name, said);
  }
  return said;
}

/** The attribute of `self` that each function asks for before it sets the global: `if self.overlap and side is None: side = …`. */
function flagOf(text: string, name: string): string | undefined {
  const lines = text.split('\n');
  const assigned = new RegExp(`^([ \\t]+)${name}[ \\t]*=(?!=)`);
  const flags = new Set<string | undefined>();
  for (const [at, line] of lines.entries()) {
    const indent = assigned.exec(line)?.[1]?.length;
    if (indent === undefined) continue;
    const above = lines.slice(0, at).findLast((other) => /\S/.test(other) && other.search(/\S/) < indent);
    flags.add(
      /\bor\b/.test(above ?? '')
        ? undefined
        : /^\s*if\b.*?(?<!not )\bself\.(\w+)\b(?!\s*[.([<>=!]| is\b)/.exec(above ?? '')?.[1],
    );
  }
  return flags.size === 1 ? [...flags][0] : undefined;
}

export function moduleFrame(m: Machine, module: ModuleV): Frame {
  const parked = m.stack;
  m.stack = [];
  const frame = m.newFrame(module, undefined, module.scope, module.syntax, undefined);
  m.stack = parked;
  return frame;
}

/** Steps that the code of other modules may take for one name. */
const stepsPerDemand = 1_000;

/** Runs statements of a module whose code otherwise does not run: what they do lies before the entry. */
export function runModuleStatements(
  m: Machine,
  module: ModuleV,
  statements: readonly Statement[],
  scope: Scope = module.scope,
): void {
  m.touched.add(module.syntax.file);
  const frame = moduleFrame(m, module);
  frame.scope = scope;
  const currents = m.currents;
  m.parkedStacks.push(m.stack);
  m.stack = [frame];
  m.currents = new Map();
  m.before++;
  const run = (): void => {
    const steps = execBlock(m, statements);
    while (!steps.next().done);
  };
  try {
    if (m.before === 1) m.within(stepsPerDemand, run);
    else run();
  } finally {
    m.before--;
    m.currents = currents;
    m.stack = m.parkedStacks.pop()!;
  }
}

export function runImport(m: Machine, node: Import): void {
  const module = m.frame.module;
  const scope = m.frame.scope;
  for (const alias of node.names) {
    const first = alias.name.split('.')[0]!;
    const whole = m.workspace.find(module.syntax, alias.name, 0);
    if (alias.asname) scope.vars.set(alias.asname, whole ? moduleValue(m, whole) : external(alias.name));
    else {
      const top = m.workspace.find(module.syntax, first, 0);
      scope.vars.set(first, top ? moduleValue(m, top) : external(first));
    }
  }
}

export function runImportFrom(m: Machine, node: ImportFrom): void {
  const module = m.frame.module;
  const scope = m.frame.scope;
  const source = m.workspace.find(module.syntax, node.module, node.level);
  for (const alias of node.names) {
    if (alias.name === '*') {
      if (source && source !== module.syntax && scope.kind === 'module') {
        // Names come by demand, through `globalValue`.
      } else if (!source && scope.kind === 'module') {
        for (const name of starNames(node.module)) scope.vars.set(name, external(`${node.module}.${name}`));
      }
      continue;
    }
    const name = alias.asname ?? alias.name;
    scope.vars.set(name, importedValue(m, module, node, source, alias.name));
  }
}

function starNames(module: string): readonly string[] {
  return module === 'torch.cuda' ? ['Stream', 'Event', 'stream', 'current_stream', 'synchronize'] : [];
}

function importedValue(m: Machine, module: ModuleV, node: ImportFrom, source: Module | undefined, name: string): Value {
  if (source && source !== module.syntax) {
    const sourceModule = moduleValue(m, source);
    const key = `from:${source.file}:${name}`;
    if (!m.caches.has(key)) {
      m.caches.set(key, null);
      const value = globalValue(m, sourceModule, name);
      m.caches.delete(key);
      if (value !== undefined) return value;
    }
  }
  const submodule = m.workspace.find(module.syntax, node.module === '' ? name : `${node.module}.${name}`, node.level);
  if (submodule) return moduleValue(m, submodule);
  if (node.level > 0 || source)
    return unknownGlobal(m, `${source?.file ?? module.syntax.file}:${node.module}.${name}`, name);
  return external(`${node.module}.${name}`);
}

export function unknownGlobal(m: Machine, key: string, name: string): Unknown {
  let value = m.unknownGlobals.get(key);
  if (!value) {
    value = new Unknown(name, 'external');
    m.unknownGlobals.set(key, value);
  }
  return value;
}

/** Names under which the same thing is reached. */
const aliases: Readonly<Record<string, string>> = {
  'torch.cuda.streams.Stream': 'torch.cuda.Stream',
  'torch.cuda.streams.Event': 'torch.cuda.Event',
  'torch.cuda.streams.ExternalStream': 'torch.cuda.ExternalStream',
  'torch.cuda.graphs.CUDAGraph': 'torch.cuda.CUDAGraph',
  'torch.cuda.graphs.graph': 'torch.cuda.graph',
  'torch.nn.parameter.Parameter': 'torch.nn.Parameter',
  'torch.utils.data.dataloader.DataLoader': 'torch.utils.data.DataLoader',
  'torch.functional.F': 'torch.nn.functional',
};

export function external(path: string): ExternalV {
  return new ExternalV(aliases[path] ?? path);
}
