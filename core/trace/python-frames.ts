/**
 * Python functions as the profiler names them, `train.py(12): step`, and which of them are the user's. The line is the
 * one of the definition: the profiler does not know the executing line.
 */

export interface PythonFrame {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  /** `user`: worth showing as the place; `package`: installed code; `hidden`: torch itself and the standard library. */
  readonly owner: 'user' | 'package' | 'hidden';
}

/** Undefined for what is not a function in a file: `<built-in method …>`, `nn.Module: Linear_3`. */
export function parsePythonFrame(name: string): PythonFrame | undefined {
  const open = /\((\d+)\): /.exec(name);
  if (!open || open.index === 0) return undefined;
  const file = name.slice(0, open.index);
  if (file.startsWith('<')) return undefined;
  return {
    file,
    line: Math.min(Number(open[1]), 0x7fffffff),
    function: name.slice(open.index + open[0].length),
    owner: ownerOf(file),
  };
}

export function ownerOf(file: string): PythonFrame['owner'] {
  const path = file.replaceAll('\\', '/');
  if (path === '' || path === '??' || path.startsWith('<')) return 'hidden';
  if (/(^|\/)torch\//.test(path)) return 'hidden';
  if (/(^|\/)(site|dist)-packages\//.test(path)) return 'package';
  if (/(^|\/)lib\/python\d/.test(path)) return 'hidden';
  return 'user';
}
