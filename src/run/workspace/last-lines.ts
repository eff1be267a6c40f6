/** The end of what the app of cdktf.json says: that is what somebody looks for, and all of it may be without an end. */

const MOST_LINES = 2_000
const MOST_LETTERS = 1_048_576

export class LastLines {
  #lines: string[] = []
  #letters = 0
  #left = 0

  add(line: string): void {
    this.#lines.push(line)
    this.#letters += line.length
    if (this.#lines.length <= MOST_LINES && this.#letters <= MOST_LETTERS) return
    // Half of it at once, so that the rest is not moved for each line.
    const kept = this.#end(MOST_LINES / 2, MOST_LETTERS / 2)
    this.#left += this.#lines.length - kept.length
    this.#lines = kept
    this.#letters = lettersOf(kept)
  }

  get all(): readonly string[] {
    return this.#left === 0 ? this.#lines : [`(${this.#left} lines of the app are not shown)`, ...this.#lines]
  }

  #end(mostLines: number, mostLetters: number): string[] {
    let [from, letters] = [this.#lines.length, 0]
    while (from > 0 && this.#lines.length - from < mostLines) {
      letters += this.#lines[from - 1]?.length ?? 0
      if (letters > mostLetters) break
      from--
    }
    return this.#lines.slice(from)
  }
}

const lettersOf = (lines: readonly string[]): number => lines.reduce((sum, it) => sum + it.length, 0)
