/**
 * SARIF 2.1.0, as GitHub code scanning and the viewers of editors read it: https://docs.oasis-open.org/sarif/sarif/v2.1.0.
 * Paths are relative to the repository (`%SRCROOT%`); a fingerprint does not change with edits elsewhere in the file.
 */
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { Range } from '../../core/base/text.ts';
import type { Finding, Fix, Problem, Severity } from '../../core/rules/finding.ts';
import { rules } from '../../core/rules/index.ts';
import pages from '../../core/rules/pages.json' with { type: 'json' };
import { type LinesOf, lineText, linesIn } from '../../core/settings/baseline.ts';
import { relativeToRepository, repositoryRoot } from '../repository.ts';
import { version } from '../version.ts';
import type { CheckReport } from './report.ts';

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', hint: 'note' };
const kinds: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', hint: 'recommendation' };

export function sarif({ findings, problems, texts }: CheckReport): string {
  const linesOf = linesIn([...texts].map(([file, text]) => ({ file, text })));
  const fingerprints = new Fingerprints(linesOf);
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'raceline', version: version(), semanticVersion: version(), rules: rules.map(descriptor) },
        },
        automationDetails: { id: 'raceline/' },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { '%SRCROOT%': { uri: `${pathToFileURL(repositoryRoot()).href.replace(/\/$/, '')}/` } },
        invocations: [
          {
            executionSuccessful: problems.every(({ note }) => note),
            toolExecutionNotifications: problems.map(notification),
          },
        ],
        results: findings.map((finding) => result(finding, linesOf, fingerprints)),
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function descriptor({ code, title, severity }: (typeof rules)[number]) {
  const page = (pages as Readonly<Record<string, string>>)[code] ?? title;
  return {
    id: code,
    name: code.replace(/(?:^|-)(.)/g, (_, c: string) => c.toUpperCase()),
    shortDescription: { text: `${title}.` },
    fullDescription: { text: firstParagraph(page) },
    help: { text: page, markdown: page },
    defaultConfiguration: { level: levels[severity] },
    properties: { tags: ['correctness', 'cuda', 'pytorch'], precision: 'high', 'problem.severity': kinds[severity] },
  };
}

function firstParagraph(page: string): string {
  const [, text = page] = /^## [^\n]*\n+([\s\S]*?)(?:\n\n|$)/.exec(page) ?? [];
  return text.replaceAll('\n', ' ').slice(0, 1024);
}

function result(finding: Finding, linesOf: LinesOf, fingerprints: Fingerprints) {
  const { related } = finding;
  const links = related.map(({ message }, i) => `[${message.replace(/[[\]\\]/g, '\\$&')}](${i + 1})`);
  // What looks like a link but is code must not become one.
  const message = finding.message.replaceAll('](', ']\\(');
  const places = related.map((place, i) => ({
    id: i + 1,
    physicalLocation: physicalLocation(place.file, place.range),
    message: { text: place.message },
  }));
  const here = { physicalLocation: physicalLocation(finding.file, finding.range, linesOf(finding.file)) };
  return {
    ruleId: finding.code,
    ruleIndex: rules.findIndex(({ code }) => code === finding.code),
    level: levels[finding.severity],
    message: { text: links.length ? `${message}. ${links.join(', ')}` : message },
    locations: [here],
    relatedLocations: places,
    ...(places.length
      ? {
          codeFlows: [
            {
              threadFlows: [
                {
                  locations: [
                    ...places.map(({ id: _, ...location }) => ({ location })),
                    { location: { ...here, message: { text: finding.message } } },
                  ],
                },
              ],
            },
          ],
        }
      : {}),
    partialFingerprints: { primaryLocationLineHash: fingerprints.of(finding) },
    ...(finding.fixes.length ? { fixes: finding.fixes.map(fix) } : {}),
    properties: { certainty: finding.certainty },
  };
}

function fix({ title, edits }: Fix) {
  const files = [...new Set(edits.map(({ file }) => file))];
  return {
    description: { text: title },
    artifactChanges: files.map((file) => ({
      artifactLocation: artifactLocation(file),
      replacements: edits
        .filter((edit) => edit.file === file)
        .map(({ range, newText }) => ({
          deletedRegion: region(range),
          ...(newText ? { insertedContent: { text: newText } } : {}),
        })),
    })),
  };
}

function notification({ file, line, message, note }: Problem) {
  return {
    level: note ? 'note' : 'error',
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: artifactLocation(file),
          ...(line === undefined ? {} : { region: { startLine: line + 1 } }),
        },
      },
    ],
  };
}

/** One line: a pull request shows a result only if all of its lines were changed. */
function physicalLocation(file: string, range: Range, lines?: readonly string[]) {
  const { start, end } = range;
  const short =
    !lines || start.line === end.line
      ? range
      : { start, end: { line: start.line, character: Math.max(start.character + 1, lines[start.line]?.length ?? 0) } };
  return { artifactLocation: artifactLocation(file), region: region(short) };
}

function region({ start, end }: Range) {
  return {
    startLine: start.line + 1,
    startColumn: start.character + 1,
    endLine: end.line + 1,
    endColumn: end.character + 1,
  };
}

function artifactLocation(file: string) {
  const relative = relativeToRepository(file);
  if (relative === undefined) return { uri: pathToFileURL(file).href };
  return { uri: relative.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}

/** Of code, file, text of the line, and how many equal ones came before; as entries of a baseline are told apart. */
class Fingerprints {
  readonly #linesOf: LinesOf;
  readonly #seen = new Map<string, number>();

  constructor(linesOf: LinesOf) {
    this.#linesOf = linesOf;
  }

  of(finding: Finding): string {
    const { code, file } = finding;
    const key = `${code}\n${relativeToRepository(file) ?? file}\n${lineText(finding, this.#linesOf)}`;
    const count = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, count);
    return `${createHash('sha256').update(key).digest('hex').slice(0, 16)}:${count}`;
  }
}
