/** A source of choices that a seed repeats. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from the first up to and with the second. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.between(0, values.length - 1)];
    if (value === undefined) throw new Error("there is nothing to choose from");
    return value;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as Array<[Name, number]>; // the keys of a record of names
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return this.pick(entries)[0];
  }

  /** A source of its own, so that how much one part takes does not change another. */
  fork(): Chance {
    return new Chance(Math.floor(this.next() * 0x1_0000_0000));
  }
}
