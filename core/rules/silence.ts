/**
 * The comments that silence findings: `# raceline: ignore[code, code]` or `# raceline: ignore` on the line of the
 * finding, `# raceline: ignore-file` on a line of its own. An unknown code in the brackets is harmless.
 */

export interface Silence {
  readonly wholeFile: boolean;
  /** Whether a finding of this code on this line (from 0) is silenced. */
  covers(line: number, code: string): boolean;
}

const comment = /#[^\n\r]*?\braceline:\s*ignore(-file)?(?:\[([^\]\n\r]*)\])?/;
const nothing: Silence = { wholeFile: false, covers: () => false };

export function silenceIn(text: string): Silence {
  if (!text.includes('raceline:')) return nothing;
  let wholeFile = false;
  const byLine = new Map<number, ReadonlySet<string> | 'all'>();
  text.split(/\r\n|\n|\r/).forEach((source, line) => {
    const match = comment.exec(source);
    if (!match) return;
    if (match[1]) wholeFile ||= /^\s*#/.test(source);
    else
      byLine.set(
        line,
        match[2] === undefined
          ? 'all'
          : new Set(
              match[2]
                .split(',')
                .map((code) => code.trim())
                .filter(Boolean),
            ),
      );
  });
  return {
    wholeFile,
    covers(line, code) {
      const codes = byLine.get(line);
      return wholeFile || codes === 'all' || codes?.has(code) === true;
    },
  };
}
