/**
 * The calls of a snapshot as a stream program. Its steps, origins and blocks are objects by the hundred thousand, and a
 * timeline needs none of them: they are made when somebody asks for them first.
 */
import type { BlockEntry, Origin, Step, StreamProgram } from '../program/program.ts';
import { int32, uint8 } from './columns.ts';
import type { TraceDraft } from './draft.ts';

/** Allocations and releases in the order of time. */
export class Calls {
  /** 1: an allocation. */
  readonly allocates = uint8();
  readonly block = int32();
  /** The entry in the order of time. */
  readonly row = int32();
  /** Where the program itself stands in the stack. */
  readonly site = int32();

  push(allocates: boolean, block: number, row: number, site: number): void {
    this.allocates.push(allocates ? 1 : 0);
    this.block.push(block);
    this.row.push(row);
    this.site.push(site);
  }

  get length(): number {
    return this.block.length;
  }
}

/** `pinned`: of each block, whether it is host memory. */
export function programOf(draft: TraceDraft, calls: Calls, pinned: Uint8Array): StreamProgram {
  const { strings, sites, blocks } = draft;
  // Copies: the columns of the trace may be handed to another thread, and are empty here then.
  const copies = {
    file: sites.file.copy(),
    line: sites.line.copy(),
    address: blocks.address.copy(),
    size: blocks.size.copy(),
    stream: blocks.stream.copy(),
    name: blocks.name.copy(),
    pinned: pinned.slice(),
  };
  let blockEntries: readonly BlockEntry[] | undefined;
  let origins: readonly Origin[] | undefined;
  let steps: readonly Step[] | undefined;
  return {
    streams: draft.programStreams,
    events: draft.events,
    threads: draft.programThreads,
    get blocks() {
      blockEntries ??= makeBlocks(copies, strings.list);
      return blockEntries;
    },
    get origins() {
      origins ??= makeOrigins(calls, copies, strings.list);
      return origins;
    },
    get steps() {
      steps ??= makeSteps(calls, copies.stream);
      return steps;
    },
  };
}

interface BlockCopies {
  readonly address: Float64Array;
  readonly size: Float64Array;
  readonly stream: Int32Array;
  readonly name: Int32Array;
  readonly pinned: Uint8Array;
}

function makeBlocks(columns: BlockCopies, strings: readonly string[]): BlockEntry[] {
  // The allocator hands an address out again and again.
  const names = new Map<number, string>();
  const nameAt = (address: number): string => {
    const name = names.get(address) ?? `block 0x${Math.max(0, address).toString(16)}`;
    names.set(address, name);
    return name;
  };
  return Array.from(columns.address, (address, i) => ({
    name: columns.name[i]! >= 0 ? strings[columns.name[i]!]! : nameAt(address),
    memory: columns.pinned[i] === 1 ? 'pinned' : 'device',
    evidence: true,
    size: columns.size[i]!,
    address,
    stream: columns.stream[i]!,
  }));
}

interface SiteCopies {
  readonly file: Int32Array;
  readonly line: Int32Array;
}

function makeOrigins({ row, site }: Calls, { file, line }: SiteCopies, strings: readonly string[]): Origin[] {
  const origins: Origin[] = [];
  for (let i = 0; i < row.length; i++) {
    const at = site.get(i);
    if (at < 0) origins.push({ kind: 'trace', row: row.get(i) });
    else origins.push({ kind: 'trace', row: row.get(i), site: at, file: strings[file[at]!]!, line: line[at]! });
  }
  return origins;
}

function makeSteps({ allocates, block }: Calls, stream: Int32Array): Step[] {
  const steps: Step[] = [];
  for (let i = 0; i < block.length; i++) {
    const which = block.get(i);
    if (allocates.get(i) === 1)
      steps.push({ kind: 'allocate', thread: 0, origin: i, block: which, stream: stream[which]! });
    else steps.push({ kind: 'release', thread: 0, origin: i, block: which });
  }
  return steps;
}
