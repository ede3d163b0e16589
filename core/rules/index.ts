/** The registry of rules. Adding one is a line here, its file, its fixtures, and `npm run generate`. */
import type { Hazard } from '../hazards/hazard.ts';
import type { StreamProgram } from '../program/program.ts';
import { backwardMissingSync } from './backward-missing-sync.ts';
import { captureExternalEvent } from './capture-external-event.ts';
import { captureIllegalSync } from './capture-illegal-sync.ts';
import { captureRecordStream } from './capture-record-stream.ts';
import { captureUnjoined } from './capture-unjoined.ts';
import { collectiveNotWaited } from './collective-not-waited.ts';
import { eventNeverRecorded } from './event-never-recorded.ts';
import { eventRerecorded } from './event-rerecorded.ts';
import { externalStreamZero } from './external-stream-zero.ts';
import { hostReadBeforeSync } from './host-read-before-sync.ts';
import { lateRecordStream } from './late-record-stream.ts';
import { missingRecordStream } from './missing-record-stream.ts';
import { missingWait } from './missing-wait.ts';
import { pinnedOverwrittenInFlight } from './pinned-overwritten-in-flight.ts';
import { redundantRecordStream } from './redundant-record-stream.ts';
import { redundantSync } from './redundant-sync.ts';
import { reversedWait } from './reversed-wait.ts';
import { capitalized, type Names, programNames, type Rule, type Words } from './rule.ts';
import { serializedStreams } from './serialized-streams.ts';
import { tooManyStreams } from './too-many-streams.ts';
import { unjoinedOutput } from './unjoined-output.ts';
import { unusedEvent } from './unused-event.ts';
import { writeAfterRead } from './write-after-read.ts';

export const rules: readonly Rule[] = [
  collectiveNotWaited,
  missingWait,
  writeAfterRead,
  missingRecordStream,
  unjoinedOutput,
  reversedWait,
  eventNeverRecorded,
  eventRerecorded,
  lateRecordStream,
  redundantRecordStream,
  hostReadBeforeSync,
  pinnedOverwrittenInFlight,
  backwardMissingSync,
  captureUnjoined,
  captureExternalEvent,
  captureIllegalSync,
  captureRecordStream,
  externalStreamZero,
  redundantSync,
  unusedEvent,
  tooManyStreams,
  serializedStreams,
];

export interface WordedHazard extends Words {
  readonly rule: Rule;
}

/** A hazard in words, whether it was found in source or in a trace. Undefined where no rule speaks of it. */
export function wordHazard(
  hazard: Hazard,
  program: StreamProgram,
  names: Names = programNames(program),
): WordedHazard | undefined {
  for (const rule of rules) {
    const words = rule.word(hazard, program, names);
    if (words) return { rule, ...words, message: capitalized(words.message) };
  }
  return undefined;
}
