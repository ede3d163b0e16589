/** Where in the source something of a run comes from, as the step that it belongs to says. */
import type { Trace, TracePlace } from '../trace/trace.ts';

export const nowhere: TracePlace = { file: '', line: 0 };

export function placeOfStep({ program }: Trace, step: number): TracePlace {
  const origin = program.origins[program.steps[step]?.origin ?? -1];
  if (origin?.kind !== 'trace' || origin.file === undefined) return nowhere;
  return { file: origin.file, line: origin.line ?? 0 };
}

/** The innermost frame of a site, where no step tells of the user's own. */
export function placeOfSite({ sites, strings }: Trace, site: number): TracePlace {
  if (site < 0) return nowhere;
  return { file: strings[sites.file[site]!] ?? '', line: sites.line[site]! };
}

export const streamName = ({ streams }: Trace, stream: number): string => streams[stream]?.name ?? '';
