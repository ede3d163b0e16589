/**
 * All that the timeline's host (the extension, or `raceline view`'s page) and the webview say to each other. The same
 * bundle runs in both; in a plain browser the host side is a small script over `fetch`.
 */

export type ToWebview =
  /**
   * A trace file's bytes as they are on disk (gz or not). The webview's worker reads them. The same name again is the same
   * run, further recorded: what was chosen of it stays.
   */
  | { readonly type: 'open'; readonly name: string; readonly bytes: Uint8Array }
  /** What was appended to the open file since: the same run, further recorded. */
  | { readonly type: 'grown'; readonly name: string; readonly bytes: Uint8Array }
  /**
   * A second run to draw on the axis of the open one. Titles say what the two are where they are not just two files: what
   * happened, and a schedule in which it goes wrong.
   */
  | {
      readonly type: 'compare';
      readonly name: string;
      readonly bytes: Uint8Array;
      readonly titles?: readonly [Title, Title];
    }
  /** The text of the notes that lie beside the trace; '': there are none yet. */
  | { readonly type: 'notes'; readonly text: string }
  /** The host cannot give the bytes: the message is shown with what to do. */
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
  /** The editor's cursor: slices of this place are marked. Line from 1. */
  | { readonly type: 'mark'; readonly file: string; readonly line: number }
  | { readonly type: 'selectHazard'; readonly index: number };

export interface Title {
  readonly name: string;
  /** A second line; '': none. */
  readonly note: string;
}

export type FromWebview =
  /** Something was appended to a file that is not open here: its bytes are wanted whole. */
  | { readonly type: 'whole' }
  /** The page is up and listens. */
  | { readonly type: 'ready' }
  /** The first frame of a trace is drawn. */
  | { readonly type: 'shown'; readonly name: string; readonly slices: number; readonly hazards: number }
  /** Jump to the source. Line from 1. */
  | { readonly type: 'reveal'; readonly file: string; readonly line: number; readonly beside: boolean }
  /** Something was selected that comes from this line: the editor may mark it where it is open. Line 0: nothing. */
  | { readonly type: 'selected'; readonly file: string; readonly line: number }
  /** Hazards of the run, for diagnostics of their own source. */
  | {
      readonly type: 'hazards';
      readonly name: string;
      readonly hazards: readonly {
        readonly code: string;
        readonly severity: 'error' | 'warning' | 'hint';
        readonly status: 'confirmed' | 'latent';
        readonly message: string;
        readonly file: string;
        readonly line: number;
        readonly related?: readonly { readonly file: string; readonly line: number }[];
      }[];
      /** The lines that the run went through, as far as it recorded them; from 1. */
      readonly ran?: readonly { readonly file: string; readonly lines: readonly number[] }[];
    }
  | { readonly type: 'run' }
  | { readonly type: 'pickTrace' }
  /** A second trace is wanted beside the open one. */
  | { readonly type: 'pickComparison' }
  /** Keep this text as the trace's notes. */
  | { readonly type: 'keepNotes'; readonly text: string }
  /** Offer this file for saving. */
  | { readonly type: 'save'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly type: 'error'; readonly message: string };
