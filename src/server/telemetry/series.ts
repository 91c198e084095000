/** The labels of a value. */
export type Labels = Readonly<Record<string, string>>;

const MOST_SERIES = 100;

/** One number for each set of labels; labels beyond the limit are counted together, which bounds the memory. */
export class Series {
  readonly #name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge";
  readonly #values = new Map<string, number>();

  constructor(type: "counter" | "gauge", name: string, help: string) {
    this.#type = type;
    this.#name = name;
    this.#help = help;
  }

  /** Adds to a value; adding zero makes the labels visible before the first event. */
  add(labels: Labels = {}, by = 1): void {
    const key = this.#keyOf(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  set(value: number, labels: Labels = {}): void {
    this.#values.set(this.#keyOf(labels), value);
  }

  write(): string {
    const lines = [...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}\n`);
    return `${head(this.#name, this.#help, this.#type)}${lines.join("")}`;
  }

  #keyOf(labels: Labels): string {
    const key = sayLabels(labels);
    if (this.#values.has(key) || this.#values.size < MOST_SERIES) return key;
    return sayLabels(Object.fromEntries(Object.keys(labels).map((name) => [name, "other"])));
  }
}

/** A histogram of durations: each bucket counts those of at most that many seconds. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.#sum += seconds;
    this.#count += 1;
    for (const [index, bound] of this.#bounds.entries()) {
      if (seconds <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    }
  }

  write(): string {
    const name = this.#name;
    const buckets = this.#bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${this.#counts[index]}\n`);
    const all = `${name}_bucket{le="+Inf"} ${this.#count}\n${name}_sum ${this.#sum}\n${name}_count ${this.#count}\n`;
    return `${head(name, this.#help, "histogram")}${buckets.join("")}${all}`;
  }
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function sayLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

/** Inside quotes three characters have another meaning. */
function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
