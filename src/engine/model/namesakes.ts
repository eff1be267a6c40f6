/** Things of one name in one place, of which only a comparison with each other tells whether two of them are one. */

/** So many are compared with each other. More is a mistake (a loop over the wrong list), and would take minutes to look through. */
export const MOST_NAMESAKES = 100

export class Namesakes<T extends object> {
  readonly #bySlot = new Map<string, T[]>()

  /**
   * @param slot - the name and the place
   * @returns the one before it that is the same; `undefined` where there is none, and it is kept
   */
  add(slot: string, item: T, isSame: (other: T) => boolean): T | 'too-many' | undefined {
    const alike = this.#bySlot.get(slot)
    if (alike === undefined) {
      this.#bySlot.set(slot, [item])
      return undefined
    }
    if (alike.length === MOST_NAMESAKES) return 'too-many'
    const other = alike.find(isSame)
    if (other === undefined) alike.push(item)
    return other
  }
}
