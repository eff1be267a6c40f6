/** `svcctl freeze`: for a while nothing is sent to a stack's APIs, or to an account, whoever runs it. No request is sent. */
import type {AuditEvent} from '../../audit/entry.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {addAll} from '../../base/many.ts'
import {nearest} from '../../base/nearest.ts'
import {randomHex} from '../../base/random.ts'
import {withFreeze} from '../../controls/document.ts'
import type {Controls, Freeze} from '../../engine/model/controls.ts'
import {audited} from '../audit/audit.ts'
import type {Host} from '../host/host.ts'
import {type Said, saidNow} from '../host/said.ts'
import {changingEach, type Stoppable} from '../ledgers/locked-ledgers.ts'
import type {LedgerOf} from '../ledgers/other-ledgers.ts'
import {StateStores} from '../ledgers/state-store.ts'
import {type ControlledAccount, RunControls} from '../workspace/controls.ts'
import {inTurn} from './in-turn.ts'

/** No freeze that counts is called so. */
export class NoFreezeError extends AppError {
  constructor(ids: readonly string[], known: readonly string[]) {
    const near = ids.flatMap(id => nearest(id, known) ?? [])
    super(`there is no freeze ${ids.join(', ')}`, {
      code: 'E_NO_FREEZE',
      exit: EXIT.notFound,
      suggestions: near.length > 0 ? [...new Set(near)].map(it => `Did you mean ${it}?`) : ['List what is frozen: svcctl freeze list'],
    })
  }
}

/** A freeze, and where it is kept. */
export interface Kept extends Freeze {
  /** Of an account's, in words: `cloud account at https://…`. */
  readonly account?: string
  readonly place: string
}

/** What a freeze is of, or may be of. */
export interface FreezeScope {
  readonly stacks: readonly LedgerOf[]
  readonly accounts: readonly ControlledAccount[]
}

/**
 * One for each stack and account.
 * @throws ControlsError, ControlsLockedError, DeadlineError, UsageError
 */
export async function freeze(
  host: Host,
  scope: FreezeScope,
  {strict, ...said}: Said & {readonly strict: boolean},
  stoppable: Stoppable,
): Promise<Kept[]> {
  const agreed = saidNow(host, said)
  return inControls(host, scope, async controls => {
    // None of them, where one cannot be read.
    await controls.read()
    return changingEach(stoppable, CHANGED, async stop => {
      const made: Kept[] = []
      await inTurn(controls.stores, 'frozen', async ({stack, account, store}) => {
        const id = `f-${randomHex(host.random, 4)}`
        const one: Freeze = {id, ...(stack === undefined ? {} : {stack}), ...agreed, strict}
        const change = () => store.change(now => ({controls: withFreeze(now, one), result: undefined}), stop)
        await auditedIn(host, scope, stack, [{event: 'freeze', ...eventOf(one)}], change, said.by)
        made.push({...one, ...of(account), place: store.place})
        return true
      })
      return made
    })
  })
}

/** @throws ControlsError */
export const listFreezes = (host: Host, scope: FreezeScope): Promise<readonly Kept[]> =>
  inControls(host, scope, async controls => {
    const read = await Promise.all(
      controls.stores.map(async ({account, store}) =>
        (await store.read()).freezes.map(it => ({...it, ...of(account), place: store.place})),
      ),
    )
    return read.flat()
  })

/** @throws NoFreezeError, ControlsError, ControlsLockedError */
export function liftFreezes(host: Host, scope: FreezeScope, ids: readonly string[], stoppable: Stoppable): Promise<Kept[]> {
  return inControls(host, scope, async controls => {
    const known = (await controls.read()).freezes.map(it => it.id)
    const unknown = ids.filter(it => !known.includes(it))
    if (unknown.length > 0) throw new NoFreezeError(unknown, known)
    return changingEach(stoppable, CHANGED, async stop => {
      const lifted: Kept[] = []
      await inTurn(controls.stores, 'lifted', async ({stack, account, store}) => {
        const own = (await store.read()).freezes.filter(it => ids.includes(it.id))
        if (own.length === 0) return false
        const edit = (now: Controls) => ({
          controls: {...now, freezes: now.freezes.filter(it => !ids.includes(it.id))},
          result: now.freezes.filter(it => ids.includes(it.id)).map(it => ({...it, ...of(account), place: store.place})),
        })
        const events = own.map(it => ({event: 'lift' as const, ...eventOf(it)}))
        addAll(lifted, await auditedIn(host, scope, stack, events, () => store.change(edit, stop)))
        return true
      })
      return lifted
    })
  })
}

const of = (account: string | undefined) => (account === undefined ? {} : {account})

const CHANGED = 'the freezes are written'

const eventOf = ({id, until, reason, strict}: Freeze) => ({until, reason: `${id}${strict ? ' (strict)' : ''}: ${reason}`})

/** A stack's audit has a line of it before it counts; an account has no audit of its own. */
async function auditedIn<T>(
  host: Host,
  {stacks}: FreezeScope,
  stack: string | undefined,
  events: readonly AuditEvent[],
  work: () => Promise<T>,
  by?: string,
): Promise<T> {
  const frozen = stacks.find(it => it.name === stack)
  if (frozen === undefined) return work()
  const states = new StateStores(host)
  try {
    const store = states.open(frozen, {notice: () => {}})
    return await audited(host, {stack: frozen.name, store}, events, work, by)
  } finally {
    await states.close()
  }
}

async function inControls<T>(host: Host, {stacks, accounts}: FreezeScope, work: (controls: RunControls) => Promise<T>): Promise<T> {
  const controls = new RunControls(host, stacks, accounts)
  try {
    return await work(controls)
  } finally {
    await controls.close()
  }
}
