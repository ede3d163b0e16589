/**
 * Reads snapshots of the CUDA caching allocator (torch.cuda.memory._dump_snapshot), of torch 2.1 and newer: block lives
 * with their stacks, and bytes over time. A block lives from its allocation to its release; it is reusable only when the
 * allocator completes the release. A gap between the two is a block that record_stream holds back.
 *
 *     alloc ──── in use ──── free_requested ░░ held back ░░ free_completed
 */
import type { MemoryKind } from '../program/program.ts';
import { float64, groupedOrder, int32, uint8 } from './columns.ts';
import { annotationSlice, TraceDraft } from './draft.ts';
import { TraceError } from './error.ts';
import { type PickleValue, readPickle } from './pickle.ts';
import { PickleDictionary } from './pickle-dictionary.ts';
import { NumberMap } from './number-map.ts';
import { ownerOf } from './python-frames.ts';
import type { FormatReader } from './reader.ts';
import type { Trace } from './trace.ts';
import { WholeFile } from './whole-file.ts';

type Dictionary = Pick<PickleDictionary, 'get' | 'has'>;

/** A snapshot larger than this is not held in memory whole. */
const longestSnapshot = 2 ** 31 - 1;

/** Entries of `device_traces` and `host_traces`: columns, for there are hundreds of thousands. */
class Entries {
  readonly entry: Dictionary[] = [];
  /** The values that each of the passes below asks for. */
  readonly action: PickleValue[] = [];
  /** 0 where it is no number, or below 0. */
  readonly size = float64();
  readonly device = int32();
  /** 1: of pinned host memory. */
  readonly pinned = uint8();
  /** Unix microseconds, or the place in the list where the file has no times. */
  readonly time = float64();
  /** 1: the release and its completion are one, nothing held the block. */
  readonly atOnce = uint8();

  get length(): number {
    return this.entry.length;
  }

  /** In the order of time over all devices. */
  order(): Int32Array {
    return groupedOrder(this.length, undefined, this.time.cells);
  }
}

export class SnapshotReader implements FormatReader {
  readonly #file = new WholeFile(
    longestSnapshot,
    'The snapshot is larger than 2 GB. Record it with a smaller max_entries.',
  );
  readonly #draft = new TraceDraft();
  readonly #streams = new Map<string, number>();
  readonly #siteOf = new Map<PickleValue, number>();
  /** Live blocks by memory, device and address. */
  readonly #live = { device: new Map<number, NumberMap>(), pinned: new Map<number, NumberMap>() };
  /** Names of blocks by their addresses. */
  readonly #nameOf = new NumberMap();
  readonly #names: string[] = [];
  #start = 0;
  #hasTimes = true;
  #older = 0;
  /** Per device the segments given back since the last one was got. */
  readonly #givenBack = new Map<number, { bytes: number; readonly site: number }>();

  push(bytes: Uint8Array): void {
    this.#file.push(bytes);
  }

  finish(cut?: string): Trace {
    const bytes = this.#file.take();
    if (cut)
      throw new TraceError(`${cut} A snapshot cannot be read in part: its last bytes say what it holds.`, bytes.length);
    return this.#read(readPickle(bytes));
  }

  #read(top: PickleValue): Trace {
    const draft = this.#draft;
    // Before torch 2.0 the snapshot was the list of segments itself.
    const root: Dictionary = Array.isArray(top)
      ? new Map<PickleValue, PickleValue>([['segments', top]])
      : asDictionary(top);
    if (!root.has('segments') && !root.has('device_traces'))
      throw new TraceError(
        'The pickle holds plain data, but no allocator snapshot: it has neither “segments” nor “device_traces”. Write one with torch.cuda.memory._dump_snapshot("snapshot.pickle").',
        0,
      );
    const entries = this.#entries(root);
    const annotations = [...asList(root.get('external_annotations')).map(asDictionary), ...userDefined(entries)];
    let start = Number.POSITIVE_INFINITY;
    const begin = (time: number): void => {
      if (time >= 0 && time < start) start = time;
    };
    for (let i = 0; i < entries.length; i++) begin(entries.time.get(i));
    for (const annotation of annotations) begin(integer(annotation.get('time_us')));
    this.#start = Number.isFinite(start) ? start : 0;

    draft.threads.push({ name: 'host', pid: -1, tid: -1 });
    draft.programThreads.push({ name: 'host' });
    const segments = asList(root.get('segments')).map(asDictionary);
    const totals = this.#totalsBefore(segments, entries);
    const order = entries.order();
    for (let row = 0; row < order.length; row++) this.#entry(entries, order[row]!, row, totals);
    this.#ghosts(segments, 'device');
    this.#ghosts(asList(root.get('host_segments')).map(asDictionary), 'pinned');
    this.#annotations(annotations);
    this.#tellLimits(root, entries);
    return draft.finish({
      format: 'snapshot',
      producer: 'torch.cuda.memory snapshot',
      clock: 'gpu',
      counts: { rows: entries.length },
      unixStart: this.#hasTimes && this.#start > 0 ? String(BigInt(Math.floor(this.#start)) * 1000n) : undefined,
    });
  }

  /** All entries of all devices, as they stand in the file. */
  #entries(root: Dictionary): Entries {
    const result = new Entries();
    for (const [device, list] of asList(root.get('device_traces')).entries())
      this.#take(result, asList(list), device, false);
    for (const [device, list] of asList(root.get('host_traces')).entries())
      this.#take(result, asList(list), device, true);
    return result;
  }

  #take(result: Entries, list: readonly PickleValue[], device: number, pinned: boolean): void {
    let time = 0;
    for (let i = 0; i < list.length; i++) {
      const entry = asDictionary(list[i]!);
      const action = entry.get('action') ?? null;
      const stamp = integer(entry.get('time_us'));
      if (stamp < 0) this.#hasTimes = false;
      // Entries of a device stand in order; a clock that was set back must not tear them apart.
      time = Math.max(time, stamp < 0 ? i : stamp);
      result.entry.push(entry);
      result.action.push(action);
      result.size.push(Math.max(0, integer(entry.get('size'))));
      result.device.push(device);
      result.pinned.push(pinned ? 1 : 0);
      result.time.push(time);
      result.atOnce.push(action === 'free_requested' && isCompletion(list[i + 1], entry) ? 1 : 0);
    }
  }

  /** Bytes reserved and allocated before the first entry: what the end state says, less what the entries changed. */
  #totalsBefore(segments: readonly Dictionary[], entries: Entries): Totals {
    const totals = new Totals();
    for (const segment of segments) {
      const total = totals.of(Math.max(0, integer(segment.get('device'))));
      total.reserved += Math.max(0, integer(segment.get('total_size')));
      const { addresses } = blocksOf(segment);
      for (const { block } of addresses)
        if (block.get('state') === 'active_allocated')
          total.allocated += Math.max(
            0,
            integer(block.get('requested_size')),
            block.has('requested_size') ? 0 : integer(block.get('size')),
          );
    }
    const known = segments.length > 0;
    for (let i = 0; i < entries.length; i++) {
      if (entries.pinned.get(i) === 1) continue;
      const total = totals.of(entries.device.get(i));
      const action = entries.action[i]!;
      const size = entries.size.get(i);
      total.reserved -= size * reservedSign(action);
      total.allocated -= size * allocatedSign(action);
    }
    for (const total of totals.all()) {
      total.allocated = known ? Math.max(0, total.allocated) : 0;
      total.reserved = known ? Math.max(0, total.reserved) : 0;
    }
    return totals;
  }

  #entry(entries: Entries, index: number, row: number, totals: Totals): void {
    const draft = this.#draft;
    const { blocks } = draft;
    const entry = entries.entry[index]!;
    const device = entries.device.get(index);
    const memory = entries.pinned.get(index) === 1 ? 'pinned' : 'device';
    const action = entries.action[index]!;
    const time = (entries.time.get(index) - this.#start) * 1000;
    const address = integer(entry.get('addr'));
    const size = entries.size.get(index);
    const live = this.#liveOn(memory, device);
    const total = totals.of(device);
    draft.latest = Math.max(draft.latest, time);
    switch (action) {
      case 'alloc': {
        const site = this.#site(entry.get('frames'));
        const block = this.#newBlock(entry, device, memory, address, size, time, site);
        live.set(address, block);
        const stream = blocks.stream.get(block);
        draft.pushStep(
          { kind: 'allocate', thread: 0, origin: draft.origin(row, draft.sites.userSite(site)), block, stream },
          time,
        );
        break;
      }
      case 'free_requested': {
        const site = this.#site(entry.get('frames'));
        const known = live.get(address);
        const block = known >= 0 ? known : this.#olderBlock(entry, device, memory, address, size);
        blocks.releaseRequested.set(block, time);
        blocks.releaseSite.set(block, site);
        draft.pushStep(
          { kind: 'release', thread: 0, origin: draft.origin(row, draft.sites.userSite(site)), block },
          time,
        );
        break;
      }
      case 'free_completed': {
        const known = live.get(address);
        const block = known >= 0 ? known : this.#olderBlock(entry, device, memory, address, size);
        blocks.reusable.set(block, time);
        live.set(address, -1);
        break;
      }
      case 'segment_free':
      case 'segment_unmap':
        if (memory === 'device') this.#givesBack(device, size, this.#site(entry.get('frames')));
        break;
      case 'segment_alloc':
      case 'segment_map':
        if (memory === 'device') this.#takes(device, size, this.#site(entry.get('frames')), time);
        break;
      case 'oom':
        draft.allocatorEvents.push({
          kind: 'outOfMemory',
          time,
          device,
          bytes: size,
          free: integer(entry.get('device_free')),
          site: this.#site(entry.get('frames')),
        });
        draft.problems.add(
          'out of memory',
          `The allocator ran out of memory: ${size} bytes were asked for, ${Math.max(0, integer(entry.get('device_free')))} were free on device ${device}.`,
          -1,
          row,
        );
        break;
    }
    if (memory !== 'device') return;
    const held = entries.atOnce.get(index) === 0 && action === 'free_requested' ? size : 0;
    const { reserved, allocated, heldBack } = total;
    total.reserved = Math.max(0, total.reserved + size * reservedSign(action));
    total.allocated = Math.max(0, total.allocated + size * allocatedSign(action));
    if (held > 0) {
      total.heldBack += size;
      total.held.add(address);
    } else if (action === 'free_completed' && total.held.delete(address))
      total.heldBack = Math.max(0, total.heldBack - size);
    if (reserved !== total.reserved || allocated !== total.allocated || heldBack !== total.heldBack)
      draft.counters.add(time, device, total.allocated, total.reserved, total.heldBack);
  }

  #givesBack(device: number, size: number, site: number): void {
    const known = this.#givenBack.get(device);
    if (known?.site === site) known.bytes += size;
    else this.#givenBack.set(device, { bytes: size, site });
  }

  /**
   * Segments that the same call gave back just before it got a new one: the driver had refused it. Without stacks this
   * looks like an empty_cache() that somebody wrote, and nothing is said.
   */
  #takes(device: number, size: number, site: number, time: number): void {
    const given = this.#givenBack.get(device);
    if (given && site >= 0 && given.site === site)
      this.#draft.allocatorEvents.push({ kind: 'retry', time, device, bytes: size, free: given.bytes, site });
    this.#givenBack.delete(device);
  }

  /** Blocks in use by their addresses. */
  #liveOn(memory: MemoryKind, device: number): NumberMap {
    const kind = memory === 'pinned' ? this.#live.pinned : this.#live.device;
    let live = kind.get(device);
    if (!live) {
      live = new NumberMap();
      kind.set(device, live);
    }
    return live;
  }

  #newBlock(
    entry: Dictionary,
    device: number,
    memory: MemoryKind,
    address: number,
    size: number,
    allocated: number,
    site: number,
  ): number {
    const draft = this.#draft;
    const stream = this.#stream(device, entry.get('stream'));
    // A label that the program gave with torch._C._cuda_setMemoryMetadata.
    const label = entry.get('user_metadata');
    const name = typeof label === 'string' && label !== '' ? draft.strings.add(label) : -1;
    const block = draft.programBlocks.length;
    draft.programBlocks.push({
      name: name >= 0 ? draft.strings.list[name]! : this.#nameAt(address),
      memory,
      evidence: true,
      size,
      address,
      stream,
    });
    return draft.pushBlock({ address, size, stream, allocated, name, allocationSite: site, programBlock: block });
  }

  /** The allocator hands an address out again and again. */
  #nameAt(address: number): string {
    const known = this.#nameOf.get(address);
    if (known >= 0) return this.#names[known]!;
    const name = `block ${addressText(Math.max(0, address))}`;
    this.#nameOf.set(address, this.#names.push(name) - 1);
    return name;
  }

  /** A block that is released, but whose allocation is not in the file: the recording began later, or its ring was full. */
  #olderBlock(entry: Dictionary, device: number, memory: MemoryKind, address: number, size: number): number {
    this.#older++;
    const block = this.#newBlock(entry, device, memory, address, size, -1, -1);
    this.#liveOn(memory, device).set(address, block);
    return block;
  }

  /** Blocks in use at the end that no entry allocates: older than the recording. */
  #ghosts(segments: readonly Dictionary[], memory: MemoryKind): void {
    for (const segment of segments) {
      const device = Math.max(0, integer(segment.get('device')));
      for (const { block, address } of blocksOf(segment).addresses) {
        const state = block.get('state');
        if (state !== 'active_allocated' && state !== 'active_pending_free' && state !== 'active_awaiting_free')
          continue;
        if (this.#liveOn(memory, device).has(address)) continue;
        this.#older++;
        const size = Math.max(0, integer(block.get('size')));
        const row = this.#newBlock(segment, device, memory, address, size, -1, this.#site(framesOf(block)));
        // Its release is older than the recording too; when, is not known.
        if (state !== 'active_allocated') this.#draft.blocks.releaseRequested.set(row, 0);
      }
    }
  }

  #annotations(annotations: readonly Dictionary[]): void {
    const open = new Map<string, number[]>();
    for (const annotation of annotations) {
      const name = annotation.get('name');
      const time = integer(annotation.get('time_us'));
      if (typeof name !== 'string' || time < 0) continue;
      const key = `${integer(annotation.get('device'))} ${name}`;
      const starts = open.get(key) ?? [];
      open.set(key, starts);
      if (annotation.get('stage') === 'START') starts.push(time);
      else {
        const start = starts.pop();
        if (start !== undefined) this.#annotation(name, start, time);
      }
    }
    // What was open when the snapshot was taken lasts to its end.
    const last = this.#start + this.#draft.latest / 1000;
    for (const [key, starts] of open)
      for (const start of starts) this.#annotation(key.slice(key.indexOf(' ') + 1), start, last);
  }

  #annotation(name: string, start: number, end: number): void {
    this.#draft.pushHost(
      0,
      (start - this.#start) * 1000,
      Math.max(0, end - start) * 1000,
      this.#draft.strings.add(name),
      annotationSlice,
      -1,
    );
  }

  #stream(device: number, value: PickleValue | undefined): number {
    const handle = value === undefined ? -1n : toBigInt(value);
    const key = `${device} ${handle}`;
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const { streams, programStreams } = this.#draft;
    const at = streams.length;
    const isDefault = handle === 0n;
    const text = handle > 0n ? `0x${handle.toString(16)}` : handle === 0n ? '0x0' : '';
    const name = isDefault ? 'default' : text ? `stream ${text}` : 'a stream that is not known';
    streams.push({ name, device, isDefault, number: -1, handle: text, programStream: at });
    programStreams.push({ name, device, isDefault, ...(text ? { handle: text } : { unknown: true }) });
    this.#streams.set(key, at);
    return at;
  }

  /** Stacks are shared by identity: each list of frames is looked at once. */
  #site(frames: PickleValue | undefined): number {
    if (!Array.isArray(frames)) return -1;
    const known = this.#siteOf.get(frames);
    if (known !== undefined) return known;
    const { sites, strings } = this.#draft;
    let site = -1;
    // Innermost first in the file; torch's own frames, C++ frames and the standard library are left out.
    for (let i = frames.length - 1; i >= 0; i--) {
      const frame = asDictionary(frames[i]!);
      const file = frame.get('filename');
      if (typeof file !== 'string') continue;
      const owner = ownerOf(file);
      if (owner === 'hidden') continue;
      const fn = frame.get('name');
      const line = Math.min(Math.max(0, integer(frame.get('line'))), 0x7fffffff);
      site = sites.add(strings.add(file), line, strings.add(typeof fn === 'string' ? fn : ''), site);
      if (owner === 'user') sites.markUser(site);
    }
    this.#siteOf.set(frames, site);
    return site;
  }

  #tellLimits(root: Dictionary, entries: Entries): void {
    const { limits } = this.#draft;
    limits.push(allocatorAlone);
    if (asList(root.get('device_traces')).length === 0 || entries.length === 0)
      limits.push(
        'There is no history in the snapshot, only the state at its end: call torch.cuda.memory._record_memory_history() before the part of interest.',
      );
    else if (!this.#hasTimes)
      limits.push(
        'The entries have no times (torch older than 2.2): they are drawn a microsecond apart, in their order.',
      );
    if (this.#older > 0)
      limits.push(
        `${this.#older === 1 ? '1 block was' : `${this.#older} blocks were`} allocated before the recording, or before its oldest entry (a full ring drops the oldest: raise max_entries).`,
      );
    if (entries.length > 0 && this.#draft.sites.length === 0)
      limits.push('Stacks are not recorded: call _record_memory_history(stacks="python") to see source lines.');
  }
}

/** No longer so where a profile of the same process lies beside the snapshot. */
export const allocatorAlone =
  'A snapshot knows the allocator alone: kernels, events and waits are not in it, nor which streams use a block. Races cannot be found in this file.';

/** Some releases of 2024 wrote annotations as entries: the label is the frame's file, START or END its function. */
function userDefined(entries: Entries): Dictionary[] {
  const found: Dictionary[] = [];
  if (!entries.action.includes('user_defined')) return found;
  const order = entries.order();
  for (let i = 0; i < order.length; i++) {
    const at = order[i]!;
    const entry = entries.entry[at]!;
    if (entries.action[at] !== 'user_defined') continue;
    const frame = asDictionary(asList(entry.get('frames'))[0] ?? null);
    found.push(
      new Map<PickleValue, PickleValue>([
        ['name', frame.get('filename') ?? ''],
        ['stage', frame.get('name') ?? ''],
        ['device', entries.device.get(at)],
        ['time_us', entries.time.get(at)],
      ]),
    );
  }
  return found;
}

/** Whether the entry behind a release is its completion. */
function isCompletion(next: PickleValue | undefined, release: Dictionary): boolean {
  if (next === undefined) return false;
  const completion = asDictionary(next);
  return completion.get('action') === 'free_completed' && completion.get('addr') === release.get('addr');
}

/** What an entry does to the totals, as a sign. */
function reservedSign(action: PickleValue): number {
  if (action === 'segment_alloc' || action === 'segment_map') return 1;
  return action === 'segment_free' || action === 'segment_unmap' ? -1 : 0;
}

function allocatedSign(action: PickleValue): number {
  return action === 'alloc' ? 1 : action === 'free_requested' ? -1 : 0;
}

interface Total {
  reserved: number;
  allocated: number;
  heldBack: number;
  /** Addresses of the blocks that are held back now. */
  readonly held: Set<number>;
}

class Totals {
  readonly #byDevice = new Map<number, Total>();

  of(device: number): Total {
    const known = this.#byDevice.get(device);
    if (known) return known;
    const total = { reserved: 0, allocated: 0, heldBack: 0, held: new Set<number>() };
    this.#byDevice.set(device, total);
    return total;
  }

  all(): Iterable<Total> {
    return this.#byDevice.values();
  }
}

/** Blocks of a segment with their addresses, which old files leave out: blocks lie one behind the other. */
function blocksOf(segment: Dictionary): { addresses: { block: Dictionary; address: number }[] } {
  let at = integer(segment.get('address'));
  const addresses = asList(segment.get('blocks'))
    .map(asDictionary)
    .map((block) => {
      const address = block.has('address') ? integer(block.get('address')) : at;
      at = address + Math.max(0, integer(block.get('size')));
      return { block, address };
    });
  return { addresses };
}

/** Up to torch 2.0 a block has its stack in a list of histories. */
function framesOf(block: Dictionary): PickleValue | undefined {
  if (block.has('frames')) return block.get('frames');
  const history = asList(block.get('history'));
  return history.length > 0 ? asDictionary(history[0]!).get('frames') : undefined;
}

const nothing: Dictionary = new Map();

function asDictionary(value: PickleValue): Dictionary {
  return value instanceof PickleDictionary ? value : nothing;
}

function asList(value: PickleValue | undefined): PickleValue[] {
  return Array.isArray(value) ? value : [];
}

/** -1 for what is no number. */
function integer(value: PickleValue | undefined): number {
  if (typeof value === 'number') return Number.isFinite(value) ? value : -1;
  return typeof value === 'bigint' ? Number(value) : -1;
}

/** In two halves of 32 bits, whose digits come much quicker than those of a number that large. */
function addressText(address: number): string {
  const high = Math.floor(address / 2 ** 32);
  const low = (address >>> 0).toString(16);
  return high > 0 && high < 2 ** 21 ? `0x${high.toString(16)}${low.padStart(8, '0')}` : `0x${address.toString(16)}`;
}

function toBigInt(value: PickleValue): bigint {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : -1n;
}
