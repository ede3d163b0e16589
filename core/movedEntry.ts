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

/** So many edits wait at most, and twice as many for some; then the places are worked out, asked for or not. */
const mostWaiting = 8;

/** Edits one after the other, each of some files: from the places before the first to those after the last one. */
export class Move {
  readonly #edits: readonly ReadonlyMap<string, BodyEdit>[];
  /** The edits of each file that was asked for, in order. */
  readonly #byFile = new Map<string, readonly BodyEdit[]>();
  /** Most entries have waited for the same edits. */
  readonly #followed = new WeakMap<Move, Move>();

  constructor(...edits: readonly ReadonlyMap<string, BodyEdit>[]) {
    this.#edits = edits;
  }

  get count(): number {
    return this.#edits.length;
  }

  get isNone(): boolean {
    return this.#edits.every(({ size }) => size === 0);
  }

  followedBy(next: Move): Move {
    let both = this.#followed.get(next);
    if (!both) {
      both = new Move(...this.#edits, ...next.#edits);
      this.#followed.set(next, both);
    }
    return both;
  }

  #editsOf(file: string): readonly BodyEdit[] {
    let edits = this.#byFile.get(file);
    if (!edits) {
      edits = this.#edits.flatMap((one) => one.get(file) ?? []);
      this.#byFile.set(file, edits);
    }
    return edits;
  }

  /** The latest edit of a file. */
  editOf(file: string): BodyEdit | undefined {
    return this.#editsOf(file).at(-1);
  }

  /** Whether an edit lies in one of these places, as `dependsOn` has them before it. */
  reaches(places: readonly string[]): boolean {
    return this.#edits.some((edits) => {
      for (const { place } of edits.values()) if (places.includes(place)) return true;
      return false;
    });
  }

  offset(file: string, at: number): number {
    for (const { prefix, by } of this.#editsOf(file)) if (at > prefix) at += by;
    return at;
  }

  node(file: string, { start, end }: Node): Node {
    return { start: this.offset(file, start), end: this.offset(file, end) };
  }

  /** A place as `dependsOn` has it: a file, or `file#start`. */
  place(place: string): string {
    const file = fileOf(place);
    if (file === place || !this.editOf(file)) return place;
    return `${file}#${this.offset(file, Number(place.slice(file.length + 1)))}`;
  }

  /** The function that began at `start` before the edits. */
  definition(file: string, start: number): FunctionDef | ClassDef | undefined {
    return this.editOf(file)?.definitions.get(this.offset(file, start));
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
    if (origin.kind !== 'source' || !origin.frames.some(({ file }) => this.editOf(file))) return origin;
    return { ...origin, frames: origin.frames.map((frame) => ({ ...frame, ...this.node(frame.file, frame) })) };
  }

  #activation(activation: Activation): Activation {
    const { module, function: former } = activation;
    const edit = this.editOf(module.file);
    if (!edit) return activation;
    const found = former && this.definition(module.file, former.start);
    return { ...activation, module: edit.module, ...(found?.kind === 'FunctionDef' ? { function: found } : {}) };
  }
}

/** Entries whose places are those of an earlier text, and the edits since. */
const waiting = new WeakMap<LoweredEntry, { readonly paths: readonly LoweredPath[]; readonly move: Move }>();

/** The entry with its places in the new texts; undefined where it ran through what was edited. */
export function movedEntry(entry: LoweredEntry, move: Move): LoweredEntry | undefined {
  const { dependsOn, judges } = entry;
  // Without these it depends on all there is.
  if (!dependsOn) return move.isNone ? entry : undefined;
  if (!dependsOn.some((place) => move.editOf(fileOf(place)))) return entry;
  if (move.reaches(dependsOn)) return undefined;
  const former = waiting.get(entry);
  const paths = former?.paths ?? entry.paths;
  const all = former ? former.move.followedBy(move) : move;
  if (!paths.every(({ activations }) => activations.every((activation) => isFound(activation, all)))) return undefined;
  const late = all.count < mostWaitingFor(entry);
  const result: LoweredEntry = {
    ...entry,
    paths: paths.map((path) => (late ? latePath(path, all) : all.path(path))),
    dependsOn: dependsOn.map((place) => move.place(place)),
    ...(judges ? { judges: judges.map((place) => move.place(place)) } : {}),
  };
  if (late) waiting.set(result, { paths, move: all });
  return result;
}

/** Not the same for all, so that no key has to wait for all of them at once. */
function mostWaitingFor({ name }: LoweredEntry): number {
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) % 997;
  return mostWaiting + (sum % mostWaiting);
}

function latePath(path: LoweredPath, move: Move): LoweredPath {
  let moved: LoweredPath | undefined;
  const now = (): LoweredPath => {
    moved ??= move.path(path);
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
function isFound({ module: { file }, function: former }: Activation, move: Move): boolean {
  if (!former || !move.editOf(file)) return true;
  const found = move.definition(file, former.start);
  return found?.kind === 'FunctionDef' && found.name === former.name;
}

/** `a.py` of `a.py#120`; the file itself where nothing follows. */
export function fileOf(place: string): string {
  return place.replace(/#\d+$/, '');
}
