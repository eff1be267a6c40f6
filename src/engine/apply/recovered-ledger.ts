/** What the ledger learns of a run that died: objects it made, secrets it had sent, and secrets that may have arrived. */
import {AppError} from '../../base/errors.ts'
import {canonicalJson, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {Lookup} from '../model/declaration.ts'
import {asDeposed, deposedAddress, deposedEntry, deposes, isDeposed} from '../model/deposed.ts'
import {diffFields} from '../model/diff.ts'
import {FORMER_SECRET} from '../model/former-secret.ts'
import {addressIn, type SettledStep, stackOf, type UncertainSecrets} from '../model/journal.ts'
import {type Kind, kindCalled} from '../model/kind.ts'
import {type Ledger, type LedgerEntry, sinceVersion} from '../model/ledger.ts'
import {appliedBefore, appliedOf, bareEntry, ledgerEntryOf, secretsInSpec} from '../model/ledger-entry.ts'
import {leftAlone} from '../model/left-alone.ts'
import type {LiveObject} from '../model/live.ts'
import type {Operation} from '../model/plan.ts'
import {declarationOf} from '../model/planned-object.ts'
import {resolveValue} from '../model/resolve.ts'
import {type Key, keyOf, keyOfOperation, type Secret, type ValueObject} from '../model/value.ts'
import type {RecoverInput} from './recovery.ts'
import {dropObject} from './remember.ts'
import {type KnownSecret, secretsLeft, sentContext, withUnknown} from './sent-secrets.ts'

/** Where a ledger has an object. */
interface OwnedEntry {
  readonly stack: string
  readonly entry: LedgerEntry
}

/** An object as it is now, in the account of a stack; `undefined`: it is not there, or nobody can tell. */
export type LookAt = (stack: string, kind: Kind, remoteId: string) => Promise<LiveObject | undefined>

const addressesIn = (ledger: Ledger | undefined): ReadonlyMap<string, string> =>
  new Map([...(ledger?.entries.values() ?? [])].map(it => [it.remoteId, it.address]))

export class RecoveredLedger {
  readonly #input: RecoverInput
  readonly #lookAt: LookAt
  readonly #operations: ReadonlyMap<Key, Operation>
  /** The address of each object, by stack. */
  readonly #addresses: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** What the run itself had, made or deleted under each key. */
  readonly #own = new Map<Key, Set<string>>()
  /** Where the objects of the run are: what its ledger entries and further looks go by. */
  readonly #remote = new Map<Key, string>()

  constructor(input: RecoverInput, lookAt: LookAt) {
    this.#input = input
    this.#lookAt = lookAt
    this.#operations = new Map(input.operations.map(it => [keyOfOperation(it), it]))
    const {loose, settled, uncertain} = input.dead
    const stacks = new Set([...loose, ...settled, ...uncertain].map(it => stackOf(it.key)))
    this.#addresses = new Map([...stacks].map(stack => [stack, addressesIn(input.book.ledger(stack))]))
    for (const {key, remoteId} of [...loose, ...settled, ...uncertain]) this.#isOwn(key, remoteId)
    for (const {key, former} of [...loose, ...settled]) this.#isOwn(key, former)
    for (const [key, {remoteId}] of this.#operations) this.#isOwn(key, remoteId)
    for (const [key, it] of this.#operations) if (it.remoteId !== undefined && it.action !== 'replace') this.#remote.set(key, it.remoteId)
  }

  operation(key: Key): Operation | undefined {
    return this.#operations.get(key)
  }

  /**
   * Whether an object was there before a create of this run was sent, or is what became of something else in it: that
   * create has not made it, however well it fits.
   *
   * @param sharesAccount - whether another stack speaks to the same account
   */
  isKnownAsOther(key: Key, remoteId: string, sharesAccount: (stack: string) => boolean): boolean {
    if (this.#operations.get(key)?.remoteId === remoteId || this.#isElsewhere(stackOf(key), remoteId)) return true
    for (const [other, ids] of this.#own) if (other !== key && ids.has(remoteId) && sharesAccount(stackOf(other))) return true
    return [...this.#addresses].some(([stack, addresses]) => {
      const address = addresses.get(remoteId)
      // Under its own address the run may have written it; in a ledger of somebody else since, under whatever address it has by now.
      if (address === undefined || keyOf(stack, address) === key || !sharesAccount(stack)) return false
      return isDeposed(address) || this.#isAsKnown(stack) === true
    })
  }

  /** Another stack has made it since, or taken it over: it did not come from here, which would have left a tombstone. */
  #isElsewhere(stack: string, remoteId: string): boolean {
    const {book, isElsewhere} = this.#input
    const came = book.ledger(stack)?.gone?.some(it => it.remoteId === remoteId) ?? false
    return !came && (isElsewhere?.(stack, remoteId) ?? false)
  }

  /** Another machine has settled this create, and what the ledger has by now was made of that: it knows the end of it. */
  isSettledSince(key: Key): boolean {
    return this.#input.isOpenStill?.(key) === false && this.#since(stackOf(key)) === 'later'
  }

  isAt(key: Key, remoteId: string): void {
    this.#remote.set(key, remoteId)
  }

  /** Begins what `record` waits for of each secret, so that many take as long as there are processors for them. */
  compareAhead({key, step, remoteId, secrets = {}}: SettledStep): void {
    const sent = Object.entries(secrets)
    const operation = sent.length === 0 ? undefined : this.#operations.get(key)
    if (operation === undefined || remoteId === undefined) return
    const declared = secretsInSpec(this.declared(operation))
    for (const [pointer, digest] of sent) {
      const secret = declared.get(pointer)
      // Whoever records it hears of a failure.
      if (secret) void this.#input.wasSent(digest, sentContext({key, step, remoteId}, pointer), secret).catch(() => {})
    }
  }

  async record({key, step, kind, remoteId, secrets = {}, written}: SettledStep): Promise<void> {
    if (step === 'delete') return this.#dropped(key)
    if (remoteId === undefined) return
    this.#remote.set(key, remoteId)
    this.#isOwn(key, remoteId)
    const operation = this.#operations.get(key)
    const {book} = this.#input
    // It was there when this run last wrote the ledger, or when somebody settled it elsewhere, and is not in what was made of that.
    // Another ledger was made of something else, and what it lacks nobody has taken out of it.
    const found = this.#placeOf(key, remoteId)
    const isTakenOut = written === true ? this.#since(stackOf(key)) === 'later' : step === 'create' && this.isSettledSince(key)
    const isGone = isTakenOut || this.#isElsewhere(stackOf(key), remoteId)
    const place = found === 'unknown' && isGone ? 'taken out' : found
    if (place !== 'unknown' && place !== 'as it was') {
      // A later run, or a person, knows better what the object is, and whose.
      if (place === 'taken out') return
      const entry = await this.#withDoubted(place, {key, step, remoteId, secrets})
      book.record(place.stack, step === 'update' ? await this.#withApplied(place.stack, entry, operation) : entry, new Map())
      return
    }
    if (operation?.declared === undefined) {
      // Without the plan of the run its object is ours all the same, and so is the one that it takes the place of: that may be there still.
      if (step === 'create' && kind !== undefined && place === 'unknown') {
        const replaced = this.#entry(key)
        if (replaced !== undefined) book.record(stackOf(key), asDeposed(replaced), new Map())
        book.record(stackOf(key), withUnknown(bareEntry(addressIn(key), kind, remoteId), Object.keys(secrets)), new Map())
      }
      // Nobody can tell any more which values it has got: those that the ledger knows it had before.
      const there = step === 'update' && place === 'as it was' ? this.#entry(key) : undefined
      if (there !== undefined) book.record(stackOf(key), withUnknown(there, Object.keys(secrets)), new Map())
      return
    }
    const {stack} = operation
    const former = this.#entry(key)
    const deposed = deposedEntry(operation, former)
    if (deposed !== undefined && deposed.remoteId !== remoteId) book.record(stack, deposed, new Map())
    const spec = this.declared(operation)
    const there = former?.remoteId === remoteId ? former : undefined
    const kept = secretsLeft(operation, spec, there)
    const known = new Map<string, KnownSecret>()
    for (const [pointer, secret] of secretsInSpec(spec)) {
      const sent = secrets[pointer]
      const before = there?.secrets[pointer]
      const context = sentContext({key, step, remoteId}, pointer)
      if (sent === undefined) Object.assign(kept, before === undefined ? {} : {[pointer]: before})
      else if (await this.#input.wasSent(sent, context, secret)) known.set(pointer, {secret, sent: true})
      // Rotated since: the ledger has nothing of its value, and the next plan sends it.
      else kept[pointer] = FORMER_SECRET
    }
    // What it was declared with then, and is declared with no more.
    for (const pointer of Object.keys(secrets)) if (!known.has(pointer)) kept[pointer] ??= FORMER_SECRET
    const applied = this.#applied(operation, spec, there)
    book.record(stack, ledgerEntryOf(operation, operation.declared, remoteId, applied, former?.outputs ?? {}, kept), known)
  }

  /**
   * A ledger that was written since may say of this object what it said before the run: then nobody has, and the update stands, or
   * somebody has set a field back to that. What is live says which.
   */
  async #withApplied(stack: string, there: LedgerEntry, operation: Operation | undefined): Promise<LedgerEntry> {
    const was = this.#input.before?.stacks[stack]?.entries.find(it => it.remoteId === there.remoteId)
    if (operation?.declared === undefined || was === undefined || canonicalJson(was.applied) !== canonicalJson(there.applied)) return there
    const applied = this.#applied(operation, this.declared(operation), there)
    if (canonicalJson(applied) === canonicalJson(there.applied)) return there
    const kind = kindCalled(this.#input.kinds, operation.kind)
    const live = await this.#lookAt(stack, kind, there.remoteId)
    return {...there, applied: live === undefined ? applied : asItStands(kind, applied, there.applied, live)}
  }

  #applied(operation: Operation, spec: ValueObject, there: LedgerEntry | undefined): JsonObject {
    const kind = kindCalled(this.#input.kinds, operation.kind)
    return appliedOf(kind, spec, leftAlone(operation), appliedBefore(kind, operation, spec, there))
  }

  /** Of a secret that this run had sent, and that the ledger knows another value of, nobody knows which came last. */
  async #withDoubted(
    {stack, entry: there}: OwnedEntry,
    {secrets = {}, ...sent}: Omit<SettledStep, 'kind'> & {readonly remoteId: string},
  ): Promise<LedgerEntry> {
    const {book, isRecorded, wasSent} = this.#input
    const operation = this.#operations.get(sent.key)
    const ledger = book.ledger(stack)
    const declared = operation ? secretsInSpec(this.declared(operation)) : new Map<string, Secret>()
    const doubted: string[] = []
    for (const [pointer, digest] of Object.entries(secrets)) {
      const secret = declared.get(pointer)
      const same =
        secret !== undefined &&
        ledger !== undefined &&
        (await wasSent(digest, sentContext(sent, pointer), secret)) &&
        (await isRecorded(ledger, there, pointer, secret))
      if (!same) doubted.push(pointer)
    }
    return withUnknown(there, doubted)
  }

  /** A secret that may have arrived: whatever is declared by now is sent, also where that is the former one. */
  doubtSecrets({key, step, remoteId, secrets}: UncertainSecrets): void {
    if (step !== 'update' || remoteId === undefined) return
    const place = this.#placeOf(key, remoteId)
    if (place === 'taken out') return
    const operation = this.#operations.get(key)
    const known = typeof place === 'string' ? this.#entry(key) : place.entry
    const entry = known ?? (operation?.declared === undefined ? undefined : ledgerEntryOf(operation, operation.declared, remoteId, {}, {}))
    const stack = typeof place === 'string' ? stackOf(key) : place.stack
    if (entry?.remoteId === remoteId) this.#input.book.record(stack, withUnknown(entry, Object.keys(secrets)), new Map())
  }

  #isOwn(key: Key, remoteId: string | undefined): void {
    if (remoteId !== undefined) this.#own.set(key, (this.#own.get(key) ?? new Set()).add(remoteId))
  }

  /** Where the ledgers have an object of the run by now. */
  #placeOf(key: Key, remoteId: string): OwnedEntry | 'as it was' | 'taken out' | 'unknown' {
    const stack = stackOf(key)
    const there = this.#entry(key)
    if (there?.remoteId === remoteId) return this.#isLater(stack) ? {stack, entry: there} : 'as it was'
    const elsewhere = this.#addressNow(stack, remoteId)
    if (elsewhere !== undefined) return elsewhere
    const operation = this.#operations.get(key)
    // What it made comes in the place of what it replaced, or of what was gone; whoever wrote the ledger since has left that there.
    if (there !== undefined) return this.#isAsKnown(stack) === true || this.#own.get(key)?.has(there.remoteId) ? 'unknown' : 'taken out'
    // What the ledger had when the run was planned somebody has taken out of it since.
    return operation?.remoteId === remoteId && operation.adopts !== true ? 'taken out' : 'unknown'
  }

  /** The address it went to since, in this stack or in another one. */
  #addressNow(stack: string, remoteId: string): OwnedEntry | 'taken out' | undefined {
    const {book} = this.#input
    const of = (at: string, address: string | undefined): OwnedEntry | undefined => {
      const entry = address === undefined ? undefined : book.ledger(at)?.entries.get(address)
      return entry?.remoteId === remoteId ? {stack: at, entry} : undefined
    }
    const stone = book.ledger(stack)?.gone?.findLast(it => it.remoteId === remoteId)
    const here = of(stack, this.#addresses.get(stack)?.get(remoteId))
    return here ?? (stone && (of(stone.to.stack, stone.to.address) ?? 'taken out'))
  }

  /** Whether the ledger of a stack was written by somebody, or made anew, after the dead run knew it last. */
  #isLater(stack: string): boolean {
    return this.#isAsKnown(stack) === false
  }

  /** `undefined`: its journal does not say what it knew. */
  #isAsKnown(stack: string): boolean | undefined {
    const since = this.#since(stack)
    return since === undefined ? undefined : since === 'as known'
  }

  #since(stack: string): ReturnType<typeof sinceVersion> | undefined {
    const {dead, versions} = this.#input
    const [known, now] = [dead.versions.get(stack), versions.get(stack)]
    return known === undefined || now === undefined ? undefined : sinceVersion(known, now)
  }

  /** What the ledger has under this key, or under the one its operation moves it from. */
  #entry(key: Key): LedgerEntry | undefined {
    const entries = this.#input.book.ledger(stackOf(key))?.entries
    const movedFrom = this.#operations.get(key)?.movedFrom
    return entries?.get(addressIn(key)) ?? (movedFrom === undefined ? undefined : entries?.get(movedFrom))
  }

  #dropped(key: Key): void {
    const operation = this.#operations.get(key)
    if (operation === undefined) return
    const {stack, address, remoteId} = operation
    const there = this.#input.book.ledger(stack)?.entries.get(address)
    if (operation.action === 'delete') {
      // Written since, it has what is there by now: a new object may have the id of the deleted one. What is gone, plans find out.
      if (there?.remoteId === remoteId && !this.#isLater(stack)) dropObject(this.#input, operation)
    }
    // Of a replacement the new object is still to come; its entry is the old one until then.
    else if (remoteId !== undefined && deposes(operation)) this.#input.book.drop(stack, deposedAddress(address, remoteId))
  }

  /** As it was sent: secrets in clear, open leaves answered by what is known now. */
  declared(operation: Operation): ValueObject {
    const {secret, evaluate, lookup} = this.#input
    const declaration = declarationOf(operation, leaf => secret(operation, leaf))
    const known: Lookup = {
      ...lookup,
      attribute: (key, attribute) => (attribute === 'id' ? this.#remote.get(key) : undefined) ?? lookup.attribute(key, attribute),
    }
    return resolveValue(declaration?.spec ?? {}, open => {
      try {
        return evaluate(open.expression, operation.stack, known)
      } catch (error) {
        // What it reads was made by the dead run and is not known here: the next plan compares it again.
        if (error instanceof AppError) return undefined
        throw error
      }
    }) as ValueObject
  }
}

/** What was applied, but for fields that are not so any more: of those what counted before. */
function asItStands(kind: Kind, applied: JsonObject, before: JsonObject, {fields}: LiveObject): JsonObject {
  const {changes} = diffFields({kind, declared: applied, live: fields, ignore: [], secretState: () => 'unknown'})
  const other = new Set(changes.map(it => parsePointer(it.path)[0]))
  const of = (from: JsonObject, isOther: boolean) => Object.entries(from).filter(([field]) => other.has(field) === isOther)
  return Object.fromEntries([...of(applied, false), ...of(before, true)])
}
