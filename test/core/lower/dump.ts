/** Small programs → their stream programs as text, one step a line: `line: step`. Lines count from 1. */
import { lower } from '../../../core/lower/lower.ts';
import type { LoweredEntry, LoweredPath } from '../../../core/lower/lowered.ts';
import type { Access, Step } from '../../../core/program/program.ts';
import { loadParser } from '../../harness/parser.ts';

export interface Sources {
  readonly [file: string]: string;
}

export async function lowered(sources: string | Sources): Promise<LoweredEntry[]> {
  const parser = await loadParser();
  const files = typeof sources === 'string' ? { 'program.py': sources } : sources;
  const modules = Object.entries(files).map(([file, text]) =>
    parser.parse(
      `/project/${file}`,
      `${unindent(text)}\n# A word of streams, so that the file counts: torch.cuda.Stream\n`,
    ),
  );
  return lower(modules, { everyRelease: true, entered: () => true });
}

function unindent(text: string): string {
  const lines = text.replace(/^\n/, '').split('\n');
  const margin = Math.min(...lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(margin)).join('\n');
}

/** Steps of one path of one entry. */
export async function steps(sources: string | Sources, entry = '<module>', path = 0): Promise<string[]> {
  const entries = await lowered(sources);
  const found = entries.find((candidate) => candidate.name === entry && candidate.paths[0]!.program.steps.length > 0);
  if (!found) return [`no entry ${entry} among ${entries.map((candidate) => candidate.name).join(', ')}`];
  const taken = found.paths[path];
  return taken ? dump(taken) : [`no path ${path} of ${found.paths.length}`];
}

export function dump(path: LoweredPath): string[] {
  const { program, activations } = path;
  return program.steps.map((step) => {
    const origin = program.origins[step.origin]!;
    if (origin.kind !== 'source') return say(step, path);
    const frame = origin.frames.at(-1)!;
    const text = activations[frame.activation]!.module.text;
    const line = text.slice(0, frame.start).split('\n').length;
    return `${line}: ${say(step, path)}`;
  });
}

function say(step: Step, { program }: LoweredPath): string {
  const stream = (id: number): string => program.streams[id]!.name.replace('the default stream', 'default');
  const event = (id: number): string => program.events[id]!.name;
  const block = (id: number): string => program.blocks[id]!.name;
  const access = (a: Access): string =>
    `${a.write ? 'w' : 'r'} ${block(a.block)}${a.start === undefined ? '' : '[part]'}`;
  const implicit = (quiet: boolean | undefined): string => (quiet ? ' (implicit)' : '');
  switch (step.kind) {
    case 'launch':
      return `${step.name} on ${stream(step.stream)}: ${step.accesses.map(access).join(', ')}`;
    case 'record':
      return `record ${event(step.event)} on ${stream(step.stream)}`;
    case 'wait':
      return `${stream(step.stream)} waits for ${event(step.event)}${implicit(step.implicit)}`;
    case 'hostWait': {
      const on = step.on;
      const what =
        on.kind === 'event' ? event(on.event) : on.kind === 'stream' ? stream(on.stream) : `device ${on.device}`;
      return `host waits for ${what}${implicit(step.implicit)}`;
    }
    case 'poll':
      return `poll of ${step.on.kind === 'event' ? event(step.on.event) : step.on.kind} is done`;
    case 'hostAccess':
      return `host ${step.name}: ${access(step.access)}`;
    case 'allocate':
      return `allocate ${block(step.block)} on ${stream(step.stream)}`;
    case 'release':
      return `release ${block(step.block)} by ${step.how}`;
    case 'recordStream':
      return `record_stream ${block(step.block)} for ${stream(step.stream)}`;
    case 'escape':
      return `${block(step.block)} leaves by ${step.how} to ${stream(step.stream)}`;
    case 'outside':
    case 'captureBegin':
    case 'replay':
      return `${step.kind} on ${stream(step.stream)}`;
    case 'captureEnd':
      return step.kind;
    case 'fork':
    case 'join':
      return `${step.kind} ${program.threads[step.child]!.name}`;
  }
}
