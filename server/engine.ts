/** Loads the analysis, with the grammar's wasm files that lie beside this bundle. */
import { readFile } from 'node:fs/promises';
import { createSourceChecker, type SourceChecker } from '../core/checkSource.ts';
import { createPythonParser, type PythonParser } from '../core/python/parse.ts';

/** What a session works with. */
export interface Engine {
  readonly parser: PythonParser;
  readonly checker: SourceChecker;
}

/** What engines are made of: the settings of projects decide how many checkers there are. */
export interface EngineParts {
  readonly parser: PythonParser;
  readonly createChecker: () => SourceChecker;
}

export async function loadEngine(): Promise<EngineParts> {
  const [treeSitterWasm, pythonWasm] = await Promise.all(
    ['web-tree-sitter.wasm', 'tree-sitter-python.wasm'].map((name) => readFile(new URL(name, import.meta.url))),
  );
  const parser = await createPythonParser({ treeSitterWasm: treeSitterWasm!, pythonWasm: pythonWasm! });
  return { parser, createChecker: () => createSourceChecker(parser) };
}
