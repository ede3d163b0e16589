/**
 * Stacks of a snapshot as sites. The allocator writes each frame of a program once and a list of frames for each entry:
 * lists that name the same frames are found by what they name and gone through once.
 */
import type { TraceDraft } from './draft.ts';
import { NumberMap } from './number-map.ts';
import { dictionaryCell, listCell } from './pickle-cells.ts';
import { Fields, type PickleTree } from './pickle-tree.ts';
import { ownerOf, type PythonFrame } from './python-frames.ts';

interface Frame {
  readonly file: number;
  readonly line: number;
  readonly function: number;
  readonly owner: PythonFrame['owner'];
}

/** What is not looked at yet. */
const unknown = -2;

export class Stacks {
  readonly #tree: PickleTree;
  readonly #draft: TraceDraft;
  readonly #siteOfList: Int32Array;
  /** The first list with a hash. */
  readonly #listOfHash = new NumberMap();
  readonly #fields: Fields;
  readonly #frames = new Map<number, Frame | undefined>();

  constructor(tree: PickleTree, draft: TraceDraft) {
    this.#tree = tree;
    this.#draft = draft;
    this.#siteOfList = new Int32Array(tree.lists.count).fill(unknown);
    this.#fields = new Fields(tree, ['filename', 'line', 'name']);
  }

  /** The site of the list of frames in this cell, -1 where there is none. */
  site(frames: number): number {
    const list = this.#tree.which(frames, listCell);
    if (list < 0) return -1;
    const known = this.#siteOfList[list]!;
    if (known !== unknown) return known;
    const site = this.#siteOfSame(list);
    this.#siteOfList[list] = site;
    return site;
  }

  #siteOfSame(list: number): number {
    const hash = this.#hash(list);
    const same = this.#listOfHash.get(hash);
    if (same < 0) this.#listOfHash.set(hash, list);
    else if (this.#areSame(same, list)) return this.#siteOfList[same]!;
    return this.#walk(list);
  }

  #hash(list: number): number {
    const { lists, cells } = this.#tree;
    const { number } = cells;
    const from = lists.at(list);
    const to = from + lists.length(list);
    let hash = 0;
    for (let cell = from; cell < to; cell++) hash = Math.imul(hash ^ (number[cell]! | 0), 0x9e3779b1) ^ (hash >>> 13);
    return hash;
  }

  #areSame(a: number, b: number): boolean {
    const { lists, cells } = this.#tree;
    const { kind, number } = cells;
    const length = lists.length(a);
    if (lists.length(b) !== length) return false;
    const toA = lists.at(a);
    const toB = lists.at(b);
    for (let i = 0; i < length; i++)
      if (number[toA + i] !== number[toB + i] || kind[toA + i] !== kind[toB + i]) return false;
    return true;
  }

  /** Innermost first in the file; torch's own frames, C++ frames and the standard library are left out. */
  #walk(list: number): number {
    const { lists } = this.#tree;
    const { sites } = this.#draft;
    const from = lists.at(list);
    let site = -1;
    for (let cell = from + lists.length(list) - 1; cell >= from; cell--) {
      const frame = this.#frame(cell);
      if (!frame) continue;
      site = sites.add(frame.file, frame.line, frame.function, site);
      if (frame.owner === 'user') sites.markUser(site);
    }
    return site;
  }

  #frame(cell: number): Frame | undefined {
    const dictionary = this.#tree.which(cell, dictionaryCell);
    if (dictionary < 0) return undefined;
    if (!this.#frames.has(dictionary)) this.#frames.set(dictionary, this.#read(cell));
    return this.#frames.get(dictionary);
  }

  #read(cell: number): Frame | undefined {
    const tree = this.#tree;
    const { strings } = this.#draft;
    this.#fields.look(cell);
    const [file, line, name] = this.#fields.cells;
    const path = tree.text(file!);
    const owner = path === undefined ? 'hidden' : ownerOf(path);
    if (path === undefined || owner === 'hidden') return undefined;
    return {
      file: strings.add(path),
      line: Math.min(Math.max(0, tree.number(line!)), 0x7fffffff),
      function: strings.add(tree.text(name!) ?? ''),
      owner,
    };
  }
}
