import {describe, expect, it} from 'vitest'
import {Promptness} from '../../../src/engine/apply/promptness.ts'

/** What those are told who ask now; `waits` where they are told later. */
async function asked(promptness: Promptness): Promise<boolean | 'waits'> {
  const waits = new Promise<'waits'>(resolve => setImmediate(resolve, 'waits'))
  return Promise.race([promptness.isGiven(), waits])
}

/** Three look: as many as it takes. */
async function looking(): Promise<Promptness> {
  const promptness = new Promptness()
  expect([await asked(promptness), await asked(promptness), await asked(promptness)]).toEqual([false, false, false])
  return promptness
}

describe('whether objects are ready with the end of their tasks', () => {
  it('is looked at for three of them, while the others wait', async () => {
    expect(await asked(await looking())).toBe('waits')
  })

  it('holds for all once three were ready at once', async () => {
    const promptness = await looking()
    const waiting = promptness.isGiven()
    for (let looks = 0; looks < 3; looks++) promptness.looked('at once')
    expect([await waiting, await asked(promptness)]).toEqual([true, true])
  })

  it('holds for all as soon as one shows no status at all', async () => {
    const promptness = await looking()
    const waiting = promptness.isGiven()
    promptness.looked('silent')
    expect(await waiting).toBe(true)
  })

  it('holds for none any more once one was ready later, whatever the others were', async () => {
    const promptness = await looking()
    const waiting = promptness.isGiven()
    promptness.looked('at once')
    promptness.looked('later')
    expect(await waiting).toBe(false)
    for (let looks = 0; looks < 3; looks++) promptness.looked('at once')
    expect(await asked(promptness)).toBe(false)
  })

  it('is not told by a look that failed: one of those who wait looks in its place', async () => {
    const promptness = await looking()
    const waiting = promptness.isGiven()
    promptness.looked(undefined)
    expect(await waiting).toBe(false)
    expect(await asked(promptness)).toBe('waits')
  })
})
