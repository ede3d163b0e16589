import { readFileSync } from 'node:fs';
import { createPythonParser, type PythonParser } from '../core/python/parse.ts';

/** The parser, with the grammar that lies beside this bundle. */
export function loadParser(): Promise<PythonParser> {
  return createPythonParser({
    treeSitterWasm: readFileSync(new URL('web-tree-sitter.wasm', import.meta.url)),
    pythonWasm: readFileSync(new URL('tree-sitter-python.wasm', import.meta.url)),
  });
}
