/**
 * Owns stepping through one tree-sitter tree. web-tree-sitter's own TreeCursor copies the cursor's four words into the
 * wasm memory and back for every call, which makes a walk cost as much as the parse. The words stay valid in the
 * runtime's transfer buffer as long as nobody else calls into it, so this cursor calls the runtime's exports directly
 * and copies nothing; a walk takes a fraction of the parse.
 *
 * The exports are those that TreeCursor itself uses. Where a version of the runtime lacks one, `walkTree` falls back to
 * TreeCursor, which is slower and otherwise the same.
 */
import type { Tree } from 'web-tree-sitter';

/** A cursor as web-tree-sitter's, reduced to what the syntax builder needs. One may be in use at a time. */
export interface TreeWalk {
  readonly nodeTypeId: number;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly currentFieldId: number;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
  delete(): void;
}

/** The module object of the runtime, as `Parser.init` fills it in. */
export type RuntimeExports = Readonly<Record<string, unknown>>;

type Export = (tree: number) => number;

const exportNames = {
  root: '_ts_tree_root_node_wasm',
  create: '_ts_tree_cursor_new_wasm',
  destroy: '_ts_tree_cursor_delete_wasm',
  type: '_ts_tree_cursor_current_node_type_id_wasm',
  start: '_ts_tree_cursor_start_index_wasm',
  end: '_ts_tree_cursor_end_index_wasm',
  field: '_ts_tree_cursor_current_field_id_wasm',
  first: '_ts_tree_cursor_goto_first_child_wasm',
  next: '_ts_tree_cursor_goto_next_sibling_wasm',
  parent: '_ts_tree_cursor_goto_parent_wasm',
} as const;

type Exports = { readonly [K in keyof typeof exportNames]: Export };

export type WalkTree = (tree: Tree) => TreeWalk;

export function createWalkTree(runtime: RuntimeExports): WalkTree {
  const found: Partial<Record<keyof Exports, Export>> = {};
  for (const [name, key] of Object.entries(exportNames)) {
    const value = runtime[key];
    if (typeof value !== 'function') return (tree) => tree.walk();
    found[name as keyof Exports] = value as Export;
  }
  const exports = found as Exports;
  return (tree) => {
    const address: unknown = (tree as unknown as Record<number, unknown>)[0];
    return typeof address === 'number' ? new DirectCursor(exports, address) : tree.walk();
  };
}

class DirectCursor implements TreeWalk {
  readonly #exports: Exports;
  readonly #tree: number;

  constructor(exports: Exports, tree: number) {
    this.#exports = exports;
    this.#tree = tree;
    // The first call leaves the root node in the transfer buffer, from where the second one reads it.
    exports.root(tree);
    exports.create(tree);
  }

  get nodeTypeId(): number {
    return this.#exports.type(this.#tree);
  }
  get startIndex(): number {
    return this.#exports.start(this.#tree);
  }
  get endIndex(): number {
    return this.#exports.end(this.#tree);
  }
  get currentFieldId(): number {
    return this.#exports.field(this.#tree);
  }
  gotoFirstChild(): boolean {
    return this.#exports.first(this.#tree) === 1;
  }
  gotoNextSibling(): boolean {
    return this.#exports.next(this.#tree) === 1;
  }
  gotoParent(): boolean {
    return this.#exports.parent(this.#tree) === 1;
  }
  delete(): void {
    this.#exports.destroy(this.#tree);
  }
}
