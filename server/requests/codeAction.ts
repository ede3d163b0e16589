/**
 * `textDocument/codeAction` and its resolve. Order: the better fix, its alternatives, all of the kind, and last the
 * comment that silences. The edits of "fix all" are computed when they are chosen, since each takes many checks.
 */
import {
  type CodeAction,
  CodeActionKind,
  type CodeActionParams,
  type Diagnostic,
  type WorkspaceEdit,
} from 'vscode-languageserver';
import type { Finding } from '../../core/rules/finding.ts';
import { isSame, type RunRecord, verdictOn } from '../../core/runEvidence.ts';
import { diagnostic, isRange, touches, workspaceEdit } from '../convert.ts';
import type { Session } from '../session.ts';
import { explainAction } from './explain.ts';
import { fixAllEdits } from './fixAll.ts';
import { ignoreEdit } from './ignoreComment.ts';

export const fixAllKind = `${CodeActionKind.SourceFixAll}.raceline`;

/** What a lazily resolved action remembers. `version` says which text it was offered for. */
interface FixAllData {
  readonly kind: 'fixAll';
  readonly uri: string;
  readonly version: number | null;
  readonly code?: string;
}

export function codeActions(session: Session, params: CodeActionParams): CodeAction[] {
  const { uri } = params.textDocument;
  if (!isRange(params.range) || !session.settingsOf(uri).enable) return [];
  const key = session.uris.seen(uri);
  session.current();
  const wants = (kind: string) => {
    const only = params.context?.only;
    return !only || only.some((wanted) => kind === wanted || kind.startsWith(`${wanted}.`));
  };
  const actions: CodeAction[] = [];
  if (wants(CodeActionKind.QuickFix)) {
    const runs = session.runs.any ? session.runs.current() : [];
    const here = session.findings(key).filter((finding) => touches(finding.range, params.range));
    const sent = params.context?.diagnostics;
    const shown = new Map(here.map((finding) => [finding, shownAs(session, finding, sent, runs)]));
    for (const finding of here) actions.push(...fixActions(session, finding, shown.get(finding)!));
    actions.push(...fixesOfRuns(session, key, params, runs, here));
    for (const code of new Set(here.map((finding) => finding.code)))
      if (session.findings(key).filter((finding) => finding.code === code).length > 1)
        actions.push(fixAllAction(session, uri, key, `Fix all ${code} in this file`, CodeActionKind.QuickFix, code));
    for (const code of new Set(here.map((finding) => finding.code))) {
      const action = explainAction(session, code);
      if (action)
        actions.push({ ...action, diagnostics: here.filter((f) => f.code === code).map((f) => shown.get(f)!) });
    }
    if (session.settingsOf(uri).ignoreComment)
      for (const finding of here) {
        const action = ignoreAction(session, finding, shown.get(finding)!);
        if (action) actions.push(action);
      }
  }
  // Only for a client that asks for source actions: in the light bulb's list they would crowd out the fix.
  if (params.context?.only && wants(fixAllKind) && session.findings(key).length)
    actions.push(fixAllAction(session, uri, key, 'Raceline: fix all in this file', fixAllKind));
  return actions.filter((action) => action.edit === undefined || !isEmpty(action.edit));
}

export function resolveCodeAction(session: Session, action: CodeAction): CodeAction {
  const data = action.data as FixAllData | undefined;
  if (data?.kind !== 'fixAll' || typeof data.uri !== 'string') return action;
  const key = session.uris.seen(data.uri);
  // The document was edited since: an edit for the old text would land in the wrong place.
  if (session.version(key) !== data.version) return action;
  return { ...action, edit: fixAllEdit(session, key, data.code) };
}

function fixActions(session: Session, finding: Finding, shown: Diagnostic): CodeAction[] {
  return session.fixes(finding).map((fix, index) => ({
    title: fix.title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [shown],
    isPreferred: index === 0 && fix.preferred === true,
    edit: workspaceEdit(fix.edits, session.uris, (key) => session.version(key), session.client.documentChanges),
  }));
}

/** A run tells of a fault at another line than the source analysis: the fix is offered there too. */
function fixesOfRuns(
  session: Session,
  key: string,
  { range, context }: CodeActionParams,
  runs: readonly RunRecord[],
  here: readonly Finding[],
): CodeAction[] {
  const lines = { from: range.start.line + 1, to: range.end.line + 1 };
  const found = runs
    .flatMap((run) => run.hazards)
    .filter(({ file, line }) => file === key && line >= lines.from && line <= lines.to);
  if (found.length === 0) return [];
  const elsewhere = [...session.checkedFiles]
    .flatMap((file) => session.findings(file))
    .filter((finding) => !here.includes(finding) && found.some((hazard) => isSame(finding, hazard)));
  return elsewhere.flatMap((finding) => {
    const sent = context?.diagnostics?.find(
      ({ source, code }) =>
        source === 'raceline run' && found.some((hazard) => hazard.code === code && isSame(finding, hazard)),
    );
    return fixActions(session, finding, sent ?? shownAs(session, finding, undefined, runs));
  });
}

function fixAllAction(
  session: Session,
  uri: string,
  key: string,
  title: string,
  kind: string,
  code?: string,
): CodeAction {
  const action = { title, kind };
  if (session.client.resolvesEdits)
    return { ...action, data: { kind: 'fixAll', uri, version: session.version(key), code } satisfies FixAllData };
  return { ...action, edit: fixAllEdit(session, key, code) };
}

function fixAllEdit(session: Session, key: string, code: string | undefined): WorkspaceEdit {
  return workspaceEdit(
    fixAllEdits(session, key, code),
    session.uris,
    (file) => session.version(file),
    session.client.documentChanges,
  );
}

function ignoreAction(session: Session, finding: Finding, shown: Diagnostic): CodeAction | undefined {
  const text = session.document(finding.file)?.getText();
  const edit = text === undefined ? undefined : ignoreEdit(text, finding);
  if (!edit) return undefined;
  return {
    title: `Ignore ${finding.code} on this line`,
    kind: CodeActionKind.QuickFix,
    diagnostics: [shown],
    edit: workspaceEdit([edit], session.uris, (key) => session.version(key), session.client.documentChanges),
  };
}

/** The client's own diagnostic of the finding: an editor ties an action to the object that it sent. */
function shownAs(
  session: Session,
  finding: Finding,
  sent: readonly Diagnostic[] | undefined,
  runs: readonly RunRecord[],
): Diagnostic {
  const own = sent?.find(
    (candidate) =>
      candidate.source === 'raceline' &&
      candidate.code === finding.code &&
      typeof candidate.message === 'string' &&
      candidate.message.startsWith(finding.message) &&
      isRange(candidate.range) &&
      touches(candidate.range, finding.range),
  );
  return own ?? diagnostic(finding, session.uris, session.client.diagnostics, verdictOn(finding, runs));
}

const isEmpty = (edit: WorkspaceEdit) =>
  (edit.documentChanges?.length ?? 0) === 0 && Object.keys(edit.changes ?? {}).length === 0;
