/** The Python parser, loaded once per test worker from the installed packages. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createPythonParser, type PythonParser } from '../../core/python/parse.ts';

const require = createRequire(import.meta.url);
let parser: Promise<PythonParser> | undefined;

export function loadParser(): Promise<PythonParser> {
  parser ??= createPythonParser({
    treeSitterWasm: readFileSync(require.resolve('web-tree-sitter/web-tree-sitter.wasm')),
    pythonWasm: readFileSync(require.resolve('tree-sitter-python/tree-sitter-python.wasm')),
  });
  return parser;
}
