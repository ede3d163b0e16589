/**
 * What a search matches: kernels and operators by name, tensors by name or address, source places, streams, findings. Words
 * are looked up once in the trace's tables, so a frame only asks a few bytes a slice.
 */
import type { Wanted } from '../../core/timeline/filter.ts';
import type { Target } from '../../core/timeline/hit.ts';
import { deviceSliceKinds, hostSliceKinds } from '../../core/trace/trace.ts';
import type { Run } from '../messages.ts';
import { parseQuery, type Query } from './query.ts';

export interface Search {
  readonly term: string;
  readonly isMatch: Wanted;
  /** Matches in order of time: findings, device slices, host slices, blocks. At most `mostMatches`. */
  readonly matches: readonly Target[];
  /** All matches, also those beyond `mostMatches`. */
  readonly count: number;
}

export const mostMatches = 10_000;

export function search(run: Run, text: string): Search | undefined {
  const query = parseQuery(text);
  if (!query) return undefined;
  const isMatch = conditions(run, query);
  const { deviceSlices, hostSlices, blocks } = run.trace;
  const found: { time: number; target: Target }[] = [];
  let count = 0;
  const see = (kind: Target['kind'], index: number, time: number): void => {
    count++;
    if (found.length < mostMatches) found.push({ time, target: { kind, index } });
  };
  run.hazards.forEach((hazard, i) => {
    if (isFinding(query, hazard.code, hazard.message)) see('hazard', i, hazard.start);
  });
  for (let i = 0; i < deviceSlices.length; i++) if (isMatch.device(i)) see('device', i, deviceSlices.start[i]!);
  for (let i = 0; i < hostSlices.length; i++) if (isMatch.host(i)) see('host', i, hostSlices.start[i]!);
  for (let i = 0; i < blocks.length; i++) if (isMatch.block(i)) see('block', i, blocks.allocated[i]!);
  found.sort((a, b) => a.time - b.time);
  return { term: text.trim().toLowerCase(), isMatch, matches: found.map(({ target }) => target), count };
}

/** Findings are meant by their code, or by their words where nothing else narrows the search down. */
function isFinding(query: Query, code: string, message: string): boolean {
  if (query.code !== undefined) return code.includes(query.code) && message.toLowerCase().includes(query.words);
  const others = query.stream ?? query.thread ?? query.kind ?? query.file ?? query.over ?? query.under;
  return others === undefined && query.words.length > 2 && code.includes(query.words);
}

const nothing = (): boolean => false;

function conditions({ trace, hazards, timeline }: Run, query: Query): Wanted {
  const { deviceSlices, hostSlices, blocks, sites, strings } = trace;
  const { words, address } = query;
  const names = Uint8Array.from(strings, (name) => (words !== '' && name.toLowerCase().includes(words) ? 1 : 0));
  const places = new Uint8Array(sites.length);
  for (let i = 0; i < sites.length; i++) {
    const place = `${strings[sites.file[i]!] ?? ''}:${sites.line[i]}`.toLowerCase();
    if (words !== '' && (place.includes(words) || names[sites.function[i]!] === 1)) places[i] = 1;
  }
  const free = (name: number, site: number): boolean => words === '' || names[name] === 1 || places[site] === 1;
  const files = query.file === undefined ? undefined : sitesOfFile(trace, query.file);
  const named = (value: string | undefined, list: readonly { readonly name: string }[]): Uint8Array | undefined =>
    value === undefined ? undefined : Uint8Array.from(list, ({ name }) => (name.toLowerCase().includes(value) ? 1 : 0));
  const streams = named(query.stream, trace.streams);
  const threads = named(query.thread, trace.threads);
  const { kind, over = Number.NEGATIVE_INFINITY, under = Number.POSITIVE_INFINITY } = query;
  const kindOf = (list: readonly string[]): number => (kind === undefined ? -1 : list.indexOf(kind));
  const deviceKind = kindOf(deviceSliceKinds);
  const hostKind = kindOf(hostSliceKinds);
  const involved = query.code === undefined ? undefined : involvedIn(hazards, query.code);
  const site = (i: number): number => {
    const own = deviceSlices.site[i]!;
    return own >= 0 || deviceSlices.launcher[i]! < 0 ? own : hostSlices.site[deviceSlices.launcher[i]!]!;
  };
  const lasts = (duration: number): boolean => duration >= over && duration <= under;
  return {
    device:
      threads || (kind !== undefined && deviceKind < 0)
        ? nothing
        : (i) =>
            free(deviceSlices.name[i]!, site(i)) &&
            (!streams || streams[deviceSlices.stream[i]!] === 1) &&
            (deviceKind < 0 || deviceSlices.kind[i] === deviceKind) &&
            (!files || files[site(i)] === 1) &&
            (!involved || involved.slices.has(i)) &&
            lasts(deviceSlices.duration[i]!),
    host:
      streams || involved || (kind !== undefined && hostKind < 0)
        ? nothing
        : (i) =>
            free(hostSlices.name[i]!, hostSlices.site[i]!) &&
            (!threads || threads[hostSlices.thread[i]!] === 1) &&
            (hostKind < 0 || hostSlices.kind[i] === hostKind) &&
            (!files || files[hostSlices.site[i]!] === 1) &&
            lasts(hostSlices.duration[i]!),
    block:
      threads || (kind !== undefined && kind !== 'block')
        ? nothing
        : (i) =>
            (address >= 0
              ? address >= blocks.address[i]! && address < blocks.address[i]! + Math.max(1, blocks.size[i]!)
              : words === '' || names[blocks.name[i]!] === 1) &&
            (!streams || streams[blocks.stream[i]!] === 1) &&
            (!files || files[blocks.allocationSite[i]!] === 1 || files[blocks.releaseSite[i]!] === 1) &&
            (!involved || involved.blocks.has(i)) &&
            lasts(timeline.blocks.duration[i]!),
  };
}

/** 1 for each site that the file is a frame of, however far out: what runs in a library belongs to who called it. */
function sitesOfFile({ sites, strings }: Run['trace'], file: string): Uint8Array {
  const isFile = Uint8Array.from(strings, (text) => (text.toLowerCase().includes(file) ? 1 : 0));
  const found = new Uint8Array(sites.length);
  for (let i = 0; i < sites.length; i++)
    for (let at = i, depth = 0; at >= 0 && at < sites.length && depth < 64; at = sites.parent[at]!, depth++)
      if (found[at] === 1 || isFile[sites.file[at]!] === 1) {
        found[i] = 1;
        break;
      }
  return found;
}

function involvedIn(
  hazards: Run['hazards'],
  code: string,
): { slices: ReadonlySet<number>; blocks: ReadonlySet<number> } {
  const found = hazards.filter((hazard) => hazard.code.includes(code));
  return {
    slices: new Set(found.flatMap((hazard) => [hazard.firstSlice, hazard.secondSlice])),
    blocks: new Set(found.map((hazard) => hazard.block)),
  };
}
