/** `svcctl hold`: objects that stay as they are for a while, whatever a plan would do to them. No request is sent. */

import type {AuditEvent} from '../../audit/entry.ts'
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {addAll} from '../../base/many.ts'
import {nearest} from '../../base/nearest.ts'
import {withAddedHolds} from '../../controls/document.ts'
import type {ControlsStore} from '../../controls/store.ts'
import type {Controls, Hold} from '../../engine/model/controls.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import {type Named, Words} from '../../engine/observe/selector.ts'
import {audited} from '../audit/audit.ts'
import {type Said, saidNow} from '../host/said.ts'
import {RunControls} from '../workspace/controls.ts'
import type {LedgerDesk} from '../workspace/ledger-desk.ts'
import {inTurn} from './in-turn.ts'

/** No held object has this name. */
export class NotHeldError extends AppError {
  constructor(words: readonly string[], holds: readonly Hold[]) {
    const held = holds.map(it => keyOfOperation(it))
    const near = words.flatMap(word => nearest(word, [...held, ...holds.map(it => it.address)]) ?? [])
    super(`${words.join(', ')}: no held object has this name`, {
      code: 'E_NOT_HELD',
      exit: EXIT.usage,
      suggestions: near.length > 0 ? [...new Set(near)].map(it => `Did you mean ${it}?`) : ['What is held says: svcctl hold list'],
    })
  }
}

/** @throws UnknownAddressError, ControlsError, ControlsLockedError, DeadlineError, UsageError */
export async function hold(desk: LedgerDesk, stacks: readonly string[], words: readonly string[], said: Said): Promise<Hold[]> {
  const agreed = saidNow(desk.host, said)
  const meant = desk.meant(await desk.load(desk.chosen(stacks)), words, 'hold')
  const holds = meant.map(
    ({stack, address, kind, remoteId}): Hold => ({stack, address, kind, ...(remoteId === undefined ? {} : {remoteId}), ...agreed}),
  )
  return inControls(desk, [...new Set(holds.map(it => it.stack))], async stores => {
    // None of them, where one cannot be read.
    await Promise.all(stores.map(it => it.store.read()))
    return desk.changing(CHANGED, async stop => {
      await inTurn(stores, 'held', async ({stack, store}) => {
        const own = holds.filter(it => it.stack === stack)
        const change = () => store.change(now => ({controls: withAddedHolds(now, own), result: undefined}), stop)
        await auditedAll(
          desk,
          stack,
          own.map(it => ({event: 'hold', ...eventOf(it)})),
          change,
          said.by,
        )
        return own.length > 0
      })
      return holds
    })
  })
}

/** @throws ControlsError */
export const listHolds = (desk: LedgerDesk, stacks: readonly string[]): Promise<Hold[]> =>
  inControls(
    desk,
    desk.chosen(stacks).map(it => it.name),
    holdsIn,
  )

/** @throws NotHeldError, ControlsError, ControlsLockedError */
export async function liftHolds(desk: LedgerDesk, stacks: readonly string[], words: readonly string[]): Promise<Hold[]> {
  const chosen = desk.chosen(stacks)
  const objects = desk.known(await desk.load(chosen))
  return inControls(
    desk,
    chosen.map(it => it.name),
    async stores => {
      const held = await holdsIn(stores)
      const names = held.flatMap(it => calledNow(it, objects))
      const meaning = new Words(words, names, kinds)
      if (meaning.idle.length > 0) throw new NotHeldError(meaning.idle, held)
      const isMeant = (it: Hold) => calledNow(it, objects).some(name => meaning.mean(name))
      return desk.changing(CHANGED, async stop => {
        const lifted: Hold[] = []
        await inTurn(stores, 'lifted', async ({stack, store}) => {
          const own = held.filter(it => it.stack === stack && isMeant(it))
          if (own.length === 0) return false
          const edit = (now: Controls) => ({
            controls: {...now, holds: now.holds.filter(it => !isMeant({...it, stack}))},
            result: now.holds.map(it => ({...it, stack})).filter(isMeant),
          })
          const events = own.map(it => ({event: 'lift' as const, ...eventOf(it)}))
          addAll(lifted, await auditedAll(desk, stack, events, () => store.change(edit, stop)))
          return true
        })
        return lifted
      })
    },
  )
}

const CHANGED = 'the holds are written'

const eventOf = ({address, remoteId, until, reason}: Hold) => ({
  address,
  ...(remoteId === undefined ? {} : {remoteId}),
  until,
  reason,
})

/** One line for each of them, before anything is changed. */
function auditedAll<T>(desk: LedgerDesk, stack: string, events: readonly AuditEvent[], work: () => Promise<T>, by?: string): Promise<T> {
  const store = desk.open([desk.named(stack, '--stack')]).get(stack)
  if (store === undefined) throw new TypeError(`the ledger of stack ${stack} is not open`)
  return audited(desk.host, {stack, store}, events, work, by)
}

/** As it was held, and as it is called by now: it may have another address. */
const calledNow = (hold: Hold, objects: readonly Named[]): readonly Named[] => [
  hold,
  ...objects.filter(
    it => it.stack === hold.stack && (it.address === hold.address || (hold.remoteId !== undefined && it.remoteId === hold.remoteId)),
  ),
]

interface StackControls {
  readonly stack: string
  readonly store: ControlsStore
}

/** Whatever stack the document says: it is that of this one's ledger. */
async function holdsIn(stores: readonly StackControls[]): Promise<Hold[]> {
  const read = await Promise.all(stores.map(async ({stack, store}) => (await store.read()).holds.map(it => ({...it, stack}))))
  return read.flat().sort((a, b) => (keyOfOperation(a) < keyOfOperation(b) ? -1 : 1))
}

async function inControls<T>(
  desk: LedgerDesk,
  stacks: readonly string[],
  work: (stores: readonly StackControls[]) => Promise<T>,
): Promise<T> {
  const controls = new RunControls(desk.host, desk.chosen(stacks), [])
  try {
    return await work(controls.stores.flatMap(({stack, store}) => (stack === undefined ? [] : [{stack, store}])))
  } finally {
    await controls.close()
  }
}
