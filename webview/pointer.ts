/**
 * What the pointer does on the lanes: wheel and pinch zoom at it, a drag moves the view, a drag on the axis makes a range.
 * Zooming is d3's; this file only translates between its transform and the view.
 */
import { select, zoom, type ZoomTransform, zoomIdentity } from 'd3';
import { type Scale, shortestSpan, span, toTime, toX, type View } from '../core/timeline/view.ts';

export interface PointerWishes {
  view(view: View): void;
  /** Scrolls the lanes by so many pixels. */
  scroll(by: number): void;
  pan(pixels: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
  range(view: View): void;
  /** The menu of what lies there; `place` is on the page. */
  menu(x: number, y: number, place: { readonly x: number; readonly y: number }): void;
}

export interface PointerPlace {
  readonly scale: Scale;
  readonly bounds: View;
  readonly height: number;
  /** Above this is the minimap, and between this and `lanes` the axis and the findings lane. */
  readonly axis: number;
  readonly axisHeight: number;
}

export interface Pointer {
  /** The view changed by other means: d3 must know, or the next wheel jumps back. */
  sync(): void;
}

export function listenToPointer(canvas: HTMLCanvasElement, place: () => PointerPlace, wishes: PointerWishes): Pointer {
  const inLanes = (event: { offsetX: number; offsetY: number }): boolean => event.offsetX >= place().scale.left;
  const onAxis = (event: { offsetX: number; offsetY: number }): boolean => {
    const { axis, axisHeight } = place();
    return inLanes(event) && event.offsetY >= axis && event.offsetY < axis + axisHeight;
  };
  let lastY = 0;
  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .filter((event: MouseEvent | WheelEvent) => {
      if (event.type === 'wheel') return inLanes(event) && !isSideways(event as WheelEvent);
      return !(event as MouseEvent).button && (event.type.startsWith('touch') || (inLanes(event) && !onAxis(event)));
    })
    .clickDistance(4)
    // The lanes are scrolled apart from the zoom, so y stays where it is.
    .constrain((transform, extent, bounds) => {
      const left = transform.invertX(extent[0][0]) - bounds[0][0];
      const right = transform.invertX(extent[1][0]) - bounds[1][0];
      const by = right > left ? (left + right) / 2 : Math.min(0, left) || Math.max(0, right);
      const moved = transform.translate(by, 0);
      return zoomIdentity.translate(moved.x, 0).scale(moved.k);
    })
    .on('start', ({ sourceEvent }: { sourceEvent?: MouseEvent }) => {
      lastY = sourceEvent?.clientY ?? 0;
      if (sourceEvent && sourceEvent.type !== 'wheel') canvas.classList.add('dragging');
    })
    .on('zoom', ({ transform, sourceEvent }: { transform: ZoomTransform; sourceEvent?: MouseEvent }) => {
      if (!sourceEvent) return;
      if (sourceEvent.type === 'mousemove') {
        wishes.scroll(lastY - sourceEvent.clientY);
        lastY = sourceEvent.clientY;
      }
      wishes.view(viewOf(transform, place()));
    })
    .on('end', () => canvas.classList.remove('dragging'));

  const selection = select(canvas).call(behaviour).on('dblclick.zoom', null);

  canvas.addEventListener(
    'wheel',
    (event) => {
      if (inLanes(event) && !isSideways(event)) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? place().height : 1;
      if (inLanes(event)) wishes.pan((event.deltaX || event.deltaY) * unit);
      else wishes.scroll(event.deltaY * unit);
    },
    { passive: false },
  );

  let rangeFrom: number | undefined;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !onAxis(event)) return;
    rangeFrom = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (rangeFrom !== undefined && Math.abs(event.offsetX - rangeFrom) > 3) {
      const [from, to] = [rangeFrom, event.offsetX].sort((a, b) => a - b) as [number, number];
      const { scale } = place();
      wishes.range({
        start: toTime(scale, Math.max(scale.left, from)),
        end: toTime(scale, Math.min(scale.left + scale.width, to)),
      });
    }
    wishes.hover(event.offsetX, event.offsetY);
  });
  const endRange = (): void => {
    rangeFrom = undefined;
  };
  canvas.addEventListener('pointerup', endRange);
  canvas.addEventListener('pointercancel', endRange);
  canvas.addEventListener('pointerleave', () => wishes.leave());
  canvas.addEventListener('click', (event) => wishes.click(event.offsetX, event.offsetY));
  canvas.addEventListener('contextmenu', (event) => {
    event.preventDefault();
    // The keyboard's menu key is one of keys.ts.
    if (event.button === 2 && inLanes(event))
      wishes.menu(event.offsetX, event.offsetY, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener('dblclick', (event) => wishes.doubleClick(event.offsetX, event.offsetY));

  return {
    sync() {
      const { scale, bounds, height } = place();
      const right = scale.left + scale.width;
      behaviour
        .scaleExtent([1, Math.max(1, span(bounds) / shortestSpan)])
        .extent([
          [scale.left, 0],
          [right, height],
        ])
        .translateExtent([
          [scale.left, 0],
          [right, height],
        ]);
      const next = transformOf(scale, bounds);
      const now = canvasTransform(canvas);
      // Set directly: a call of zoom.transform would end the gesture that is going on.
      if (now.k !== next.k || now.x !== next.x) selection.property('__zoom', next);
    },
  };
}

const isSideways = (event: WheelEvent): boolean => event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);

function canvasTransform(canvas: HTMLCanvasElement): ZoomTransform {
  return (canvas as unknown as { __zoom?: ZoomTransform }).__zoom ?? zoomIdentity;
}

function transformOf(scale: Scale, bounds: View): ZoomTransform {
  const k = span(bounds) / span(scale);
  const whole: Scale = { ...bounds, left: scale.left, width: scale.width };
  return zoomIdentity.translate(scale.left - toX(whole, scale.start) * k, 0).scale(k);
}

function viewOf(transform: ZoomTransform, { scale, bounds }: PointerPlace): View {
  const whole: Scale = { ...bounds, left: scale.left, width: scale.width };
  return {
    start: toTime(whole, transform.invertX(scale.left)),
    end: toTime(whole, transform.invertX(scale.left + scale.width)),
  };
}
