/**
 * Colours of still pictures, light and dark. Streams take those of Okabe and Ito, which colour-blind readers can tell
 * apart; the default stream is grey, as in the timeline.
 */
import type { Color } from './shapes.ts';

export interface Palette {
  readonly background: Color;
  readonly foreground: Color;
  readonly muted: Color;
  readonly line: Color;
  readonly band: Color;
  readonly host: Color;
  readonly error: Color;
  readonly warning: Color;
  readonly hint: Color;
  readonly allocated: Color;
  readonly heldBack: Color;
  /** The first is the default stream's. */
  readonly streams: readonly Color[];
  /** On a slice of a stream. */
  readonly onStream: Color;
}

export const palettes: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    background: '#ffffff',
    foreground: '#1f2328',
    muted: '#59636e',
    line: '#d1d9e0',
    band: '#f6f8fa',
    host: '#8c959f',
    error: '#c9252d',
    warning: '#9a6700',
    hint: '#0969da',
    allocated: '#56b4e9',
    heldBack: '#d55e00',
    streams: ['#9a9a9a', '#56b4e9', '#e69f00', '#2fb894', '#d98cb8', '#c9bd2e', '#6f9bd8', '#e08a4c'],
    onStream: '#10151a',
  },
  dark: {
    background: '#1f1f1f',
    foreground: '#e6e6e6',
    muted: '#a0a0a0',
    line: '#3c3c3c',
    band: '#262626',
    host: '#7a828a',
    error: '#ff7b72',
    warning: '#e3b341',
    hint: '#79c0ff',
    allocated: '#56b4e9',
    heldBack: '#f0883e',
    streams: ['#9a9a9a', '#56b4e9', '#e69f00', '#2fb894', '#d98cb8', '#d8cc3c', '#6f9bd8', '#e08a4c'],
    onStream: '#10151a',
  },
};
