/** Loads the analysis, with the grammar's wasm files that lie beside this bundle. */
import { readFile } from 'node:fs/promises';
import { createSourceChecker, type SourceChecker } from '../core/checkSource.ts';
import { createPythonParser, type PythonParser } from '../core/python/parse.ts';

export interface Engine {
  readonly parser: PythonParser;
  readonly checker: SourceChecker;
}

export async function loadEngine(): Promise<Engine> {
  const [treeSitterWasm, pythonWasm] = await Promise.all(
    ['web-tree-sitter.wasm', 'tree-sitter-python.wasm'].map((name) => readFile(new URL(name, import.meta.url))),
  );
  const parser = await createPythonParser({ treeSitterWasm: treeSitterWasm!, pythonWasm: pythonWasm! });
  return { parser, checker: createSourceChecker(parser) };
}
