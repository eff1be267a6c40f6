/** What ledgers have, as lists, one object, and less of it: `state list`, `state show`, `forget`. No request is sent. */
import type {AuditEvent} from '../../audit/entry.ts'
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import {UsageError} from '../../base/usage-error.ts'
import type {LedgerEntry} from '../../engine/model/ledger.ts'
import {inlinePlace, withoutInline} from '../../engine/model/made-inline.ts'
import {keyOf} from '../../engine/model/value.ts'
import {marksIn} from '../../ledger/transfer.ts'
import {assertSettled} from '../apply/open-requests.ts'
import {saveAudited} from '../audit/audit.ts'
import type {LedgerDesk, LedgerObject} from '../workspace/ledger-desk.ts'
import {inTurn} from './in-turn.ts'
import {assertArrived} from './under-way.ts'

const ANYWAY = 'To forget it all the same: --anyway.'

/** The next apply would find it by its name and take it over again. */
export class StillDeclaredError extends AppError {
  constructor(keys: readonly string[]) {
    super(`${keys.join(', ')}: still declared, and the next apply would adopt it again`, {
      code: 'E_STILL_DECLARED',
      exit: EXIT.refused,
      problems: keys.map(address => ({address, message: 'is declared still'})),
      suggestions: ['Take it out of the stack first, and run this again.', ANYWAY],
    })
  }
}

export const ownedDocument = ({stack, entry: {address, kind, remoteId, origin}}: LedgerObject) => ({stack, address, kind, remoteId, origin})

export async function listOwned(desk: LedgerDesk, stacks: readonly string[], words: readonly string[]): Promise<LedgerObject[]> {
  const owned = desk.owned(await desk.load(desk.chosen(stacks)), words, 'state list')
  return owned.sort((a, b) => (keyOf(a.stack, a.entry.address) < keyOf(b.stack, b.entry.address) ? -1 : 1))
}

/** @throws UsageError when several are meant */
export async function showOwned(desk: LedgerDesk, stacks: readonly string[], word: string): Promise<LedgerObject> {
  const [only, ...more] = desk.owned(await desk.load(desk.chosen(stacks)), [word], 'state show')
  if (only === undefined || more.length > 0) throw new SeveralMeantError(word, only === undefined ? [] : [only, ...more])
  return only
}

/** A word means objects of several stacks, or several objects where one is shown. */
export class SeveralMeantError extends UsageError {
  constructor(word: string, meant: readonly LedgerObject[]) {
    const names = meant.map(it => keyOf(it.stack, it.entry.address))
    super(`${word} means ${names.join(', ')}`, [`Name one of them: ${names[0] ?? ''}`])
  }
}

const forgetEvent = (owned: LedgerObject): AuditEvent => ({
  event: 'forget',
  address: owned.entry.address,
  remoteId: owned.entry.remoteId,
  action: 'forget',
  state: 'done',
  changes: [{path: '', before: shownApplied(owned.entry)}],
})

/** What was applied last; secrets are marks, and not even digests are shown. */
export function shownApplied({applied, secrets}: LedgerEntry): JsonObject {
  return Object.keys(secrets).reduce((spec: Json, pointer) => marked(spec, parsePointer(pointer)), applied) as JsonObject
}

function marked(value: Json | undefined, [step, ...rest]: readonly string[]): Json {
  if (step === undefined) return {secret: true}
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, i) => (String(i) === step ? marked(item, rest) : item))
  const object = isJsonObject(value) ? value : {}
  return {...object, [step]: marked(object[step], rest)}
}

/**
 * @param confirm - asks once it is known what goes
 * @throws UnknownAddressError, StillDeclaredError, UnsettledRunError, UsageError for what is on its way there, and what `confirm` throws
 */
export async function forget(
  desk: LedgerDesk,
  {
    stacks,
    words,
    anyway,
    lockTimeoutMs,
    confirm,
  }: {
    readonly stacks: readonly string[]
    readonly words: readonly string[]
    readonly anyway: boolean
    readonly lockTimeoutMs: number
    readonly confirm: (owned: readonly LedgerObject[]) => Promise<void>
  },
): Promise<LedgerObject[]> {
  const chosen = desk.chosen(stacks)
  const ledgers = await desk.load(chosen)
  const meant = desk.owned(ledgers, words, 'forget')
  const names = new Set(meant.map(it => it.stack))
  if (stacks.length === 0 && names.size > 1) throw new SeveralMeantError(words.join(' '), meant)
  const declared = anyway ? [] : meant.filter(it => desk.declaration(it.stack, it.entry) !== undefined)
  if (declared.length > 0) throw new StillDeclaredError(declared.map(it => keyOf(it.stack, it.entry.address)))
  const concerned = chosen.filter(it => names.has(it.name))
  await desk.assertFree(concerned, meant)
  // Its run may have made another object in its place, and that one would be nobody's.
  assertSettled(desk, ledgers, meant)
  await confirm(meant)
  const isMeant = (stack: string, {remoteId}: LedgerEntry) => meant.some(it => it.stack === stack && it.entry.remoteId === remoteId)
  return desk.locked(concerned, lockTimeoutMs, async stores => {
    // While somebody was asked, or a lock was waited for, it may have been frozen or held.
    await desk.assertFree(concerned, meant)
    const now = new Map(await Promise.all([...stores].map(async ([stack, it]) => [stack, await it.load()] as const)))
    assertSettled(desk, now, meant)
    // The ledger that it comes from would have it again.
    const underWay = anyway ? [] : marksIn(now.values()).filter(({stack, entry}) => isMeant(stack, entry))
    assertArrived(underWay, ANYWAY)
    const forgotten: LedgerObject[] = []
    const each = [...stores].map(([stack, store]) => ({stack, store}))
    await inTurn(each, 'forgotten', async ({stack, store}) => {
      const ledger = await store.load()
      const entries = new Map(ledger.entries)
      const addresses = new Map([...entries.values()].map(it => [it.remoteId, it.address]))
      for (const it of meant) {
        // What became another object since it was asked about stays.
        if (it.stack !== stack || entries.get(it.entry.address)?.remoteId !== it.entry.remoteId) continue
        entries.delete(it.entry.address)
        notMadeInline(entries, addresses, it.entry)
        forgotten.push(it)
      }
      if (entries.size === ledger.entries.size) return false
      const gone = forgotten.filter(it => it.stack === stack).map(forgetEvent)
      await saveAudited(desk.host, store, ledger, gone, now => ({...now, entries}))
      return true
    })
    return forgotten
  })
}

/** What it is in was perhaps made with it, and must not take it along one day. */
function notMadeInline(entries: Map<string, LedgerEntry>, addresses: ReadonlyMap<string, string>, entry: LedgerEntry): void {
  const place = inlinePlace(kinds, entry)
  const parent = entries.get(addresses.get(place?.parent ?? '') ?? '')
  const name = kinds.get(entry.kind)?.identity.key(entry.applied)
  if (place && parent && name !== undefined) entries.set(parent.address, withoutInline(parent, place.field, name))
}
