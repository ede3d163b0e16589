/**
 * What lowering gives: for each entry of the source (module code, a public function, a method, a hook) the paths that
 * were executed, each a stream program, with what rules and fixes need to speak about it in the source's own words.
 */
import type { FunctionDef, Module, Node } from '../python/ast.ts';
import type { BlockId, EventId, StepIndex, StreamId, StreamProgram } from '../program/program.ts';

/**
 * Who decides with an entry whether it is right: any caller, since it leaves something to order; only a program that runs
 * it as a whole and gives it what it works with; or nobody, since no other stream shows.
 */
export type Open = 'to callers' | 'to programs' | 'no';

export interface LoweredEntry {
  /** `train`, `Prefetcher.next`, `<module>`. */
  readonly name: string;
  readonly file: string;
  readonly paths: readonly LoweredPath[];
  /** Set when the budget of steps or paths ended before all of it was seen. */
  readonly truncated: boolean;
  /** The analysis itself failed on a path, which ends there: a defect to report, not a property of the program. */
  readonly fault?: string;
  /**
   * What the entry gives its caller, or leaves behind, changes what the caller's own code does: it yields inside of a
   * stream's region, hands out a stream, an event, a handle or a function, or sets the current stream.
   */
  readonly changesCallers?: boolean;
  /**
   * Attributes of its object through which other methods come to memory that it used on a stream of its own, or copied
   * without waiting. Absent: not known.
   */
  readonly leftIn?: readonly string[];
  /**
   * Files whose text the entry depends on, as `file` or, for one function or class of it, `file#start`. Absent: the
   * whole workspace.
   */
  readonly dependsOn?: readonly string[];
  /** Those of them that the entry ran through as a caller does: they are not entries of their own. */
  readonly judges?: readonly string[];
  /** Parameters, off or on by default, that other code which was run turns: what comes of that shows there. */
  readonly turned?: ReadonlySet<string>;
}

export interface LoweredPath {
  /** It ended before its code did: what would have come is not known. */
  readonly cut?: true;
  readonly program: StreamProgram;
  readonly activations: readonly Activation[];
  /** Branch decisions that were taken against the default, as places of the tests: what "on some paths" means. */
  readonly decisions: readonly BranchDecision[];
  /**
   * Tensors that a followed function returned or yielded to a followed caller. No hazard by themselves: the place where
   * a missing order that shows in the caller may be reported, if the function chose the stream itself.
   */
  readonly handOvers?: readonly HandOver[];
}

export interface HandOver {
  readonly block: BlockId;
  /** The steps of the function lie before this index. */
  readonly step: StepIndex;
  /** The function's activation. */
  readonly activation: number;
  readonly how: 'return' | 'yield';
  readonly file: string;
  /** The return or yield. */
  readonly node: Node;
  /** The stream that was current for the receiver. */
  readonly stream: StreamId;
}

export interface BranchDecision {
  readonly file: string;
  readonly test: Node;
  readonly taken: boolean;
  /** The parameter of the entry that decides, where that is off, or on, if the caller says nothing of it. */
  readonly flag?: string;
}

/** One execution of one function body, or of module code. */
export interface Activation {
  readonly module: Module;
  /** Undefined for module code and lambdas. */
  readonly function?: FunctionDef;
  /** The activation that called it; -1: an entry. */
  readonly caller: number;
  /**
   * Source expressions of this frame that named a stream, an event or a tensor, and from which step on. Names (`copy`),
   * attribute chains (`self.copy`), and subscripts with constant keys. Later bindings win; `until` is set when the
   * name is rebound or deleted.
   */
  readonly bindings: readonly Binding[];
  /** The name of `torch` in this module (`torch`, or an alias), if imported. */
  readonly torchName?: string;
}

export interface Binding {
  readonly expression: string;
  readonly target:
    | { readonly kind: 'stream'; readonly stream: StreamId }
    | { readonly kind: 'event'; readonly event: EventId }
    | { readonly kind: 'tensor'; readonly block: BlockId };
  /** Valid from the time that this step index is reached. */
  readonly from: StepIndex;
  readonly until?: StepIndex;
}
