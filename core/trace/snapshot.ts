/**
 * Reads snapshots of the CUDA caching allocator (torch.cuda.memory._dump_snapshot), of torch 2.1 and newer: block lives
 * with their stacks, and bytes over time. A block lives from its allocation to its release; it is reusable only when the
 * allocator completes the release. A gap between the two is a block that record_stream holds back.
 *
 *     alloc ──── in use ──── free_requested ░░ held back ░░ free_completed
 */
import type { MemoryKind } from '../program/program.ts';
import { uint8 } from './columns.ts';
import { annotationSlice, TraceDraft } from './draft.ts';
import { TraceError } from './error.ts';
import { NumberMap } from './number-map.ts';
import { readPickle } from './pickle.ts';
import { dictionaryCell, listCell, numberCell } from './pickle-cells.ts';
import { Fields, type PickleTree } from './pickle-tree.ts';
import type { FormatReader } from './reader.ts';
import { actionOf, Entries } from './snapshot-entries.ts';
import { Calls, programOf } from './snapshot-program.ts';
import { Stacks } from './snapshot-stacks.ts';
import { blocksOf, Totals } from './snapshot-totals.ts';
import type { Trace } from './trace.ts';
import { WholeFile } from './whole-file.ts';

/** A snapshot larger than this is not held in memory whole. */
const longestSnapshot = 2 ** 31 - 1;

export class SnapshotReader implements FormatReader {
  readonly #file = new WholeFile(
    longestSnapshot,
    'The snapshot is larger than 2 GB. Record it with a smaller max_entries.',
  );

  hold(bytes: Uint8Array): void {
    this.#file.hold(bytes);
  }

  push(bytes: Uint8Array): void {
    this.#file.push(bytes);
  }

  finish(cut?: string): Trace {
    const bytes = this.#file.take();
    if (cut)
      throw new TraceError(`${cut} A snapshot cannot be read in part: its last bytes say what it holds.`, bytes.length);
    return new Snapshot(readPickle(bytes)).read();
  }
}

/** The begin or the end of something that the program gave a name. */
interface Annotation {
  readonly name: string;
  readonly isStart: boolean;
  readonly device: number;
  /** Unix microseconds. */
  readonly time: number;
}

class Snapshot {
  readonly #tree: PickleTree;
  readonly #draft = new TraceDraft();
  readonly #entries: Entries;
  readonly #stacks: Stacks;
  readonly #segments: readonly number[];
  readonly #fields: Fields;
  readonly #streams = new Map<string, number>();
  #lastStream = { device: -1, number: -1, stream: -1 };
  /** Live blocks by memory, device and address. */
  readonly #live = { device: new Map<number, NumberMap>(), pinned: new Map<number, NumberMap>() };
  readonly #calls = new Calls();
  /** 1: the block is of pinned host memory. */
  readonly #pinned = uint8();
  #start = 0;
  #older = 0;
  /** Per device the segments given back since the last one was got. */
  readonly #givenBack = new Map<number, { bytes: number; readonly site: number }>();

  constructor(tree: PickleTree) {
    this.#tree = tree;
    // Before torch 2.0 the snapshot was the list of segments itself.
    const isList = tree.which(tree.root, listCell) >= 0;
    if (!isList && tree.get(tree.root, 'segments') < 0 && tree.get(tree.root, 'device_traces') < 0)
      throw new TraceError(
        'The pickle holds plain data, but no allocator snapshot: it has neither “segments” nor “device_traces”. Write one with torch.cuda.memory._dump_snapshot("snapshot.pickle").',
        0,
      );
    this.#segments = segmentsOf(tree, isList ? tree.root : tree.get(tree.root, 'segments'));
    this.#entries = new Entries(tree);
    this.#stacks = new Stacks(tree, this.#draft);
    this.#fields = new Fields(tree, ['stream', 'user_metadata']);
  }

  read(): Trace {
    const draft = this.#draft;
    const tree = this.#tree;
    const entries = this.#entries;
    const annotations = [...this.#external(), ...this.#userDefined()];
    let start = Number.POSITIVE_INFINITY;
    const begin = (time: number): void => {
      if (time >= 0 && time < start) start = time;
    };
    for (let i = 0; i < entries.length; i++) begin(entries.time.get(i));
    for (const annotation of annotations) begin(annotation.time);
    this.#start = Number.isFinite(start) ? start : 0;

    draft.threads.push({ name: 'host', pid: -1, tid: -1 });
    draft.programThreads.push({ name: 'host' });
    const totals = new Totals(entries, this.#segments, draft.counters);
    this.#history(totals);
    this.#ghosts(this.#segments, 'device');
    this.#ghosts(segmentsOf(tree, tree.get(tree.root, 'host_segments')), 'pinned');
    this.#annotations(annotations);
    this.#tellLimits();
    const pinned = this.#pinned.finish();
    return draft.finish({
      format: 'snapshot',
      producer: 'torch.cuda.memory snapshot',
      clock: 'gpu',
      counts: { rows: entries.length },
      program: programOf(draft, this.#calls, pinned),
      pinned,
      unixStart: entries.hasTimes && this.#start > 0 ? String(BigInt(Math.floor(this.#start)) * 1000n) : undefined,
    });
  }

  #history(totals: Totals): void {
    const entries = this.#entries;
    const order = entries.order();
    for (let row = 0; row < order.length; row++) {
      const index = order[row]!;
      const time = (entries.time.get(index) - this.#start) * 1000;
      this.#draft.latest = Math.max(this.#draft.latest, time);
      this.#entry(index, row, time);
      if (entries.pinned.get(index) === 0) totals.take(index, time);
    }
  }

  #entry(index: number, row: number, time: number): void {
    const draft = this.#draft;
    const { blocks } = draft;
    const entries = this.#entries;
    const device = entries.device.get(index);
    const memory = entries.pinned.get(index) === 1 ? 'pinned' : 'device';
    const address = entries.address.get(index);
    const size = entries.size.get(index);
    switch (entries.action.get(index)) {
      case actionOf.alloc: {
        const site = this.#siteOf(index);
        const block = this.#newBlock(entries.cell.get(index), device, memory, address, size, time, site);
        this.#liveOn(memory, device).set(address, block);
        this.#call(true, block, row, site, time);
        break;
      }
      case actionOf.free_requested: {
        const site = this.#siteOf(index);
        const block = this.#blockAt(index, memory);
        blocks.releaseRequested.set(block, time);
        blocks.releaseSite.set(block, site);
        this.#call(false, block, row, site, time);
        break;
      }
      case actionOf.free_completed:
        blocks.reusable.set(this.#blockAt(index, memory), time);
        this.#liveOn(memory, device).set(address, -1);
        break;
      case actionOf.segment_free:
      case actionOf.segment_unmap:
        if (memory === 'device') this.#givesBack(device, size, this.#siteOf(index));
        break;
      case actionOf.segment_alloc:
      case actionOf.segment_map:
        if (memory === 'device') this.#takes(device, size, this.#siteOf(index), time);
        break;
      case actionOf.oom:
        this.#outOfMemory(index, row, time);
        break;
    }
  }

  #call(allocates: boolean, block: number, row: number, site: number, time: number): void {
    this.#calls.push(allocates, block, row, this.#draft.sites.userSite(site));
    this.#draft.stepTime.push(time);
  }

  #siteOf(index: number): number {
    return this.#stacks.site(this.#entries.frames.get(index));
  }

  #outOfMemory(index: number, row: number, time: number): void {
    const entries = this.#entries;
    const device = entries.device.get(index);
    const bytes = entries.size.get(index);
    const free = this.#tree.number(this.#tree.get(entries.cell.get(index), 'device_free'));
    const site = this.#siteOf(index);
    this.#draft.allocatorEvents.push({ kind: 'outOfMemory', time, device, bytes, free, site });
    this.#draft.problems.add(
      'out of memory',
      `The allocator ran out of memory: ${bytes} bytes were asked for, ${Math.max(0, free)} were free on device ${device}.`,
      -1,
      row,
    );
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

  /** The block that lives where the entry says. */
  #blockAt(index: number, memory: MemoryKind): number {
    const entries = this.#entries;
    const device = entries.device.get(index);
    const address = entries.address.get(index);
    const live = this.#liveOn(memory, device);
    const known = live.get(address);
    if (known >= 0) return known;
    // Its allocation is not in the file: the recording began later, or its ring was full.
    this.#older++;
    const block = this.#newBlock(entries.cell.get(index), device, memory, address, entries.size.get(index), -1, -1);
    live.set(address, block);
    return block;
  }

  /** `cell`: the dictionary that says its stream and its label. */
  #newBlock(
    cell: number,
    device: number,
    memory: MemoryKind,
    address: number,
    size: number,
    allocated: number,
    site: number,
  ): number {
    const draft = this.#draft;
    this.#fields.look(cell);
    const [streamCell, labelCell] = this.#fields.cells;
    const stream = this.#stream(device, streamCell!);
    // A label that the program gave with torch._C._cuda_setMemoryMetadata.
    const label = this.#tree.text(labelCell!) ?? '';
    const name = label === '' ? -1 : draft.strings.add(label);
    // Blocks of the program are those of the trace.
    const block = draft.blocks.length;
    this.#pinned.push(memory === 'pinned' ? 1 : 0);
    return draft.pushBlock({ address, size, stream, allocated, name, allocationSite: site, programBlock: block });
  }

  /** Blocks in use at the end that no entry allocates: older than the recording. */
  #ghosts(segments: readonly number[], memory: MemoryKind): void {
    const tree = this.#tree;
    for (const segment of segments) {
      const device = Math.max(0, tree.number(tree.get(segment, 'device')));
      for (const { block, address } of blocksOf(tree, segment)) {
        const state = tree.text(tree.get(block, 'state'));
        if (state !== 'active_allocated' && state !== 'active_pending_free' && state !== 'active_awaiting_free')
          continue;
        if (this.#liveOn(memory, device).has(address)) continue;
        this.#older++;
        const size = Math.max(0, tree.number(tree.get(block, 'size')));
        const site = this.#stacks.site(framesOf(tree, block));
        const row = this.#newBlock(segment, device, memory, address, size, -1, site);
        // Its release is older than the recording too; when, is not known.
        if (state !== 'active_allocated') this.#draft.blocks.releaseRequested.set(row, 0);
      }
    }
  }

  #external(): Annotation[] {
    const tree = this.#tree;
    return tree.items(tree.get(tree.root, 'external_annotations')).flatMap((cell) => {
      const name = tree.text(tree.get(cell, 'name'));
      const time = tree.number(tree.get(cell, 'time_us'));
      if (name === undefined || time < 0) return [];
      const isStart = tree.text(tree.get(cell, 'stage')) === 'START';
      return [{ name, isStart, device: tree.number(tree.get(cell, 'device')), time }];
    });
  }

  /** Some releases of 2024 wrote annotations as entries: the label is the frame's file, START or END its function. */
  #userDefined(): Annotation[] {
    const found: Annotation[] = [];
    const tree = this.#tree;
    const entries = this.#entries;
    if (!entries.action.cells.subarray(0, entries.length).includes(actionOf.user_defined)) return found;
    for (const at of entries.order()) {
      if (entries.action.get(at) !== actionOf.user_defined) continue;
      const frame = tree.first(entries.frames.get(at));
      const name = tree.text(tree.get(frame, 'filename')) ?? '';
      const isStart = tree.text(tree.get(frame, 'name')) === 'START';
      found.push({ name, isStart, device: entries.device.get(at), time: entries.time.get(at) });
    }
    return found;
  }

  #annotations(annotations: readonly Annotation[]): void {
    const open = new Map<string, number[]>();
    for (const { name, isStart, device, time } of annotations) {
      const key = `${device} ${name}`;
      const starts = open.get(key) ?? [];
      open.set(key, starts);
      if (isStart) starts.push(time);
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

  #stream(device: number, cell: number): number {
    // Most blocks are of the stream of the one before, and the texts of keys are not made for each of them.
    const { kind, number } = { kind: this.#tree.kind(cell), number: this.#tree.number(cell) };
    const last = this.#lastStream;
    if (kind === numberCell && last.number === number && last.device === device) return last.stream;
    const stream = this.#findStream(device, cell);
    if (kind === numberCell) this.#lastStream = { device, number, stream };
    return stream;
  }

  #findStream(device: number, cell: number): number {
    const handle = this.#tree.bigint(cell);
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

  #tellLimits(): void {
    const { limits } = this.#draft;
    const tree = this.#tree;
    const entries = this.#entries;
    limits.push(allocatorAlone);
    if (tree.length(tree.get(tree.root, 'device_traces')) === 0 || entries.length === 0)
      limits.push(
        'There is no history in the snapshot, only the state at its end: call torch.cuda.memory._record_memory_history() before the part of interest.',
      );
    else if (!entries.hasTimes)
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

/** Cells of the segments of a list; those that a file names in many places, with the same blocks, are one. */
function segmentsOf(tree: PickleTree, list: number): number[] {
  const seen = new Set<number>();
  return tree.items(list).filter((segment) => {
    const blocks = tree.which(tree.get(segment, 'blocks'), listCell);
    if (blocks < 0) return tree.kind(segment) === dictionaryCell;
    const isNew = !seen.has(blocks);
    seen.add(blocks);
    return isNew;
  });
}

/** Up to torch 2.0 a block has its stack in a list of histories. */
function framesOf(tree: PickleTree, block: number): number {
  const frames = tree.get(block, 'frames');
  return frames >= 0 ? frames : tree.get(tree.first(tree.get(block, 'history')), 'frames');
}
