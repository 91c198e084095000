import { makeVisible } from "../../core/text/visible.ts";

const WIDTH = 340;
const HEIGHT = 130;
const FLOOR = 108;
const CEILING = 14;
const WIDEST = 48;
const LEAST_END = 90;
const ROW = 26;
const NAME_WIDTH = 96;
const BAR_WIDTH = 140;
const LONGEST_NAME = 14;

/** Text alternative of a chart. */
interface PictureText {
  id: string;
  title: string;
  about: string;
}

/** One column of stacked parts. */
export interface Column {
  label: string;
  parts: readonly number[];
}

interface ColumnsView extends PictureText {
  columns: readonly Column[];
  /** The value at the top of the axis. */
  most: number;
  /** Label of the top of the axis. */
  mostLabel: string;
  /** A limit, drawn as a line. */
  limit?: { value: number; label: string };
}

/** A stacked column chart. */
export function Columns({ id, title, about, columns, most, mostLabel, limit }: ColumnsView) {
  const step = Math.min(WIDEST, WIDTH / Math.max(1, columns.length));
  const scale = (value: number) => (most <= 0 ? 0 : (Math.min(value, most) / most) * (FLOOR - CEILING));
  return (
    <Picture id={id} title={title} about={about} height={HEIGHT}>
      <line class="axis" x1="0" x2={WIDTH} y1={FLOOR} y2={FLOOR} />
      <text x="0" y="10">
        {mostLabel}
      </text>
      {columns.map(({ parts }, index) => {
        let top = FLOOR;
        return parts.map((part, place) => {
          const tall = scale(part);
          top -= tall;
          const x = index * step + step * 0.15;
          return <rect class={`part-${place}`} x={say(x)} y={say(top)} width={say(step * 0.7)} height={say(tall)} />;
        });
      })}
      {limit ? <Limit label={limit.label} y={FLOOR - scale(limit.value)} /> : null}
      <Ends columns={columns} end={columns.length * step} />
    </Picture>
  );
}

function Limit({ label, y }: { label: string; y: number }) {
  return (
    <>
      <line class="limit" x1="0" x2={WIDTH} y1={say(y)} y2={say(y)} />
      <text class="limit" x={WIDTH} y={say(y - 4)} text-anchor="end">
        {label}
      </text>
    </>
  );
}

/** Labels of the first and the last column; the table has all of them. */
function Ends({ columns, end }: { columns: readonly Column[]; end: number }) {
  const [first, last] = [columns[0], columns.at(-1)];
  return (
    <>
      <text x="0" y={HEIGHT - 6}>
        {first?.label ?? ""}
      </text>
      {columns.length > 1 ? (
        <text x={say(Math.max(end, LEAST_END))} y={HEIGHT - 6} text-anchor="end">
          {last?.label ?? ""}
        </text>
      ) : null}
    </>
  );
}

/** One bar: a name, a value and a larger value behind it. */
export interface Bar {
  name: string;
  value: number;
  beyond: number;
  label: string;
}

/** A horizontal bar chart. */
export function Bars({ id, title, about, bars }: PictureText & { bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ beyond }) => beyond));
  const wide = (value: number) => say((value / most) * BAR_WIDTH);
  return (
    <Picture id={id} title={title} about={about} height={Math.max(1, bars.length) * ROW}>
      {bars.map(({ name, value, beyond, label }, index) => {
        const y = index * ROW;
        return (
          <>
            <text x="0" y={y + 17}>
              {cut(makeVisible(name))}
            </text>
            <rect class="beyond" x={NAME_WIDTH} y={y + 6} width={wide(beyond)} height="14" />
            <rect class="part-0" x={NAME_WIDTH} y={y + 6} width={wide(value)} height="14" />
            <text x={NAME_WIDTH + (beyond === 0 ? 0 : BAR_WIDTH + 6)} y={y + 17}>
              {label}
            </text>
          </>
        );
      })}
    </Picture>
  );
}

function Picture({ id, title, about, height, children }: PictureText & { height: number; children: unknown }) {
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-labelledby={`${id}-title ${id}-about`}>
      <title id={`${id}-title`}>{title}</title>
      <desc id={`${id}-about`}>{about}</desc>
      {children}
    </svg>
  );
}

function cut(name: string) {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

function say(length: number) {
  return String(Math.round(length * 10) / 10);
}
