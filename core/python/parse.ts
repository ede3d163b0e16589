/**
 * Owns the loading of tree-sitter's Python grammar, one parser instance, and the life of its trees. What a tree means
 * is syntax.ts's business. The two wasm files are handed in as bytes, so that the same code runs in Node, bundled or
 * not, and in a worker.
 */
import { Language, Parser } from 'web-tree-sitter';
import type { Module, Node } from './ast.ts';
import { createWalkTree, type RuntimeExports } from './cursor.ts';
import { createSyntaxBuilder } from './syntax.ts';

export interface ParserBytes {
  /** web-tree-sitter's own runtime, `web-tree-sitter.wasm`. */
  readonly treeSitterWasm: Uint8Array | ArrayBuffer;
  /** The grammar, `tree-sitter-python.wasm`. */
  readonly pythonWasm: Uint8Array;
}

export interface PythonParser {
  /** Never throws: what cannot be read is in `errors`. */
  parse(file: string, text: string): Module;
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

  return {
    parse(file, text) {
      const lost = (): Module => {
        const all: Node = { start: 0, end: text.length };
        return { kind: 'Module', file, text, body: [], errors: [all], ...all };
      };
      try {
        const tree = parser.parse(text);
        if (!tree) return lost();
        try {
          return build(file, text, tree);
        } finally {
          tree.delete();
        }
      } catch {
        // A trap in the wasm code or an exhausted stack: this text is lost, the next parse starts afresh.
        parser.reset();
        return lost();
      }
    },
  };
}

/** `Parser.init` fills the object that it is handed, which is how the runtime's exports are reached. */
async function startRuntime(wasmBinary: Uint8Array | ArrayBuffer): Promise<RuntimeExports> {
  const module: Record<string, unknown> = { wasmBinary };
  await Parser.init(module as Parameters<typeof Parser.init>[0]);
  return module;
}
