/**
 * An entry of the last lowering with its places in the texts as they are after an edit that it did not run through. Where
 * everything stands now is worked out when somebody asks: of most paths nothing is told, and a key is typed faster than
 * they are rewritten.
 */
import type { Activation, BranchDecision, HandOver, LoweredEntry, LoweredPath } from './lower/lowered.ts';
import type { Origin } from './program/program.ts';
import type { ClassDef, FunctionDef, Module, Node } from './python/ast.ts';

/** One edit inside of the body of one function or method. */
export interface BodyEdit {
  readonly module: Module;
  /** The edited function: its place in the old text, its name with the class. */
  readonly place: string;
  readonly name: string;
  readonly wasBroken: boolean;
  /** Offsets up to here stay; those behind move by `by`. */
  readonly prefix: number;
  readonly by: number;
  readonly definitions: ReadonlyMap<number, FunctionDef | ClassDef>;
}

/** So many edits wait at most; then the places are worked out, asked for or not. */
const mostWaiting = 8;

/** One edit of each of some files: from the places before to those after it. */
export class Move {
  readonly #edits: ReadonlyMap<string, BodyEdit>;

  constructor(edits: ReadonlyMap<string, BodyEdit>) {
    this.#edits = edits;
  }

  get isNone(): boolean {
    return this.#edits.size === 0;
  }

  editOf(file: string): BodyEdit | undefined {
    return this.#edits.get(file);
  }

  /** Whether an edit lies in one of these places, as `dependsOn` has them. */
  reaches(places: readonly string[]): boolean {
    for (const edit of this.#edits.values()) if (places.includes(edit.place)) return true;
    return false;
  }

  offset(file: string, at: number): number {
    const edit = this.#edits.get(file);
    return !edit || at <= edit.prefix ? at : at + edit.by;
  }

  node(file: string, { start, end }: Node): Node {
    return { start: this.offset(file, start), end: this.offset(file, end) };
  }

  /** A place as `dependsOn` has it: a file, or `file#start`. */
  place(place: string): string {
    const file = fileOf(place);
    if (file === place || !this.#edits.has(file)) return place;
    return `${file}#${this.offset(file, Number(place.slice(file.length + 1)))}`;
  }

  /** The function that began at `start` before the edit. */
  definition(file: string, start: number): FunctionDef | ClassDef | undefined {
    return this.#edits.get(file)?.definitions.get(this.offset(file, start));
  }

  path(path: LoweredPath): LoweredPath {
    const { program, activations, decisions, handOvers } = path;
    return {
      ...path,
      // The steps stay the same array: what was found out about them stands.
      program: { ...program, origins: program.origins.map((origin) => this.#origin(origin)) },
      activations: activations.map((activation) => this.#activation(activation)),
      decisions: decisions.map(
        (decision): BranchDecision => ({ ...decision, test: this.node(decision.file, decision.test) }),
      ),
      ...(handOvers
        ? { handOvers: handOvers.map((one): HandOver => ({ ...one, node: this.node(one.file, one.node) })) }
        : {}),
    };
  }

  #origin(origin: Origin): Origin {
    if (origin.kind !== 'source' || !origin.frames.some(({ file }) => this.#edits.has(file))) return origin;
    return { ...origin, frames: origin.frames.map((frame) => ({ ...frame, ...this.node(frame.file, frame) })) };
  }

  #activation(activation: Activation): Activation {
    const { module, function: former } = activation;
    const edit = this.#edits.get(module.file);
    if (!edit) return activation;
    const found = former && this.definition(module.file, former.start);
    return { ...activation, module: edit.module, ...(found?.kind === 'FunctionDef' ? { function: found } : {}) };
  }
}

/** Entries whose places are those of an earlier text, and the edits since. */
const waiting = new WeakMap<
  LoweredEntry,
  { readonly paths: readonly LoweredPath[]; readonly moves: readonly Move[] }
>();

/** The entry with its places in the new texts; undefined where it ran through what was edited. */
export function movedEntry(entry: LoweredEntry, move: Move): LoweredEntry | undefined {
  const { dependsOn, judges } = entry;
  // Without these it depends on all there is.
  if (!dependsOn) return move.isNone ? entry : undefined;
  if (!dependsOn.some((place) => move.editOf(fileOf(place)))) return entry;
  if (move.reaches(dependsOn)) return undefined;
  const former = waiting.get(entry);
  const paths = former?.paths ?? entry.paths;
  const moves = [...(former?.moves ?? []), move];
  if (!paths.every(({ activations }) => activations.every((activation) => isFound(activation, moves))))
    return undefined;
  const late = moves.length < mostWaiting;
  const result: LoweredEntry = {
    ...entry,
    paths: paths.map((path) => (late ? latePath(path, moves) : moveAll(path, moves))),
    dependsOn: dependsOn.map((place) => move.place(place)),
    ...(judges ? { judges: judges.map((place) => move.place(place)) } : {}),
  };
  if (late) waiting.set(result, { paths, moves });
  return result;
}

function moveAll(path: LoweredPath, moves: readonly Move[]): LoweredPath {
  return moves.reduce((moved, move) => move.path(moved), path);
}

function latePath(path: LoweredPath, moves: readonly Move[]): LoweredPath {
  let moved: LoweredPath | undefined;
  const now = (): LoweredPath => {
    moved ??= moveAll(path, moves);
    return moved;
  };
  return {
    ...(path.cut ? { cut: path.cut } : {}),
    program: {
      ...path.program,
      get origins() {
        return now().program.origins;
      },
    },
    get activations() {
      return now().activations;
    },
    get decisions() {
      return now().decisions;
    },
    get handOvers() {
      return now().handOvers;
    },
  };
}

/** Whether the function of an activation is there after all edits. */
function isFound({ module: { file }, function: former }: Activation, moves: readonly Move[]): boolean {
  if (!former) return true;
  let at = former.start;
  for (const move of moves) {
    if (move.editOf(file)) {
      const found = move.definition(file, at);
      if (found?.kind !== 'FunctionDef' || found.name !== former.name) return false;
    }
    at = move.offset(file, at);
  }
  return true;
}

/** `a.py` of `a.py#120`; the file itself where nothing follows. */
export function fileOf(place: string): string {
  return place.replace(/#\d+$/, '');
}
