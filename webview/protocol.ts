/**
 * All that the timeline's host (the extension, or `raceline view`'s page) and the webview say to each other. The same
 * bundle runs in both; in a plain browser the host side is a small script over `fetch`.
 */

export type ToWebview =
  /** A trace file's bytes as they are on disk (gz or not). The webview's worker reads them. */
  | { readonly type: 'open'; readonly name: string; readonly bytes: Uint8Array }
  /** The host cannot give the bytes: the message is shown with what to do. */
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
  /** The editor's cursor: slices of this place are marked. Line from 1. */
  | { readonly type: 'mark'; readonly file: string; readonly line: number }
  | { readonly type: 'selectHazard'; readonly index: number };

export type FromWebview =
  /** The page is up and listens. */
  | { readonly type: 'ready' }
  /** The first frame of a trace is drawn. */
  | { readonly type: 'shown'; readonly name: string; readonly slices: number; readonly hazards: number }
  /** Jump to the source. Line from 1. */
  | { readonly type: 'reveal'; readonly file: string; readonly line: number; readonly beside: boolean }
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
      }[];
    }
  | { readonly type: 'run' }
  | { readonly type: 'pickTrace' }
  | { readonly type: 'error'; readonly message: string };
