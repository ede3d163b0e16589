/**
 * A witness lies beside its intended run: `step.raceline`, `step.witness.raceline`. Whoever opens the first draws the second
 * with it; here is how the one is found from the other, and what the two are called.
 */
import { strFromU8 } from 'fflate';

export const witnessFile = (name: string): string => name.replace(/(\.raceline)?$/, '.witness.raceline');

interface Title {
  readonly name: string;
  readonly note: string;
}

/** From the bytes of the witness: its header says what goes wrong. */
export function witnessTitles(bytes: Uint8Array): readonly [intended: Title, witness: Title] {
  return [
    { name: 'Intended', note: 'as the calls are issued' },
    { name: 'Witness', note: noteOf(bytes) },
  ];
}

/** '' if the header has none. */
function noteOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(10);
  try {
    const { note } = JSON.parse(strFromU8(bytes.subarray(0, end < 0 ? bytes.length : end)));
    return typeof note === 'string' ? note : '';
  } catch {
    return '';
  }
}
