/**
 * What one page says about a list that is read page by page.
 *
 * Pages overlap by one row, so that a list that moves while it is read gives itself away. A list is only called whole
 * on evidence that holds whatever the order of its rows (design section 10, "Paging"):
 * - a page past all rows is empty or 404;
 * - a page is shorter than another page of the same API, and so was not cut by a cap: then offset + rows is the
 *   length of the list, and must be the number of rows received;
 * - page one came again, which is a server that ignores `offset` and `limit` (the walk makes sure of both).
 */

/** A list as far as its walk has come. */
export interface WalkState {
  /** Keys of the rows of page one. */
  readonly first: readonly string[]
  readonly known: {has(key: string): boolean}
  /** Rows received so far, repeated rows of one page included. */
  readonly end: number
}

export interface Page {
  readonly offset: number
  readonly keys: readonly string[]
  /** A page with fewer rows than this was not cut by a cap. */
  readonly uncutBelow: number
}

export type Verdict =
  /** Its rows that are not known yet are the next ones of the list. */
  | {readonly is: 'more'}
  | {readonly is: 'whole'; readonly proof: string}
  /** Nothing where the last known row should be. */
  | {readonly is: 'nothing'}
  | {readonly is: 'repeated'}
  | {readonly is: 'moved'}

export const SHORT_PAGE = 'shorter than another page'

/** Judges any page but the first. */
export function judgePage(state: WalkState, page: Page): Verdict {
  const {keys, offset, uncutBelow} = page
  const overlaps = offset < state.end
  if (keys.length === 0) return overlaps ? {is: 'nothing'} : {is: 'whole', proof: 'an empty page'}
  const fresh = keys.filter(key => !state.known.has(key)).length
  if (fresh === 0) {
    if (keys.length < uncutBelow)
      return offset + keys.length === state.end ? {is: 'whole', proof: 'a page without a new row'} : {is: 'moved'}
    return sameKeys(keys, state.first) ? {is: 'repeated'} : {is: 'moved'}
  }
  // The one row that was asked for again, wherever in the page it stands.
  return keys.length - fresh === (overlaps ? 1 : 0) ? {is: 'more'} : {is: 'moved'}
}

export const sameKeys = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && new Set(a).size === new Set([...a, ...b]).size
