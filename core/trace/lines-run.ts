/**
 * The lines of source that a run is known to have gone through: all frames of all stacks that its file holds. Those of
 * profiles are the first lines of functions, which says nothing of a statement: they count for nothing.
 */
import type { Trace } from './trace.ts';

export interface LinesRun {
  readonly file: string;
  /** Ascending, from 1. */
  readonly lines: readonly number[];
}

export function linesRun({ format, sites, strings }: Trace): LinesRun[] {
  if (format !== 'raceline' && format !== 'snapshot') return [];
  const byFile = new Map<number, Set<number>>();
  for (let site = 0; site < sites.length; site++) {
    const line = sites.line[site]!;
    if (line < 1 || sites.file[site]! < 0) continue;
    const lines = byFile.get(sites.file[site]!);
    if (lines) lines.add(line);
    else byFile.set(sites.file[site]!, new Set([line]));
  }
  return [...byFile].map(([file, lines]) => ({ file: strings[file] ?? '', lines: [...lines].sort((a, b) => a - b) }));
}
