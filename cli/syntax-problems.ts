/** Which of the files that the analysis looked into do not parse: what stands around such a place is not analysed. */
import { LineMap } from '../core/base/text.ts';
import type { Module } from '../core/python/ast.ts';
import type { PythonParser } from '../core/python/parse.ts';
import type { Problem } from '../core/rules/finding.ts';

export class SyntaxProblems implements PythonParser {
  readonly #parser: PythonParser;
  /** By file, as it was parsed last. */
  readonly #broken = new Map<string, Module>();

  constructor(parser: PythonParser) {
    this.#parser = parser;
  }

  parse(file: string, text: string): Module {
    const module = this.#parser.parse(file, text);
    if (module.errors.length) this.#broken.set(file, module);
    else this.#broken.delete(file);
    return module;
  }

  get problems(): Problem[] {
    return [...this.#broken.values()].map((module) => {
      const { line } = new LineMap(module.text).position(Math.min(...module.errors.map(({ start }) => start)));
      const { file } = module;
      if (isMostlyBroken(module)) return { file, line, message: 'could not be analysed: this is not Python' };
      // The grammar lacks a few rare forms, so that it is no fault of the file for sure.
      return { file, line, message: 'does not parse here; what stands around it was not analysed', note: true };
    });
  }
}

function isMostlyBroken({ errors, text }: Module): boolean {
  let covered = 0;
  let end = 0;
  for (const error of [...errors].sort((a, b) => a.start - b.start)) {
    covered += Math.max(0, error.end - Math.max(end, error.start));
    end = Math.max(end, error.end);
  }
  return covered * 2 > text.trim().length;
}
