/**
 * Whether objects of one kind are ready with the end of their tasks, where nobody knows beforehand whether the API shows a
 * status of them at all. The first ones are looked at while the others wait for what is seen: one that shows no status
 * speaks for all, and so do some that were ready at once; one that was not speaks against it for good.
 */

/** So many that were ready with their tasks are taken for the rule. */
const ENOUGH = 3

export class Promptness {
  #seen = 0
  #isRefuted = false
  #looking = 0
  #waiting: (() => void)[] = []

  /** @returns whether the end of its task is all there is to wait for; `false`: look, and say `looked` afterwards */
  async isGiven(): Promise<boolean> {
    while (!this.#isRefuted && this.#seen < ENOUGH && this.#looking >= ENOUGH)
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    if (!this.#isRefuted && this.#seen >= ENOUGH) return true
    this.#looking += 1
    return false
  }

  /** @param as - nothing can be told from a look that failed */
  looked(as: 'silent' | 'at once' | 'later' | undefined): void {
    this.#looking -= 1
    if (as === 'silent') this.#seen = ENOUGH
    else if (as === 'at once') this.#seen += 1
    else if (as === 'later') this.#isRefuted = true
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
