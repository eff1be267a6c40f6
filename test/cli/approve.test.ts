/** Who says yes to a plan that is refused: what an answer at a terminal lifts, and what it does not. */
import {PassThrough} from 'node:stream'
import {describe, expect, it} from 'vitest'
import {approveFresh, approvePlan} from '../../src/cli/approve.ts'
import {readEnvironment} from '../../src/config/environment.ts'
import type {Plan} from '../../src/engine/model/plan.ts'

const HASH = '0123456789abcdef'.repeat(4)
const OPERATION: Plan['operations'][number] = {
  stack: 'shop',
  address: 'null_resource.cache',
  kind: 'cloud.database',
  action: 'update',
  cause: 'found-by-name',
  reason: 'found by name',
  adopts: true,
  changes: [
    {path: '/memoryLimitInGb', before: 1, after: 0.5},
    {path: '/password', after: {secret: true}},
  ],
  because: [],
  edges: [],
}
const planWith = (...codes: string[]) => ({
  hash: HASH,
  operations: [OPERATION],
  stacks: [{name: 'shop'}],
  guards: codes.map(code => ({code, addresses: ['null_resource.cache'], allow: '--allow', message: 'no'})),
})

async function asked(codes: readonly string[], answer: string, {terminal = true, autoApprove = false} = {}) {
  const stdin = Object.assign(new PassThrough(), {isTTY: terminal})
  const stderr = Object.assign(new PassThrough(), {isTTY: terminal, columns: 80})
  let shown = ''
  stderr.on('data', part => {
    shown += part
  })
  const context = {streams: {stdin, stdout: new PassThrough(), stderr}, environment: readEnvironment({})}
  const approval = approvePlan(context, planWith(...codes), {autoApprove, approve: undefined})
  stdin.write(`${answer}\n`)
  return approval.then(
    lifted => ({lifted, shown}),
    (error: {code: string; message: string}) => ({refused: error.code, message: error.message, shown}),
  )
}

describe('a plan that is refused, at a terminal', () => {
  const nothing = {allowDestroy: [], adopt: []}

  it('takes over and changes what was found by name on a yes, and on nothing else', async () => {
    for (const answer of ['yes', 'y', HASH.slice(0, 12)])
      expect(await asked(['G_FIRST_CONTACT'], answer)).toEqual({
        lifted: {...nothing, adopt: ['null_resource.cache']},
        shown: expect.stringContaining('Take over and change null_resource.cache, and apply this plan?'),
      })
    for (const answer of ['', 'no', 'yep']) expect(await asked(['G_FIRST_CONTACT'], answer)).toMatchObject({refused: 'E_NOT_CONFIRMED'})
  })

  it('deletes on its short hash and not on a yes, first contact or none', async () => {
    for (const code of ['G_PROTECTED', 'G_ADOPTED', 'G_NO_LEDGER', 'G_UNDO']) {
      expect(await asked([code], 'yes')).toMatchObject({refused: 'E_NOT_CONFIRMED'})
      expect(await asked([code], HASH.slice(0, 12))).toMatchObject({
        lifted: {...nothing, allowDestroy: ['null_resource.cache']},
        shown: expect.stringContaining('This deletes or replaces 1 protected object. To do it, type the hash of the plan (0123456789ab):'),
      })
      expect(await asked([code, 'G_FIRST_CONTACT'], 'yes')).toMatchObject({refused: 'E_NOT_CONFIRMED'})
      expect(await asked([code, 'G_FIRST_CONTACT'], HASH.slice(0, 12))).toMatchObject({
        lifted: {allowDestroy: ['null_resource.cache'], adopt: ['null_resource.cache']},
      })
    }
  })

  it('says of what is somebody else’s why, for each object', async () => {
    const context = {
      streams: {stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough()},
      environment: readEnvironment({}),
    }
    const refused = approvePlan(context, planWith('G_ELSEWHERE'), {autoApprove: true, approve: undefined})
    await expect(refused).rejects.toMatchObject({
      problems: [{address: 'null_resource.cache', message: 'G_ELSEWHERE: found by name'}],
    })
  })

  it('is not asked about where anything else refuses it, without a terminal, or with --auto-approve', async () => {
    for (const code of ['G_PREVENT_DESTROY', 'G_THRESHOLD', 'G_EMPTY', 'G_RISKY', 'G_DRIFT', 'G_BLOCKED', 'G_READ_ONLY'])
      expect(await asked(['G_FIRST_CONTACT', code], 'yes')).toMatchObject({refused: 'E_PLAN_REFUSED', shown: ''})
    expect(await asked(['G_FIRST_CONTACT'], 'yes', {terminal: false})).toMatchObject({refused: 'E_PLAN_REFUSED', shown: ''})
    expect(await asked(['G_FIRST_CONTACT'], 'yes', {autoApprove: true})).toEqual({
      refused: 'E_PLAN_REFUSED',
      shown: '',
      message: 'the plan is refused: no (G_FIRST_CONTACT; null_resource.cache: memoryLimitInGb 1 -> 0.5, password (absent) -> (secret))',
    })
  })
})

describe('a yes that comes late', () => {
  /** @returns whether what the plan touches was read again after an answer that took this long */
  async function readAgain(ms: number, {answer = 'yes', codes = [] as string[], asleep = false} = {}): Promise<string[]> {
    const stdin = Object.assign(new PassThrough(), {isTTY: true})
    const stderr = Object.assign(new PassThrough(), {isTTY: true, columns: 80})
    let now = 1_700_000_000_000
    const wallClock = {now: () => now, sleep: () => Promise.reject(new Error('nobody sleeps here'))}
    // The clock that nobody sets stands still with the machine.
    const clock = asleep ? {...wallClock, now: () => 1_700_000_000_000} : wallClock
    const context = {streams: {stdin, stdout: new PassThrough(), stderr}, environment: readEnvironment({}), clock, wallClock}
    const looks: string[] = []
    const asked = approveFresh(context, planWith(...codes), {autoApprove: false, approve: undefined}, lifted => {
      looks.push(...lifted.allowDestroy, ...lifted.adopt, 'looked')
      return Promise.resolve('fresh')
    })
    now += ms
    stdin.write(`${answer}\n`)
    const {fresh} = await asked
    expect(fresh).toBe(looks.length > 0 ? 'fresh' : undefined)
    return looks
  }

  it('is about facts that are read again after more than 30 seconds, with what it allowed', async () => {
    expect(await readAgain(30_000)).toEqual([])
    expect(await readAgain(30_001)).toEqual(['looked'])
    expect(await readAgain(90_000, {codes: ['G_FIRST_CONTACT']})).toEqual(['null_resource.cache', 'looked'])
  })

  it('is as late where the machine slept over the question', async () => {
    expect(await readAgain(8 * 3_600_000, {asleep: true})).toEqual(['looked'])
  })

  it('reads nothing again where the answer is no', async () => {
    await expect(readAgain(90_000, {answer: 'no'})).rejects.toMatchObject({code: 'E_NOT_CONFIRMED'})
  })
})
