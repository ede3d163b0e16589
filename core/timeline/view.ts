/**
 * The part of the time axis that is shown, as an immutable value, and what zooming and panning make of it. Times are the
 * trace's nanoseconds. Knows nothing of pixels beyond a width, nothing of pointers or keys.
 */

export interface View {
  readonly start: number;
  readonly end: number;
}

/** Below this nothing in a trace differs: its times are whole nanoseconds. */
export const shortestSpan = 20;

export const span = (view: View): number => view.end - view.start;

/** The view moved (never stretched, if it fits) into the bounds. */
export function clampView(view: View, bounds: View): View {
  const whole = span(bounds);
  const length = Math.min(Math.max(span(view), Math.min(shortestSpan, whole)), whole);
  const start = Math.min(Math.max(view.start, bounds.start), bounds.end - length);
  return { start, end: start + length };
}

/** Zooms so that `time` keeps its place. A factor over 1 shows less. */
export function zoomAt(view: View, bounds: View, time: number, factor: number): View {
  const length = Math.min(Math.max(span(view) / factor, shortestSpan), span(bounds));
  const share = (time - view.start) / span(view);
  const start = time - share * length;
  return clampView({ start, end: start + length }, bounds);
}

export function pan(view: View, bounds: View, by: number): View {
  return clampView({ start: view.start + by, end: view.end + by }, bounds);
}

/** Shows the extent with room at both sides, so that what comes before and after can be seen. */
export function around(extent: View, bounds: View, room = 0.25): View {
  const margin = Math.max(span(extent) * room, shortestSpan);
  return clampView({ start: extent.start - margin, end: extent.end + margin }, bounds);
}

/** Moves as little as possible to make the extent visible; zooms only if it does not fit. */
export function reach(view: View, extent: View, bounds: View): View {
  if (span(extent) > span(view)) return around(extent, bounds);
  const margin = Math.min(span(view) * 0.1, (span(view) - span(extent)) / 2);
  if (extent.start < view.start + margin) return pan(view, bounds, extent.start - margin - view.start);
  if (extent.end > view.end - margin) return pan(view, bounds, extent.end + margin - view.end);
  return view;
}

/** A view laid on pixels: `left` is where `start` is drawn. */
export interface Scale extends View {
  readonly left: number;
  readonly width: number;
}

export const toX = (scale: Scale, time: number): number =>
  scale.left + ((time - scale.start) / (scale.end - scale.start)) * scale.width;

export const toTime = (scale: Scale, x: number): number =>
  scale.start + ((x - scale.left) / scale.width) * (scale.end - scale.start);
