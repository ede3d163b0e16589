/**
 * The colours and fonts of one theme, from VS Code's tokens and the palette of streams. Contrast is worked out here, at
 * run time, for whatever theme is set. Read once a theme change.
 */
import { css, mix, parseColor, type Rgb, standingOut, tint } from './color.ts';

export type ThemeKind = 'dark' | 'light' | 'highContrast' | 'highContrastLight';

export interface StreamColors {
  readonly color: Rgb;
  /** Outline, edge strip, marks. */
  readonly line: string;
  /** Fill of slices: labels keep 5:1 on it. */
  readonly fill: string;
  readonly fillRgb: Rgb;
  /** Fill of blocks, quieter than slices. */
  readonly block: string;
  readonly blockRgb: Rgb;
  /** Lines of the hatch over what is held back. */
  readonly hatch: string;
  /** From the ninth stream on colours come again: those edges are split in two strips. */
  readonly split: boolean;
}

export interface Theme {
  readonly kind: ThemeKind;
  readonly background: Rgb;
  readonly foreground: Rgb;
  readonly muted: Rgb;
  readonly line: Rgb;
  readonly side: Rgb;
  readonly focus: Rgb;
  readonly error: Rgb;
  readonly warning: Rgb;
  readonly info: Rgb;
  readonly host: StreamColors;
  readonly fontFamily: string;
  stream(slot: number): StreamColors;
}

const palettes: Readonly<Record<'dark' | 'light' | 'highContrast', readonly string[]>> = {
  dark: ['#8096ad', '#5076bc', '#4fc490', '#c5a4fa', '#7fedfd', '#ae5081', '#a0dd64', '#fcd1ba'],
  light: ['#313e51', '#565cd1', '#5e976d', '#6c2598', '#215e6b', '#b25b9f', '#687535', '#623114'],
  highContrast: ['#e2f0fb', '#3f7bcf', '#9ed9b2', '#a996fa', '#5ac4d2', '#bf7795', '#c1c10d', '#966e42'],
};
const hosts = { dark: '#8a8a8a', light: '#767676', highContrast: '#bdbdbd' };

/** What VS Code's own themes say, for tokens that a theme leaves out. */
const defaults: Readonly<Record<'dark' | 'light' | 'highContrast', Readonly<Record<string, string>>>> = {
  dark: {
    background: '#1f1f1f',
    foreground: '#cccccc',
    muted: '#9d9d9d',
    line: '#2b2b2b',
    side: '#181818',
    focus: '#0078d4',
    error: '#f14c4c',
    warning: '#cca700',
    info: '#59a4f9',
  },
  light: {
    background: '#ffffff',
    foreground: '#3b3b3b',
    muted: '#616161',
    line: '#e5e5e5',
    side: '#f8f8f8',
    focus: '#005fb8',
    error: '#e51400',
    warning: '#bf8803',
    info: '#0063d3',
  },
  highContrast: {
    background: '#000000',
    foreground: '#ffffff',
    muted: '#d4d4d4',
    line: '#6fc3df',
    side: '#000000',
    focus: '#f38518',
    error: '#f48771',
    warning: '#ffd370',
    info: '#4fb8ff',
  },
};

/** `token` gives the value of a `--vscode-` variable, '' if it is not set. */
export function makeTheme(kind: ThemeKind, token: (name: string) => string): Theme {
  const base = kind === 'highContrastLight' ? 'light' : kind;
  const fallback = defaults[base];
  const color = (key: string, ...names: string[]): Rgb => {
    for (const name of names) {
      const parsed = parseColor(token(name), background);
      if (parsed) return parsed;
    }
    return parseColor(fallback[key]!)!;
  };
  let background: Rgb = parseColor(fallback.background!)!;
  background = color('background', 'editor-background');
  const foreground = color('foreground', 'foreground', 'editor-foreground');
  const mark = (key: string, ...names: string[]): Rgb => standingOut(color(key, ...names), background, foreground, 3);
  const most = { dark: 0.44, light: 0.24, highContrast: 0.3, highContrastLight: 0.24 }[kind];
  const soft = { dark: 0.2, light: 0.12, highContrast: 0.16, highContrastLight: 0.12 }[kind];
  const colorsOf = (value: Rgb, share: number, split: boolean): StreamColors => {
    const fillRgb = tint(value, background, foreground, share);
    const blockRgb = mix(value, background, soft);
    return {
      color: value,
      line: css(value),
      fill: css(fillRgb),
      fillRgb,
      block: css(blockRgb),
      blockRgb,
      hatch: css(value, kind === 'highContrast' ? 0.9 : 0.6),
      split,
    };
  };
  const palette = palettes[base].map((hex) => standingOut(parseColor(hex)!, background, foreground, 3));
  const streams = [...palette, ...palette].map((value, slot) => colorsOf(value, most, slot >= palette.length));
  return {
    kind,
    background,
    foreground,
    muted: color('muted', 'descriptionForeground'),
    line: color('line', 'panel-border', 'editorGroup-border', 'contrastBorder'),
    side: color('side', 'sideBar-background', 'editor-background'),
    focus: mark('focus', 'focusBorder'),
    error: mark('error', 'editorError-foreground', 'errorForeground'),
    warning: mark('warning', 'editorWarning-foreground'),
    info: mark('info', 'editorInfo-foreground'),
    host: colorsOf(
      standingOut(parseColor(hosts[base])!, background, foreground, 3),
      base === 'light' ? 0.16 : 0.26,
      false,
    ),
    fontFamily: token('font-family') || 'system-ui, sans-serif',
    stream: (slot) => streams[slot < palette.length ? slot : palette.length + (slot % palette.length)]!,
  };
}

export function severityColor(theme: Theme, severity: 'error' | 'warning' | 'hint'): Rgb {
  return severity === 'error' ? theme.error : severity === 'warning' ? theme.warning : theme.info;
}
