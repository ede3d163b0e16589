/** Which of the files that the analysis looked into do not parse: what stands around such a place is not analysed. */
import { LineMap } from '../core/base/text.ts';
import type { Module } from '../core/python/ast.ts';
import type { PythonParser } from '../core/python/parse.ts';
import type { Problem } from '../core/rules/finding.ts';

export interface WatchedParser {
  readonly parser: PythonParser;
  problems(): Problem[];
}

export function watchSyntax(parser: PythonParser): WatchedParser {
  /** By file, as it was parsed last. */
  const modules = new Map<string, Module>();
  const watched = (module: Module): Module => {
    modules.set(module.file, module);
    return module;
  };
  return {
    parser: {
      ...parser,
      parse: (file, text) => watched(parser.parse(file, text)),
      outline: (file, text) => watched(parser.outline(file, text)),
    },
    problems: () => [...modules.values()].filter(isBroken).map(problem),
  };
}

/** What was not looked into does not matter, and to parse it for this would cost more than the analysis. */
function isBroken(module: Module): boolean {
  return module.brokenSoFar && !module.brokenSoFar() ? false : module.errors.length > 0;
}

function problem(module: Module): Problem {
  const { file, text, errors } = module;
  const { line } = new LineMap(text).position(Math.min(...errors.map(({ start }) => start)));
  if (isMostlyBroken(module)) return { file, line, message: 'could not be analysed: this is not Python' };
  // The grammar lacks a few rare forms, so that it is no fault of the file for sure.
  return { file, line, message: 'does not parse here; what stands around it was not analysed', note: true };
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
