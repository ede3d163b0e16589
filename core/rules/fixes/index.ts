/**
 * Candidates for the fixes of one report, the better first. They are drafts: whoever offers one analyses the fixed text
 * first, and drops it unless the finding is gone and none is new.
 */
import type { Hazard } from '../../hazards/hazard.ts';
import type { LoweredPath } from '../../lower/lowered.ts';
import type { Instance, Report } from '../report.ts';
import { borderFixes, captureJoins } from './captures.ts';
import { causeFixes } from './causes.ts';
import { collectiveFixes } from './collective.ts';
import { defaultStreamFixes } from './external.ts';
import { hostFixes } from './host.ts';
import { unjoinedFixes } from './join.ts';
import { lifetimeFixes } from './lifetime.ts';
import { needsOf, orderFixes } from './order.ts';
import { insteadOfLate, lateFixes, rerecordedFixes } from './records.ts';
import type { Candidate } from './spot.ts';
import { behindLoop, keepOnDevice, laterRecord, removal, reversedFixes, unrecordedFixes } from './waits.ts';

/** More than this is guessing: each candidate costs an analysis. */
const mostCandidates = 14;

export function proposeFixes(report: Report, hazardsOf: (path: LoweredPath) => readonly Hazard[]): Candidate[] {
  const [first] = report.instances;
  if (!first) return [];
  const seen = new Set<string>();
  return candidates(first, report.instances, hazardsOf(first.path))
    .filter((candidate) => {
      const key = JSON.stringify(candidate.edits);
      return !seen.has(key) && Boolean(seen.add(key));
    })
    .slice(0, mostCandidates);
}

function candidates(
  { path, hazard, words, place, frames }: Instance,
  instances: readonly Instance[],
  all: readonly Hazard[],
): Candidate[] {
  switch (hazard.kind) {
    case 'order': {
      const needs = needsOf(instances);
      if (words.rule.code === 'unjoined-output')
        return [...causeFixes(path, hazard), ...unjoinedFixes(path, needs, frames)];
      if (words.rule.code === 'collective-not-waited') return collectiveFixes(path, hazard);
      const moved = needs.length === 1 ? laterRecord(path, needs[0]!, hazard.nearest) : [];
      return [...causeFixes(path, hazard), ...moved, ...orderFixes(path, needs, frames)];
    }
    case 'unjoined':
      return [...causeFixes(path, hazard), ...unjoinedFixes(path, needsOf(instances), frames)];
    case 'lifetime':
      return [...insteadOfLate(path, hazard, all), ...lifetimeFixes(path, hazard)];
    case 'unrecorded':
      return unrecordedFixes(path, hazard, all);
    case 'reversed':
      return reversedFixes(path, hazard, place);
    case 'redundant-record-stream':
      return removal(path, hazard.call, 'call of record_stream');
    case 'host':
      return hostFixes(path, hazard);
    case 'capture-unjoined':
      return captureJoins(path, hazard);
    case 'capture-external-event':
      return borderFixes(path, hazard);
    case 'capture-illegal-sync':
      return [...keepOnDevice(path, hazard.sync), ...removal(path, hazard.sync, 'synchronization')];
    case 'capture-record-stream':
      return removal(path, hazard.call, 'call of record_stream');
    case 'redundant-sync':
      return [...causeFixes(path, hazard), ...removal(path, hazard.wait, 'wait')];
    case 'unused-event':
      return removal(path, hazard.record, 'record');
    case 'serialized-streams':
      return hazard.how === 'stream' ? removal(path, hazard.wait, 'wait') : behindLoop(path, hazard.wait);
    case 'external-stream-zero':
      return defaultStreamFixes(path, place);
    case 'rerecorded':
      return rerecordedFixes(path, hazard);
    case 'late-record-stream':
      return lateFixes(path, hazard, all);
    default:
      return [];
  }
}
