/** The window over the minimap: d3's brush over what the canvas shows. Dragging it moves the view. */
import { brushX, select } from 'd3';
import { type Scale, toTime, toX, type View } from '../core/timeline/view.ts';

export interface MinimapBrush {
  readonly root: SVGSVGElement;
  show(view: View, scale: Scale, height: number): void;
}

export function makeMinimapBrush(move: (view: View) => void): MinimapBrush {
  const root = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  root.setAttribute('class', 'minimap-brush');
  root.setAttribute('aria-hidden', 'true');
  const svg = select(root);
  const shades = [svg.append('rect').attr('class', 'shade'), svg.append('rect').attr('class', 'shade')] as const;
  const group = svg.append('g');
  const grips = [svg.append('rect').attr('class', 'grip'), svg.append('rect').attr('class', 'grip')] as const;
  let scale: Scale = { start: 0, end: 1, left: 0, width: 1 };
  let size = '';
  const brush = brushX<unknown>().handleSize(8);
  brush.on('brush end', (event: { sourceEvent: unknown; selection: [number, number] | null; type: string }) => {
    // Only what the user did: moves that we asked for come without a source.
    if (!event.sourceEvent) return;
    if (event.selection === null) {
      if (event.type === 'end') move({ start: scale.start, end: scale.end });
      return;
    }
    const [from, to] = event.selection;
    move({ start: toTime(scale, from + scale.left), end: toTime(scale, to + scale.left) });
  });

  return {
    root,
    show(view, nextScale, height) {
      scale = nextScale;
      const next = `${scale.left} ${scale.width} ${height}`;
      if (next !== size) {
        size = next;
        svg.attr('width', scale.width).attr('height', height);
        root.style.left = `${scale.left}px`;
        brush.extent([
          [0, 2],
          [scale.width, height - 3],
        ]);
        group.call(brush);
      }
      const from = toX(scale, view.start) - scale.left;
      const to = Math.max(from + 2, toX(scale, view.end) - scale.left);
      group.call(brush.move, [from, to]);
      shades[0]
        .attr('x', 0)
        .attr('y', 1)
        .attr('width', Math.max(0, from))
        .attr('height', height - 2);
      shades[1]
        .attr('x', to)
        .attr('y', 1)
        .attr('width', Math.max(0, scale.width + 8 - to))
        .attr('height', height - 2);
      for (const [grip, x] of [
        [grips[0], from],
        [grips[1], to],
      ] as const)
        grip
          .attr('x', Math.round(x) - 1.5)
          .attr('y', height / 2 - 7)
          .attr('width', 4)
          .attr('height', 14)
          .attr('rx', 2);
    },
  };
}
