/**
 * Which files of a set a change of one file can touch: those connected with it by imports, a few steps each way. Fixes
 * are tried on these alone, so that one fix in a large workspace does not cost an analysis of all of it.
 */
import { ImportGraph } from './lower/importGraph.ts';
import type { Module } from './python/ast.ts';

/** Imports followed, and importers of it. */
const importDepth = 3;
const importerDepth = 3;

export function connectedFiles(modules: readonly Module[], file: string): Set<string> {
  const graph = new ImportGraph(modules);
  const found = new Set(modules.filter((module) => module.file === file));
  let round = new Set(found);
  for (let depth = 0; depth < importerDepth && round.size; depth++)
    round = spread(round, found, (module) => graph.importersOf(module));
  round = new Set(found);
  for (let depth = 0; depth < importDepth && round.size; depth++)
    round = spread(round, found, (module) => graph.of(module));
  return new Set([file, ...[...found].map((module) => module.file)]);
}

function spread(
  from: ReadonlySet<Module>,
  found: Set<Module>,
  neighbours: (module: Module) => readonly Module[],
): Set<Module> {
  const added = new Set<Module>();
  for (const module of from)
    for (const other of neighbours(module))
      if (!found.has(other)) {
        found.add(other);
        added.add(other);
      }
  return added;
}
