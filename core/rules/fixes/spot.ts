/**
 * Places at which a fix may put a statement, and how streams, events and tensors are written there. A name is used only
 * where it is surely bound; where a stream has none, `torch.cuda.current_stream()` may stand for it, and the analysis of
 * the fixed text tells whether that was right.
 */
import type { Activation, LoweredPath } from '../../lower/lowered.ts';
import type { SourceFrame, StepIndex, StreamId } from '../../program/program.ts';
import type { FunctionDef, Module, Statement } from '../../python/ast.ts';
import { originOf } from '../report.ts';
import { type NamedTarget, namesOf } from '../source-names.ts';
import { blocksAround, isBound, type Link, statementOf } from './blocks.ts';
import { importTorch, insertAfter, insertBefore, type OffsetEdit } from './edits.ts';

export interface Candidate {
  readonly title: string;
  readonly edits: readonly OffsetEdit[];
}

/** A statement in one frame, as a place before or after which another can be put. */
export interface Spot {
  readonly activation: Activation;
  readonly module: Module;
  readonly root: Module | FunctionDef;
  readonly links: readonly Link[];
  readonly side: 'before' | 'after';
  /** Names are those of this step's time. */
  readonly at: StepIndex;
}

/** The statement around one frame of a call chain; undefined in lambdas and generated code. */
export function spotAt(path: LoweredPath, place: SourceFrame, at: StepIndex, side: Spot['side']): Spot | undefined {
  const activation = path.activations[place.activation];
  if (!activation || activation.module.file !== place.file) return undefined;
  const root = activation.function ?? activation.module;
  const links = blocksAround(root, place);
  const last = links.at(-1);
  if (!last) return undefined;
  const { kind } = statementOf(last);
  if (kind === 'FunctionDef' || kind === 'ClassDef') return undefined;
  return { activation, module: activation.module, root, links, side, at };
}

/** The same for one frame of a step's own call chain, by its index. */
export function spotOf(path: LoweredPath, at: StepIndex, frame: number, side: Spot['side']): Spot | undefined {
  const place = originOf(path.program, at)?.frames[frame];
  return place && spotAt(path, place, at, side);
}

export function holder(spot: Spot): Statement {
  return statementOf(spot.links.at(-1)!);
}

/** The place around the `with` that directly holds this one; undefined if something else holds it. */
export function outside(spot: Spot): Spot | undefined {
  const parent = spot.links.at(-1)?.parent;
  return parent?.kind === 'With' && spot.links.length > 1 ? { ...spot, links: spot.links.slice(0, -1) } : undefined;
}

export function put(spot: Spot, lines: readonly string[]): OffsetEdit {
  const link = spot.links.at(-1)!;
  return spot.side === 'before' ? insertBefore(spot.module, link, lines) : insertAfter(spot.module, link, lines);
}

/** The expressions that surely name the target at this place, the latest binding first. */
export function expressionsAt(spot: Spot, target: NamedTarget): string[] {
  const links =
    spot.side === 'after'
      ? [...spot.links.slice(0, -1), { ...spot.links.at(-1)!, index: spot.links.at(-1)!.index + 1 }]
      : spot.links;
  return namesOf(spot.activation, target, spot.at).filter((expression) => {
    const base = /^[\p{L}_][\p{L}\p{N}_]*/u.exec(expression)?.[0];
    return base !== undefined && isBound(spot.root, links, base);
  });
}

export function streamAt(spot: Spot, stream: StreamId): string | undefined {
  return expressionsAt(spot, { kind: 'stream', stream })[0];
}

export function currentStream(spot: Spot): string {
  return `${spot.activation.torchName ?? 'torch'}.cuda.current_stream()`;
}

/** The edits, and the import that they need where `torch` has no name in the module. */
export function withImports(spot: Spot, edits: readonly OffsetEdit[]): OffsetEdit[] {
  const needed = !spot.activation.torchName && edits.some((edit) => /\btorch\./.test(edit.newText));
  return needed ? [importTorch(spot.module), ...edits] : [...edits];
}

/** A name that the function and its module do not use: `copy_done`, `copy_done_2`. */
export function freshName(spot: Spot, wanted: string): string {
  const { text } = spot.module;
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}_${i}`;
    if (!new RegExp(`\\b${name}\\b`).test(text)) return name;
  }
}

/** `copy` for `self.copy`, `lane` for `lanes[0]`'s event: the last plain word of an expression. */
export function eventNameFor(stream: string | undefined): string {
  if (!stream || stream.includes('current_stream')) return 'done';
  const word =
    stream
      .match(/[A-Za-z_]\w*/g)
      ?.at(-1)
      ?.replace(/^_+|_+$/g, '') ?? '';
  return word ? `${word}_done` : 'done';
}

export function spoken(stream: string): string {
  return stream.endsWith('current_stream()') ? 'the current stream' : `\`${stream}\``;
}
