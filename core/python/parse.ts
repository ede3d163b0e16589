/**
 * Owns the loading of tree-sitter's Python grammar, one parser instance, and the life of its trees. What a tree means
 * is syntax.ts's business. The two wasm files are handed in as bytes, so that the same code runs in Node, bundled or
 * not, and in a worker.
 */
import { Edit, Language, Parser, type Point, type Range, type Tree } from 'web-tree-sitter';
import type { FunctionDef, Module, Node } from './ast.ts';
import { createWalkTree, type RuntimeExports } from './cursor.ts';
import { withLateBodies } from './late.ts';
import { type Body, outlineOf } from './outline.ts';
import { repairOf } from './repair.ts';
import { createSyntaxBuilder, type Piece } from './syntax.ts';

export interface ParserBytes {
  /** web-tree-sitter's own runtime, `web-tree-sitter.wasm`. */
  readonly treeSitterWasm: Uint8Array | ArrayBuffer;
  /** The grammar, `tree-sitter-python.wasm`. */
  readonly pythonWasm: Uint8Array;
}

export interface PythonParser {
  /** Never throws: what cannot be read is in `errors`. */
  parse(file: string, text: string): Module;
  /**
   * The same, for a text that is mostly not looked into: the body of a function is parsed when it is first asked for. The
   * parts that were not asked for are not in `errors` before these are.
   */
  outline(file: string, text: string): Module;
}

let runtime: Promise<RuntimeExports> | undefined;

export async function createPythonParser({ treeSitterWasm, pythonWasm }: ParserBytes): Promise<PythonParser> {
  // The runtime is global to the process; a second initialization would orphan the parsers of the first.
  runtime ??= startRuntime(treeSitterWasm).catch((error) => {
    runtime = undefined;
    throw error;
  });
  const exports = await runtime;
  const language = await Language.load(pythonWasm);
  const parser = new Parser();
  parser.setLanguage(language);
  const build = createSyntaxBuilder(language, createWalkTree(exports));

  /** Files by how recently they changed, the latest last. */
  const recent = new Map<string, ParsedText>();
  const seen = new Set<string>();

  const keep = (file: string, parsed: ParsedText): void => {
    recent.get(file)?.tree.delete();
    recent.delete(file);
    recent.set(file, parsed);
    for (const [oldest, { tree }] of recent) {
      if (recent.size <= keptTrees) break;
      tree.delete();
      recent.delete(oldest);
    }
  };

  /** The tree of a text, or of parts of it, and what was repaired for it; null: the parser gave none. */
  const treeOf = (text: string, includedRanges?: Range[], isBroken = false): Shown | null => {
    const options = includedRanges && { includedRanges };
    let tree: Tree | null = null;
    if (!isBroken) {
      tree = parser.parse(text, null, options);
      if (!tree?.rootNode.hasError) return tree && { tree, errors: [] };
    }
    const repair = repairOf(text);
    if (!repair) {
      tree ??= parser.parse(text, null, options);
      return tree && { tree, errors: [] };
    }
    tree?.delete();
    const repaired = parser.parse(repair.text, null, options);
    return repaired && { tree: repaired, errors: repair.errors };
  };

  const parseAll = (text: string, isBroken = false): Shown => {
    const shown = treeOf(text, undefined, isBroken);
    if (!shown) throw new Error('the parser gave no tree');
    return shown;
  };

  /** An edit of a text that parsed costs what it changed. With errors the result would depend on the way to it. */
  const parseEdited = (text: string, before: ParsedText | undefined, edit: TextChange | undefined): Shown => {
    if (!before || !edit) return parseAll(text);
    // On a copy: after a text with errors the next edit still starts from this one.
    const shifted = before.tree.copy();
    shifted.edit(treeEdit(before.text, text, edit));
    const tree = parser.parse(text, shifted);
    shifted.delete();
    if (tree && !tree.rootNode.hasError) return { tree, errors: [] };
    tree?.delete();
    return parseAll(text, true);
  };

  const outline = (file: string, text: string): Module => {
    const outlined = outlineOf(text);
    if (!outlined) return whole(file, text);
    const { text: rest, bodies } = outlined;
    const ends = [0, ...bodies.map(({ end }) => end)];
    const includedRanges = ends.map((from, i) => {
      const next = bodies[i];
      return rangeOf(from, next ? next.first + 1 : rest.length);
    });
    const shown = treeOf(rest, includedRanges);
    if (!shown) return whole(file, text);
    const { tree } = shown;
    try {
      // What is wrong around the functions may have hidden where they end.
      if (tree.rootNode.hasError) return whole(file, text);
      const { module } = build(file, rest, tree);
      if (module.errors.length) return whole(file, text);
      const functionAt = ({ start, end }: Body): FunctionDef | undefined => {
        const part = treeOf(text, [rangeOf(start, end)]);
        if (!part) return undefined;
        try {
          const [only] = build(file, text, part.tree).module.body;
          return only?.kind === 'FunctionDef' ? only : undefined;
        } catch {
          parser.reset();
          return undefined;
        } finally {
          part.tree.delete();
        }
      };
      return withLateBodies(module, text, bodies, functionAt, () => whole(file, text).errors);
    } finally {
      tree.delete();
    }
  };

  const whole = (file: string, text: string): Module => {
    const { tree, errors } = parseAll(text);
    try {
      return build(file, text, tree, errors).module;
    } finally {
      tree.delete();
    }
  };

  return {
    outline(file, text) {
      try {
        seen.add(file);
        return outline(file, text);
      } catch {
        parser.reset();
        return unreadable(file, text);
      }
    },
    parse(file, text) {
      try {
        const before = recent.get(file);
        const edit = before && changeBetween(before.text, text);
        const { tree, errors } = parseEdited(text, before, edit);
        const earlier =
          before && edit
            ? { pieces: before.pieces, until: edit.start, from: edit.oldEnd, by: edit.newEnd - edit.oldEnd }
            : undefined;
        const { module, pieces } = build(file, text, tree, errors, earlier);
        // A file that is read once, as most are, keeps no tree.
        if (seen.has(file) && !module.errors.length) keep(file, { text, tree, pieces });
        else tree.delete();
        seen.add(file);
        return module;
      } catch {
        // A trap in the wasm code or an exhausted stack: this text is lost, the next parse starts afresh.
        parser.reset();
        recent.delete(file);
        return unreadable(file, text);
      }
    },
  };
}

interface Shown {
  readonly tree: Tree;
  /** What the tree does not show as an error, and is one. */
  readonly errors: readonly Node[];
}

function unreadable(file: string, text: string): Module {
  const all: Node = { start: 0, end: text.length };
  return { kind: 'Module', file, text, body: [], errors: [all], ...all };
}

/** Rows do not matter to the grammar. */
function rangeOf(startIndex: number, endIndex: number): Range {
  return {
    startIndex,
    endIndex,
    startPosition: { row: 0, column: startIndex },
    endPosition: { row: 0, column: endIndex },
  };
}

/** Trees that are kept for the next edit. */
const keptTrees = 4;

interface ParsedText {
  readonly text: string;
  readonly tree: Tree;
  readonly pieces: readonly Piece[];
}

/** `old[start, oldEnd)` became `text[start, newEnd)`. */
interface TextChange {
  readonly start: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

function changeBetween(old: string, text: string): TextChange {
  const shorter = Math.min(old.length, text.length);
  let start = 0;
  while (start < shorter && old.charCodeAt(start) === text.charCodeAt(start)) start++;
  let suffix = 0;
  while (
    suffix < shorter - start &&
    old.charCodeAt(old.length - 1 - suffix) === text.charCodeAt(text.length - 1 - suffix)
  )
    suffix++;
  // Never between the two halves of a character.
  if (isHigh(old.charCodeAt(start - 1)) || isHigh(text.charCodeAt(start - 1))) start--;
  while (suffix > 0 && isLow(text.charCodeAt(text.length - suffix))) suffix--;
  return { start, oldEnd: old.length - suffix, newEnd: text.length - suffix };
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function treeEdit(old: string, text: string, { start, oldEnd, newEnd }: TextChange): Edit {
  return new Edit({
    startIndex: start,
    oldEndIndex: oldEnd,
    newEndIndex: newEnd,
    startPosition: pointAt(old, start),
    oldEndPosition: pointAt(old, oldEnd),
    newEndPosition: pointAt(text, newEnd),
  });
}

function pointAt(text: string, offset: number): Point {
  let row = 0;
  let line = 0;
  for (let next = text.indexOf('\n'); next >= 0 && next < offset; next = text.indexOf('\n', line)) {
    row++;
    line = next + 1;
  }
  return { row, column: offset - line };
}

/** `Parser.init` fills the object that it is handed, which is how the runtime's exports are reached. */
async function startRuntime(wasmBinary: Uint8Array | ArrayBuffer): Promise<RuntimeExports> {
  const module: Record<string, unknown> = { wasmBinary };
  await Parser.init(module as Parameters<typeof Parser.init>[0]);
  return module;
}
