/**
 * The preview: a function of the source on the built-in executor, as a trace in the own format. Of the paths that were
 * followed it takes the one that shows most: most hazards, then most steps.
 */
import { LineMap } from './base/text.ts';
import type { SourceFile } from './checkSource.ts';
import { type ExecuteOptions, execute, type Frame } from './execute/execute.ts';
import { findHazards } from './hazards/find.ts';
import { lower } from './lower/lower.ts';
import type { LoweredEntry, LoweredPath } from './lower/lowered.ts';
import type { Module } from './python/ast.ts';
import { lazyModule } from './python/lazy.ts';
import type { PythonParser } from './python/parse.ts';
import { type Witness, witnesses } from './witness.ts';

export interface Preview {
  /** The text of a `.raceline` file. */
  readonly raceline: string;
  /** Hazards of the run, each with a schedule in which it happens. */
  readonly witnesses: readonly Witness[];
  /** The entry that ran, and all that do something on a device. */
  readonly entry: string;
  readonly entries: readonly string[];
}

const producer = 'raceline 0.1.0';

/** Without a name the entry with most hazards is taken. Throws with what to do where there is nothing to run. */
export function preview(parser: PythonParser, files: readonly SourceFile[], name: string | undefined): Preview {
  const modules = files.map(({ file, text }) => lazyModule(parser, file, text));
  const choices = lower(modules, { entered: () => true }).flatMap((entry) => {
    const choice = choosePath(entry);
    return choice ? [choice] : [];
  });
  const names = choices.map(({ entry }) => entry.name);
  if (choices.length === 0) throw new Error('there is nothing to run: no function of the file works with streams');
  let best: Choice | undefined;
  for (const choice of choices)
    if ((name === undefined || choice.entry.name === name) && (!best || showsMore(choice, best))) best = choice;
  if (!best) throw new Error(`there is no “${name}” to run; there is: ${names.join(', ')}`);
  return {
    raceline: previewPath(best.path),
    get witnesses() {
      return witnessesOf(best.path);
    },
    entry: best.entry.name,
    entries: names,
  };
}

/** The hazards of one entry, by the path that shows most, each with a schedule in which it happens. */
export function previewWitnesses(entry: LoweredEntry): readonly Witness[] {
  const choice = choosePath(entry);
  return choice ? witnessesOf(choice.path) : [];
}

/** One entry, by the path that shows most; undefined if it does nothing on a device. */
export function previewEntry(entry: LoweredEntry): string | undefined {
  const choice = choosePath(entry);
  return choice && previewPath(choice.path);
}

/** One path as a run. */
export function previewPath(path: LoweredPath): string {
  return execute(path.program, optionsFor(path));
}

function witnessesOf(path: LoweredPath): readonly Witness[] {
  return witnesses(path.program, optionsFor(path));
}

function optionsFor(path: LoweredPath): ExecuteOptions & Required<Pick<ExecuteOptions, 'placeOf'>> {
  const lines = new Map<Module, LineMap>();
  const places = new Map<number, readonly Frame[]>();
  const { origins, steps } = path.program;
  return {
    producer,
    placeOf: (step) => {
      const origin = steps[step]!.origin;
      let frames = places.get(origin);
      if (!frames) {
        frames = framesOf(origins[origin], path, lines);
        places.set(origin, frames);
      }
      return frames;
    },
  };
}

interface Choice {
  readonly entry: LoweredEntry;
  readonly path: LoweredPath;
  readonly hazards: number;
  readonly steps: number;
}

function choosePath(entry: LoweredEntry): Choice | undefined {
  let best: Choice | undefined;
  for (const path of entry.paths) {
    const { steps } = path.program;
    if (!steps.some((step) => step.kind === 'launch' || step.kind === 'replay')) continue;
    const choice = { entry, path, hazards: findHazards(path.program).length, steps: steps.length };
    if (!best || showsMore(choice, best)) best = choice;
  }
  return best;
}

function showsMore(a: Choice, b: Choice): boolean {
  return a.hazards !== b.hazards ? a.hazards > b.hazards : a.steps > b.steps;
}

function framesOf(
  origin: LoweredPath['program']['origins'][number] | undefined,
  path: LoweredPath,
  lines: Map<Module, LineMap>,
): readonly Frame[] {
  if (origin?.kind !== 'source') return [];
  return origin.frames.flatMap(({ activation, file, start }) => {
    const running = path.activations[activation];
    if (!running) return [];
    let map = lines.get(running.module);
    if (!map) {
      map = new LineMap(running.module.text);
      lines.set(running.module, map);
    }
    return [{ file, line: map.position(start).line + 1, function: running.function?.name ?? '<module>' }];
  });
}
