/**
 * What a search matches: names of kernels and operators, tensors, source places. The words are looked up once in the
 * trace's table of strings, so a frame only asks a byte per slice.
 */
import type { Target } from '../../core/timeline/hit.ts';
import type { Trace } from '../../core/trace/trace.ts';

export interface Search {
  readonly term: string;
  /** 1 for each string of the trace that holds the term. */
  readonly names: Uint8Array;
  /** 1 for each site whose `file:line` holds the term. */
  readonly sites: Uint8Array;
  /** Matches in order of time: device slices, host slices, blocks. At most `mostMatches`. */
  readonly matches: readonly Target[];
  /** All matches, also those beyond `mostMatches`. */
  readonly count: number;
}

export const mostMatches = 10_000;

export function search(trace: Trace, text: string): Search | undefined {
  const term = text.trim().toLowerCase();
  if (term === '') return undefined;
  const names = Uint8Array.from(trace.strings, (name) => (name.toLowerCase().includes(term) ? 1 : 0));
  const sites = new Uint8Array(trace.sites.length);
  for (let i = 0; i < sites.length; i++) {
    const file = trace.strings[trace.sites.file[i]!] ?? '';
    if (`${file}:${trace.sites.line[i]}`.toLowerCase().includes(term)) sites[i] = 1;
  }
  const found: { time: number; target: Target }[] = [];
  let count = 0;
  const see = (kind: 'device' | 'host' | 'block', index: number, time: number): void => {
    count++;
    if (found.length < mostMatches) found.push({ time, target: { kind, index } });
  };
  const { deviceSlices, hostSlices, blocks } = trace;
  for (let i = 0; i < deviceSlices.length; i++)
    if (names[deviceSlices.name[i]!] === 1 || sites[deviceSlices.site[i]!] === 1)
      see('device', i, deviceSlices.start[i]!);
  for (let i = 0; i < hostSlices.length; i++)
    if (names[hostSlices.name[i]!] === 1 || sites[hostSlices.site[i]!] === 1) see('host', i, hostSlices.start[i]!);
  const address = /^0x[0-9a-f]+$/.test(term) ? Number.parseInt(term, 16) : -1;
  for (let i = 0; i < blocks.length; i++) {
    const inside = address >= blocks.address[i]! && address < blocks.address[i]! + Math.max(1, blocks.size[i]!);
    if (names[blocks.name[i]!] === 1 || inside) see('block', i, blocks.allocated[i]!);
  }
  found.sort((a, b) => a.time - b.time);
  return { term, names, sites, matches: found.map(({ target }) => target), count };
}
