import { readFileSync } from 'node:fs';
import { createSourceChecker, type SourceChecker } from '../core/checkSource.ts';
import { createPythonParser } from '../core/python/parse.ts';

/** A checker with the grammar that lies beside this bundle. */
export async function loadChecker(): Promise<SourceChecker> {
  const parser = await createPythonParser({
    treeSitterWasm: readFileSync(new URL('web-tree-sitter.wasm', import.meta.url)),
    pythonWasm: readFileSync(new URL('tree-sitter-python.wasm', import.meta.url)),
  });
  return createSourceChecker(parser);
}
