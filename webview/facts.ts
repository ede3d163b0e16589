/**
 * What the panel says: of the selection, a range, a measure, the whole run. What takes the worker is asked for here, and
 * shown when it comes, if it is still what is selected.
 */
import type { Answers } from '../core/answers/answers.ts';
import { headline, severityOf } from '../core/timeline/findings.ts';
import type { Target } from '../core/timeline/hit.ts';
import { timeText } from '../core/timeline/units.ts';
import type { OperatorInput } from '../core/trace/inputs-reader.ts';
import type { Panel } from './dom/panel.ts';
import type { BlockUse, Run } from './messages.ts';
import type { RunStage } from './runHost.ts';
import { answerSections } from './state/answers.ts';
import { detailsOf, operatorOf, streamName } from './state/details.ts';
import { differenceSections, rangeSections, summarySections } from './state/sections.ts';
import { type Measure, targetOf } from './state/state.ts';

export interface Facts {
  /** Looks whether something else is selected, and says it. */
  show(): void;
  /** Says all once more: the colours are others. */
  again(): void;
  showTouched(step: number, reads: readonly string[], writes: readonly string[]): void;
  showUsers(block: number, uses: readonly BlockUse[]): void;
  showInputs(row: number, inputs: readonly OperatorInput[]): void;
  showAnswers(answers: Answers): void;
}

/** Users of a block that are listed: nobody reads the fifty-first. */
const mostUsers = 50;

export function makeFacts(at: RunStage, panel: Panel): Facts {
  const { run, host } = at;
  let said = '';
  let askedStep = -1;
  let askedBlock = -1;
  let askedOperator = -1;
  let answers: Answers | undefined;

  function showSummary(): void {
    const two = run.timeline.parts.length > 1;
    const sections = [
      ...(two ? differenceSections(run) : []),
      ...summarySections(run),
      ...(answers ? answerSections(run, answers) : []),
    ];
    const canAsk = !two && !answers && run.trace.deviceSlices.length > 0;
    panel.showSummary(run, sections, canAsk ? () => host.answer() : undefined);
  }

  function say(): void {
    const state = at.state();
    panel.showFinding(state.hazard);
    const target = targetOf(state);
    if (state.measure) showMeasure(state.measure);
    else if (state.range) panel.showRange(state.range, rangeSections(at.shown(), state.range));
    else if (target) showTarget(target);
    else {
      panel.showDetails(undefined);
      panel.chooseSummary();
      host.selected(undefined);
    }
  }

  function showMeasure({ from, to }: Measure): void {
    const text = timeText(Math.abs(to - from));
    panel.showSections(text, `${timeText(Math.min(from, to))} to ${timeText(Math.max(from, to))} · Esc ends it`, []);
    at.read(`Measured: ${text}`);
  }

  function showTarget(target: Target): void {
    const details = detailsOf(run, target);
    const hazard = target.kind === 'hazard' ? run.hazards[target.index] : undefined;
    const sign = hazard && { status: hazard.status, severity: severityOf(hazard) };
    panel.showDetails(details, sign, hazard && run.canPlay ? () => host.play(hazard) : undefined);
    at.read(`${details.title}. ${details.note}. ${findingsOf(run, target)}`);
    host.selected(details.source);
    askedStep = details.step;
    if (askedStep >= 0) host.describe(askedStep);
    askedOperator = operatorOf(run, target);
    const row = run.trace.hostSlices.row?.[askedOperator] ?? -1;
    if (row >= 0) host.inputs(row);
    askedBlock = target.kind === 'block' ? target.index : (hazard?.block ?? -1);
    if (at.state().users.size > 0) at.update({ ...at.state(), users: new Set() });
    if (askedBlock >= 0) host.users(askedBlock, run.trace.blocks.programBlock[askedBlock]!);
  }

  showSummary();
  return {
    show() {
      const { selection, hazard, range, measure } = at.state();
      const key = JSON.stringify([selection, hazard, range, measure]);
      if (key === said) return;
      said = key;
      say();
    },
    again() {
      said = '';
      showSummary();
    },
    showTouched(step, reads, writes) {
      if (step === askedStep) panel.showTouched(reads, writes);
    },
    showUsers(block, uses) {
      if (block !== askedBlock) return;
      const { deviceSlices: slices, strings } = run.trace;
      const writes = new Map(uses.map(({ step, write }) => [step, write]));
      const found: number[] = [];
      if (writes.size > 0) for (let i = 0; i < slices.length; i++) if (writes.has(slices.step[i]!)) found.push(i);
      found.sort((a, b) => slices.start[a]! - slices.start[b]!);
      panel.showUsers(
        found.slice(0, mostUsers).map((slice) => ({
          name: `${strings[slices.name[slice]!] || 'kernel'} on ${streamName(run, slices.stream[slice]!)} ${writes.get(slices.step[slice]!) ? 'writes' : 'reads'}`,
          gpu: timeText(slices.start[slice]!),
          target: { kind: 'device', index: slice },
        })),
      );
      // A finding frames its own two accesses.
      if (at.state().selection?.kind === 'block') at.update({ ...at.state(), users: new Set(found) });
    },
    showInputs(row, inputs) {
      const { hostSlices: slices, strings } = run.trace;
      if (askedOperator < 0 || slices.row?.[askedOperator] !== row) return;
      panel.showInputs(strings[slices.name[askedOperator]!] ?? '', inputs);
    },
    showAnswers(given) {
      answers = given;
      showSummary();
    },
  };
}

/** What is wrong with a slice or block, to be read out. */
function findingsOf(run: Run, target: Target): string {
  const about = run.hazards.filter(
    (hazard) =>
      (target.kind === 'device' && (hazard.firstSlice === target.index || hazard.secondSlice === target.index)) ||
      (target.kind === 'block' && hazard.block === target.index),
  );
  return about.map((hazard) => `Finding: ${headline(hazard.message)}.`).join(' ');
}
