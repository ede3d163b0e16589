/**
 * Callers that a class inherits: a method of a base that calls the one in question on the object itself (`self.step(x)`, a
 * template that subclasses fill in). Such a caller is run with an object of the subclass. Pure syntax: bases are found by name
 * in the module and in what it imports.
 */
import type { ClassDef, Expression, Module } from '../python/ast.ts';
import { type FunctionEntry, functionsOf, namesMentioned } from './entries.ts';
import { longestBridge } from './importGraph.ts';
import { codeOfNode } from './words.ts';

/** Bases of bases that are looked at. */
const mostGenerations = 3;

/** The nearest base first. `imports` gives the modules that a module sees. */
export function inheritedCallers(
  { module, node, owner }: FunctionEntry,
  imports: (module: Module) => readonly Module[],
): FunctionEntry[] {
  if (!owner) return [];
  const found: FunctionEntry[] = [];
  const calls = new RegExp(`\\bself\\.${node.name}\\(`, 'u');
  let classes: readonly (readonly [ClassDef, Module])[] = [[owner, module]];
  for (let generation = 0; generation < mostGenerations && classes.length > 0; generation++) {
    classes = classes.flatMap(([cls, home]) => basesOf(cls, home, imports));
    for (const [base, home] of classes)
      for (const method of functionsOf(home)) {
        if (method.owner !== base || !namesMentioned(method.node, home).has(node.name)) continue;
        if (!calls.test(codeOfNode(method.node, home)) || overrides(owner, module, method)) continue;
        found.push({
          ...method,
          name: `${owner.name}.${method.node.name}`,
          place: `${method.place} of ${module.file}#${owner.start}`,
          receiver: { module, cls: owner },
        });
      }
  }
  return found;
}

/** Whether an object of the class has a method that names this, its own or one of its bases. */
export function classNames(
  name: string,
  cls: ClassDef,
  home: Module,
  imports: (module: Module) => readonly Module[],
): boolean {
  let classes: readonly (readonly [ClassDef, Module])[] = [[cls, home]];
  for (let generation = 0; generation <= mostGenerations && classes.length > 0; generation++) {
    for (const [owner, module] of classes)
      if (functionsOf(module).some((one) => one.owner === owner && namesMentioned(one.node, module).has(name)))
        return true;
    classes = classes.flatMap(([one, module]) => basesOf(one, module, imports));
  }
  return false;
}

function overrides(cls: ClassDef, module: Module, { node }: FunctionEntry): boolean {
  return functionsOf(module).some((own) => own.owner === cls && own.node.name === node.name);
}

function basesOf(
  cls: ClassDef,
  home: Module,
  imports: (module: Module) => readonly Module[],
): (readonly [ClassDef, Module])[] {
  const found: (readonly [ClassDef, Module])[] = [];
  for (const name of cls.bases.map(lastName)) {
    const base = name === undefined ? undefined : classNamed(name, cls, home, imports);
    if (base) found.push(base);
  }
  return found;
}

/** In the module or in what it imports, also where packages hand it on. */
export function classNamed(
  name: string,
  derived: ClassDef | undefined,
  home: Module,
  imports: (module: Module) => readonly Module[],
): readonly [ClassDef, Module] | undefined {
  const seen = new Set([home]);
  let round: readonly Module[] = [home];
  for (let bridge = 0; bridge <= longestBridge && round.length > 0; bridge++) {
    for (const module of round) {
      const found = functionsOf(module).find(({ owner }) => owner?.name === name && owner !== derived)?.owner;
      if (found) return [found, module];
    }
    round = round
      .flatMap(imports)
      .filter((module) => module.text.includes(name) && !seen.has(module) && seen.add(module));
  }
  return undefined;
}

/** `Base`, `package.Base` and `Base[T]` are all called `Base`. */
function lastName(base: Expression): string | undefined {
  if (base.kind === 'Name') return base.id;
  if (base.kind === 'Attribute') return base.name;
  return base.kind === 'Subscript' ? lastName(base.value) : undefined;
}
