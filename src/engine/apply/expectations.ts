/**
 * How long things of one sort took in this run, so that the first look at the next one comes when it is likely to be
 * over: looks cost requests. The time is narrowed down between looks that saw it going on and looks that saw it over.
 */

/** Two looks as near to each other as this part of the time tell when it was. */
const NEAR = 0.1
/** How fast it is forgotten that something still went on: it may go faster by now. */
const FORGET = 0.9998

interface Known {
  readonly goingOnMs: number
  readonly overMs: number
}

export class Expectations {
  readonly #known = new Map<string, Known>()

  /** Milliseconds from the beginning to the look that is worth its request; `undefined` while nothing is known. */
  firstLookMs(sort: string): number | undefined {
    const known = this.#known.get(sort)
    if (known === undefined) return undefined
    const {goingOnMs, overMs} = known
    return overMs - goingOnMs <= NEAR * overMs ? overMs : (goingOnMs + overMs) / 2
  }

  /** The age at which one of this sort was last seen over, where that is still ahead of `ageMs`. */
  nextLookMs(sort: string, ageMs: number): number | undefined {
    const known = this.#known.get(sort)
    return known !== undefined && known.overMs > ageMs ? known.overMs : undefined
  }

  wentOn(sort: string, ageMs: number): void {
    const known = this.#known.get(sort)
    if (known === undefined || ageMs <= known.goingOnMs) return
    this.#known.set(sort, {goingOnMs: Math.min(ageMs, known.overMs), overMs: known.overMs})
  }

  /** @param late - the look was due before, and had to wait for its turn: it was over earlier, nobody knows when */
  wasOver(sort: string, ageMs: number, late: boolean): void {
    const known = this.#known.get(sort)
    if (late && (known === undefined || ageMs > known.overMs)) return
    const isKnown = known !== undefined && known.goingOnMs < known.overMs && known.overMs < ageMs
    this.#known.set(sort, {goingOnMs: FORGET * Math.min(known?.goingOnMs ?? 0, ageMs), overMs: isKnown ? known.overMs : ageMs})
  }
}
