/**
 * Stacks of a snapshot as sites. The allocator writes each frame of a program once and a list of frames for each entry:
 * those that name the same frames lie in the same place, and are gone through once.
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

export class Stacks {
  readonly #tree: PickleTree;
  readonly #draft: TraceDraft;
  /** By the first cell of a list: those that name the same frames share their cells. */
  readonly #siteAt = new NumberMap();
  readonly #fields: Fields;
  readonly #frames = new Map<number, Frame | undefined>();

  constructor(tree: PickleTree, draft: TraceDraft) {
    this.#tree = tree;
    this.#draft = draft;
    this.#fields = new Fields(tree, ['filename', 'line', 'name']);
  }

  /** The site of the list of frames in this cell, -1 where there is none. */
  site(frames: number): number {
    const { lists } = this.#tree;
    const list = this.#tree.which(frames, listCell);
    if (list < 0 || lists.length(list) === 0) return -1;
    const at = lists.at(list);
    const known = this.#siteAt.get(at);
    if (known >= 0) return known - 1;
    const site = this.#walk(list);
    // Counted from 1: 0 is a stack in which nothing is shown.
    this.#siteAt.set(at, site + 1);
    return site;
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
