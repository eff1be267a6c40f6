import {afterAll, beforeAll, beforeEach} from 'vitest'
import {type Site, site} from './site.ts'

/**
 * One site for all tests of a file, and names of its own for each of them: one world serves them all.
 *
 * @param letter - the names of this file begin with it
 * @param use - is told before each test
 */
export function sharedSite(letter: string, use: (at: Site, name: string) => void): void {
  let at: Site
  let count = 0
  beforeAll(async () => {
    at = await site()
  })
  afterAll(() => at.close())
  beforeEach(() => {
    at.simulator.clearLog()
    use(at, `${letter}${++count}`)
  })
}
