/** The slices that belong to a line of the source. Pure. */
import type { Run } from '../messages.ts';
import type { State } from './state.ts';

/** Device slices that a source line launched, itself or through what it calls. */
export function markLine(state: State, run: Run, file: string, line: number): State {
  const { sites, strings, deviceSlices, hostSlices } = run.trace;
  const isFile = Uint8Array.from(strings, (text) => (sameFile(text, file) ? 1 : 0));
  const found = new Uint8Array(sites.length);
  let any = false;
  for (let site = 0; site < sites.length; site++)
    for (let at = site, depth = 0; at >= 0 && at < sites.length && depth < 64; at = sites.parent[at]!, depth++)
      if (found[at] === 1 || (sites.line[at] === line && isFile[sites.file[at]!] === 1)) {
        found[site] = 1;
        any = true;
        break;
      }
  const marked = new Set<number>();
  if (any)
    for (let i = 0; i < deviceSlices.length && marked.size < 2000; i++) {
      const launcher = deviceSlices.launcher[i]!;
      const site = deviceSlices.site[i]! >= 0 || launcher < 0 ? deviceSlices.site[i]! : hostSlices.site[launcher]!;
      if (found[site] === 1) marked.add(i);
    }
  return marked.size === 0 && state.marked.size === 0 ? state : { ...state, marked };
}

/** A trace may name files relatively, or by the path of another machine: the longer path must end in the shorter. */
function sameFile(a: string, b: string): boolean {
  if (a === '' || b === '') return false;
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  return long === short || long.endsWith(short.startsWith('/') ? short : `/${short}`) || long.endsWith(`\\${short}`);
}
