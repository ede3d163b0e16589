/** Which theme is set: VS Code's, by the classes of the body; in a plain browser the one of the address or the system. */
import { makeTheme, type Theme, type ThemeKind } from './draw/theme.ts';

export function readTheme(): Theme {
  const { classList } = document.body;
  const kind: ThemeKind = classList.contains('vscode-high-contrast-light')
    ? 'highContrastLight'
    : classList.contains('vscode-high-contrast')
      ? 'highContrast'
      : classList.contains('vscode-light')
        ? 'light'
        : 'dark';
  const style = getComputedStyle(document.body);
  const font = style.fontFamily;
  return makeTheme(kind, (name) => (name === 'font-family' ? font : style.getPropertyValue(`--vscode-${name}`)));
}

/** `?theme=dark|light|hc|hc-light`, else what the system prefers. */
export function setStandaloneTheme(): void {
  const wanted = new URLSearchParams(location.search).get('theme');
  const classes = {
    dark: 'vscode-dark',
    light: 'vscode-light',
    hc: 'vscode-high-contrast',
    'hc-light': 'vscode-high-contrast-light',
  } as const;
  const light = matchMedia('(prefers-color-scheme: light)');
  const contrast = matchMedia('(prefers-contrast: more), (forced-colors: active)');
  const set = (): void => {
    const prefers = contrast.matches ? (light.matches ? 'hc-light' : 'hc') : light.matches ? 'light' : 'dark';
    const kind = wanted !== null && wanted in classes ? (wanted as keyof typeof classes) : prefers;
    document.body.classList.remove(...Object.values(classes));
    document.body.classList.add('raceline-standalone', classes[kind]);
  };
  set();
  light.addEventListener('change', set);
  contrast.addEventListener('change', set);
}
