/**
 * Reads annotated programs. A fixture file holds cases; in a case a comment marks what is found on the line above it:
 *
 *     #- case: a wait is missing
 *     def f(x):
 *         y = x * 2
 *         #   ^ missing-wait: `x` is read on …       a finding that starts here, and words of its message
 *         #   ~ `x` is written here                  a related place of some finding
 *         # | more words of the message above
 *     #- file: other.py                              another file of the case; the first one is `case.py`
 *     #- fixed                                       the text once all preferred fixes are applied, without findings
 *     #- fixed: other.py                             the same for another file
 *     #- good                                        instead of `fixed`: a repaired twin that no fix has to write; there may be several
 *     #- todo: why                                   the case is known to fail; it must be taken out when it passes
 *
 * A finding without a mark fails. `^^^` with more than one caret also gives the end. `import torch` is put in front of
 * texts that lack it. A case without marks must be silent.
 */
import type { SourceFile } from '../../core/checkSource.ts';

export interface FixtureCase {
  readonly name: string;
  readonly todo?: string;
  readonly files: readonly FixtureText[];
  readonly fixed: ReadonlyMap<string, string>;
  readonly good: readonly string[];
}

interface FixtureText extends SourceFile {
  readonly marks: readonly Mark[];
}

export interface Mark {
  readonly kind: 'finding' | 'related';
  readonly line: number;
  readonly character: number;
  readonly endCharacter?: number;
  readonly code: string;
  words: string;
}

export function readFixtures(text: string): FixtureCase[] {
  const cases: FixtureCase[] = [];
  for (const part of text.split(/^#- case: */m).slice(1)) {
    const name = /^.*/.exec(part)![0].trim();
    const sections = part.slice(part.indexOf('\n') + 1).split(/^#- (?=file:|fixed|good|todo:)/m);
    const files: FixtureText[] = [readText('case.py', sections[0]!)];
    const fixed = new Map<string, string>();
    const good: string[] = [];
    let todo: string | undefined;
    for (const section of sections.slice(1)) {
      const [heading = '', ...rest] = section.split('\n');
      const body = rest.join('\n');
      const [kind, argument = ''] = heading.split(/:\s*/, 2);
      if (kind === 'file') files.push(readText(argument.trim(), body));
      else if (kind === 'fixed') fixed.set(argument.trim() || 'case.py', withTorch(body));
      else if (kind === 'good') good.push(withTorch(body));
      else todo = heading.replace(/^todo:\s*/, '');
    }
    cases.push({ name, files, fixed, good, ...(todo ? { todo } : {}) });
  }
  return cases;
}

const annotation = /^(\s*#\s*)(\^+|~+)(?:\s+(.*))?$/;
const continuation = /^\s*#\s*\|\s?(.*)$/;

function readText(file: string, body: string): FixtureText {
  const marks: Mark[] = [];
  const lines = withTorch('').split('\n').slice(0, -1);
  if (/^\s*(import torch\b(?!\.)|from torch )/m.test(body)) lines.length = 0;
  for (const line of body.split('\n')) {
    const mark = annotation.exec(line);
    const more = continuation.exec(line);
    if (mark) {
      const [, before = '', carets = '', rest = ''] = mark;
      const finding = carets[0] === '^';
      const code = finding ? (/^[a-z-]+/.exec(rest)?.[0] ?? '') : '';
      marks.push({
        kind: finding ? 'finding' : 'related',
        line: lines.length - 1,
        character: before.length,
        ...(carets.length > 1 ? { endCharacter: before.length + carets.length } : {}),
        code,
        words: finding ? rest.slice(code.length).replace(/^:\s*/, '') : rest,
      });
    } else if (more && marks.length) marks.at(-1)!.words += ` ${more[1]}`;
    else lines.push(line);
  }
  return { file, text: `${lines.join('\n').trimEnd()}\n`, marks };
}

function withTorch(body: string): string {
  const text = `${body.trimEnd()}\n`;
  return /^\s*(import torch\b(?!\.)|from torch )/m.test(body) ? text : `import torch\n${body.trim() ? text : ''}`;
}
