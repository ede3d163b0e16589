/** What tests of importers share: the integrity of a trace, and a dump of it that a person can read. */
import { expect } from 'vitest';
import type { Step } from '../../../core/program/program.ts';
import type { Trace } from '../../../core/trace/trace.ts';
import { deviceSliceKinds, hostSliceKinds, markKinds } from '../../../core/trace/trace.ts';

/** Every column has the length of its table, every index points into its table, rows are in the promised order. */
export function expectWhole(trace: Trace): void {
  const { streams, threads, sites, deviceSlices, hostSlices, marks, blocks, counters, program, strings } = trace;
  const tables: Record<string, { readonly length: number }> = {
    sites,
    deviceSlices,
    hostSlices,
    marks,
    blocks,
    counters,
  };
  for (const [name, table] of Object.entries(tables))
    for (const [key, column] of Object.entries(table))
      if (ArrayBuffer.isView(column))
        expect((column as unknown as Uint8Array).length, `${name}.${key}`).toBe(table.length);
  expect(trace.stepTime?.length).toBe(program.steps.length);

  const within = (column: Int32Array | Uint8Array, end: number, what: string, least = -1) => {
    for (const value of column)
      if (value < least || value >= end) expect.fail(`${what}: ${value} is not in ${least}..${end - 1}`);
  };
  within(sites.file, strings.length, 'sites.file');
  within(sites.function, strings.length, 'sites.function');
  within(sites.parent, sites.length, 'sites.parent');
  for (let site = 0; site < sites.length; site++)
    if (sites.parent[site]! >= site) expect.fail(`site ${site}: its caller comes after it`);
  within(deviceSlices.stream, streams.length, 'deviceSlices.stream', 0);
  within(deviceSlices.name, strings.length, 'deviceSlices.name');
  within(deviceSlices.kind, deviceSliceKinds.length, 'deviceSlices.kind', 0);
  within(deviceSlices.step, program.steps.length, 'deviceSlices.step');
  within(deviceSlices.site, sites.length, 'deviceSlices.site');
  within(deviceSlices.launcher, hostSlices.length, 'deviceSlices.launcher');
  within(hostSlices.thread, threads.length, 'hostSlices.thread', 0);
  within(hostSlices.name, strings.length, 'hostSlices.name');
  within(hostSlices.kind, hostSliceKinds.length, 'hostSlices.kind', 0);
  within(hostSlices.site, sites.length, 'hostSlices.site');
  within(marks.kind, markKinds.length, 'marks.kind', 0);
  within(marks.stream, streams.length, 'marks.stream');
  within(marks.thread, threads.length, 'marks.thread');
  within(marks.other, marks.length, 'marks.other');
  within(marks.step, program.steps.length, 'marks.step');
  within(marks.site, sites.length, 'marks.site');
  within(blocks.stream, streams.length, 'blocks.stream');
  within(blocks.name, strings.length, 'blocks.name');
  within(blocks.allocationSite, sites.length, 'blocks.allocationSite');
  within(blocks.releaseSite, sites.length, 'blocks.releaseSite');
  within(blocks.programBlock, program.blocks.length, 'blocks.programBlock');
  for (let mark = 0; mark < marks.length; mark++)
    if (marks.other[mark]! >= 0 && markKinds[marks.kind[marks.other[mark]!]!] !== 'record') expect.fail(`mark ${mark}`);

  inOrder('deviceSlices', deviceSlices.stream, deviceSlices.start);
  inOrder('hostSlices', hostSlices.thread, hostSlices.start);
  inOrder('counters', new Int32Array(counters.length), counters.time);
  for (const times of [deviceSlices.start, deviceSlices.duration, hostSlices.start, hostSlices.duration, counters.time])
    for (const time of times) if (!(time >= 0 && time <= trace.duration)) expect.fail(`time ${time}`);

  for (const step of program.steps) {
    const there =
      program.origins[step.origin] &&
      program.threads[step.thread] &&
      (!('stream' in step) || program.streams[step.stream]) &&
      (!('event' in step) || program.events[step.event]) &&
      (!('block' in step) || program.blocks[step.block]) &&
      (step.kind !== 'launch' || step.accesses.every(({ block }) => program.blocks[block]));
    if (!there) expect.fail(`step ${JSON.stringify(step)} names what is not there`);
  }
  for (const [i, origin] of program.origins.entries())
    if (origin.kind === 'trace' && origin.slice !== undefined)
      if (program.steps[deviceSlices.step[origin.slice]!]?.origin !== i)
        expect.fail(`origin ${i}: its slice is another's`);
}

/** Grouped, and sorted within a group. */
function inOrder(table: string, group: Int32Array, time: Float64Array): void {
  for (let i = 1; i < group.length; i++)
    if (group[i]! < group[i - 1]! || (group[i] === group[i - 1] && time[i]! < time[i - 1]!))
      expect.fail(`${table}: row ${i} is out of order`);
}

/** The whole trace as lines of text. */
export function dump(trace: Trace): string {
  const { streams, threads, sites, deviceSlices: d, hostSlices: h, marks: m, blocks: b, counters: c } = trace;
  const text = (id: number) => (id < 0 ? '?' : trace.strings[id]!);
  const stream = (id: number) => (id < 0 ? '?' : streams[id]!.name);
  const place = (site: number): string => {
    if (site < 0) return '';
    const up = sites.parent[site]!;
    return ` @${text(sites.file[site]!)}:${sites.line[site]}${up < 0 ? '' : ` <${place(up)}`}`;
  };
  const time = (value: number) => (value < 0 ? '?' : String(value));
  const lines = [
    `${trace.format}, ${trace.producer}, ${trace.clock}, from ${trace.unixStart ?? '?'}, ${trace.duration} ns`,
    ...streams.map(
      (s, i) =>
        `stream ${i}: ${s.name}, device ${s.device}, number ${s.number}, ${s.handle || 'no handle'}${s.isDefault ? ', default' : ''}`,
    ),
    ...threads.map((t, i) => `thread ${i}: ${t.name}, ${t.pid}/${t.tid}`),
  ];
  for (let i = 0; i < d.length; i++)
    lines.push(
      `${deviceSliceKinds[d.kind[i]!]} ${stream(d.stream[i]!)} ${d.start[i]}+${d.duration[i]} ${text(d.name[i]!)}${d.bytes[i]! < 0 ? '' : ` ${d.bytes[i]} B`} step ${d.step[i]} launcher ${d.launcher[i]}${place(d.site[i]!)}`,
    );
  for (let i = 0; i < h.length; i++)
    lines.push(
      `${hostSliceKinds[h.kind[i]!]} thread ${h.thread[i]} ${h.start[i]}+${h.duration[i]} ${text(h.name[i]!)}${place(h.site[i]!)}`,
    );
  for (let i = 0; i < m.length; i++)
    lines.push(
      `mark ${i} ${markKinds[m.kind[i]!]} ${stream(m.stream[i]!)} host ${time(m.hostTime[i]!)} device ${time(m.deviceTime[i]!)} blocked ${time(m.blocked[i]!)}${m.other[i]! < 0 ? '' : ` ← mark ${m.other[i]}`}${m.inferred[i] ? ' inferred' : ''}${m.implicit[i] ? ' implicit' : ''} step ${m.step[i]}${place(m.site[i]!)}`,
    );
  for (let i = 0; i < b.length; i++)
    lines.push(
      `block ${i} ${text(b.name[i]!)} 0x${b.address[i]!.toString(16)} ${b.size[i]} B ${stream(b.stream[i]!)} allocated ${time(b.allocated[i]!)} released ${time(b.releaseRequested[i]!)} last use ${time(b.lastUse[i]!)} reusable ${time(b.reusable[i]!)}${place(b.allocationSite[i]!)} /${place(b.releaseSite[i]!)}`,
    );
  for (let i = 0; i < c.length; i++)
    lines.push(
      `counter ${c.time[i]} device ${c.device?.[i] ?? 0}: ${c.allocated[i]} of ${c.reserved[i]}, held back ${c.heldBack[i]}`,
    );
  for (const [i, step] of trace.program.steps.entries())
    lines.push(`step ${i} at ${time(trace.stepTime![i]!)}: ${told(step)}`);
  lines.push(`counts ${JSON.stringify(trace.counts)}`);
  for (const limit of trace.limits) lines.push(`limit: ${limit}`);
  for (const problem of trace.problems)
    lines.push(`problem at byte ${problem.offset}, row ${problem.row}: ${problem.message}`);
  return lines.join('\n');
}

function told({ origin: _, thread, ...step }: Step): string {
  return `thread ${thread} ${JSON.stringify(step)}`;
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
