/**
 * The disk of the journal, or the place of the ledger, fails at every single write there is. What was sent is known to
 * the next run all the same, nothing is sent twice, and what the run made is its own.
 */
import {describe, expect, it} from 'vitest'
import {AppError} from '../../../src/base/errors.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {settle} from '../../support/crash.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const CONFIG = {cloud: {taskMs: 3000, readyMs: 2000, listLagMs: 1000}}
const story = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: new Secret('one', '${var.pw}')}, ['ro'])
    .clusterUser('op', {email: 'op@example.com', password: new Secret('two', '${var.pw}')})

const noSpace = () => new AppError('no space left', {code: 'E_JOURNAL_WRITE'})

function createdTwice(lab: Lab): string[] {
  const made = lab.simulator.log.flatMap(it =>
    it.method === 'POST' && it.status < 300 ? [`${it.path} ${(it.body as {name?: string} | undefined)?.name}`] : [],
  )
  return made.filter((name, at) => made.indexOf(name) !== at)
}

/** The next run: what the dead one left is settled, the rest is done, and then there is nothing to do. */
async function goOn(lab: Lab, built: Awaited<ReturnType<Lab['plan']>>): Promise<readonly string[]> {
  const {unknown} = await settle(lab, built, [story()])
  expect(unknown).toEqual([])
  const {plan} = await lab.plan([story()])
  await lab.apply([story()])
  const left = (await lab.plan([story()])).plan.operations.filter(it => it.action !== 'no-op')
  expect(left.map(it => it.address)).toEqual([])
  return plan.operations.map(it => it.action)
}

describe('a journal whose disk is full', () => {
  it('at its first, second, third … entry: nothing more is sent, and the next run knows what was', async () => {
    let whole = 0
    for (let room = 0; ; room++) {
      const lab = new Lab({simulator: CONFIG})
      const ended = await lab.run(async () => {
        const built = await lab.plan([story()])
        const kept: JournalEntry[] = []
        const append = (entry: JournalEntry) => {
          if (kept.length >= room) throw noSpace()
          kept.push(entry)
        }
        const outcome = await lab.execute(built, [story()], {journal: {append}}).catch((error: unknown) => error)
        lab.journal = kept
        if (!(outcome instanceof AppError)) return true
        await lab.clock.sleep(60_000)
        const actions = await goOn(lab, built)
        // Found as its own: an object of ours is never taken for somebody's.
        expect(actions, `room for ${room}`).not.toContain('adopt')
        return false
      })
      expect(createdTwice(lab), `room for ${room}`).toEqual([])
      if (ended) break
      whole++
    }
    expect(whole).toBeGreaterThan(10)
  })
})

describe('a ledger that cannot be written', () => {
  it.each([1, 2, 5])('for its first %i writes has everything at the end of the run', async times => {
    const lab = new Lab({simulator: CONFIG})
    await lab.run(async () => {
      failing(lab, times)
      await lab.apply([story()])
      expect((await lab.plan([story()])).plan.summary).toMatchObject({'no-op': 5})
    })
  })

  it('at all is told with every object that is not in it, and the next run records them from the journal', async () => {
    const lab = new Lab({simulator: CONFIG})
    await lab.run(async () => {
      const built = await lab.plan([story()])
      const heal = failing(lab, Number.POSITIVE_INFINITY)
      const journal: JournalEntry[] = []
      const failed = await lab.execute(built, [story()], {journal: {append: it => void journal.push(it)}}).catch((error: unknown) => error)
      expect(failed).toMatchObject({code: 'E_LEDGER_UNSAVED'})
      expect((failed as AppError).problems?.map(it => it.address).sort()).toEqual(
        ['app', 'cache', 'main', 'op', 'ro'].map(it => `shop:null_resource.${it}`),
      )
      expect(journal.some(it => it.type === 'end')).toBe(false)
      heal()
      lab.journal = journal
      lab.simulator.clearLog()
      expect(new Set(await goOn(lab, built))).toEqual(new Set(['no-op']))
      expect(lab.writes).toEqual([])
    })
  })
})

/** @returns what ends it */
function failing(lab: Lab, times: number): () => void {
  const store = lab.store('shop')
  const save = store.save.bind(store)
  let left = times
  store.save = ledger => (left-- > 0 ? Promise.reject(new AppError('no space left', {code: 'E_LEDGER_ACCESS'})) : save(ledger))
  return () => {
    left = 0
  }
}
