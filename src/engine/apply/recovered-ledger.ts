/** What the ledger learns of a run that died: objects it made, secrets it had sent, and secrets that may have arrived. */
import {AppError} from '../../base/errors.ts'
import type {Lookup} from '../model/declaration.ts'
import {deposedAddress, deposedEntry, deposes} from '../model/deposed.ts'
import {type SettledStep, stackOf, type UncertainSecrets} from '../model/journal.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {ledgerEntryOf, secretsIn} from '../model/ledger-entry.ts'
import type {Operation} from '../model/plan.ts'
import {declarationOf} from '../model/planned-object.ts'
import {resolveValue} from '../model/resolve.ts'
import {type Key, keyOf, type Secret, type ValueObject} from '../model/value.ts'
import type {RecoverInput} from './recover.ts'
import {type KnownSecret, sentContext, withoutSecrets} from './sent-secrets.ts'

export class RecoveredLedger {
  readonly #input: RecoverInput
  readonly #operations: ReadonlyMap<Key, Operation>
  /** Of the ledgers as this recovery found them. */
  readonly #serials: ReadonlyMap<string, number>
  /** What the run itself had, made or deleted under each key. */
  readonly #own = new Map<Key, Set<string>>()
  /** Where the objects of the run are: what its ledger entries and further looks go by. */
  readonly #remote = new Map<Key, string>()

  constructor(input: RecoverInput) {
    this.#input = input
    this.#operations = new Map(input.operations.map(it => [keyOf(it.stack, it.address), it]))
    this.#serials = new Map([...input.dead.serials.keys()].flatMap(stack => [[stack, input.book.ledger(stack)?.serial ?? 0] as const]))
    const {loose, settled, uncertain} = input.dead
    for (const {key, remoteId} of [...loose, ...settled, ...uncertain]) this.#isOwn(key, remoteId)
    for (const [key, {remoteId}] of this.#operations) this.#isOwn(key, remoteId)
    for (const [key, it] of this.#operations) if (it.remoteId !== undefined && it.action !== 'replace') this.#remote.set(key, it.remoteId)
  }

  operation(key: Key): Operation | undefined {
    return this.#operations.get(key)
  }

  isAt(key: Key, remoteId: string): void {
    this.#remote.set(key, remoteId)
  }

  async record({key, step, kind, remoteId, secrets = {}}: SettledStep): Promise<void> {
    if (step === 'delete') return this.#dropped(key)
    if (remoteId === undefined) return
    this.#remote.set(key, remoteId)
    this.#isOwn(key, remoteId)
    const operation = this.#operations.get(key)
    const {book} = this.#input
    const there = this.#entry(key)
    if (there !== undefined && this.#isWrittenSince(key)) {
      // A later run knows better what the object is.
      if (there.remoteId === remoteId)
        book.record(stackOf(key), await this.#withoutDoubted(there, {key, step, remoteId, secrets}), new Map())
      return
    }
    if (operation?.declared === undefined) {
      // Without the plan of the run its object is ours all the same: with nothing known of it, all of it is compared.
      if (step === 'create' && kind !== undefined) this.#recordBare(key, kind, remoteId)
      return
    }
    const {stack} = operation
    const former = this.#entry(key)
    const deposed = deposedEntry(operation, former)
    if (deposed !== undefined && deposed.remoteId !== remoteId) book.record(stack, deposed, new Map())
    const spec = this.declared(operation)
    const kept: Record<string, string> = {}
    const known = new Map<string, KnownSecret>()
    for (const [pointer, secret] of secretsIn(spec)) {
      const sent = secrets[pointer]
      const before = former?.remoteId === remoteId ? former.secrets[pointer] : undefined
      const context = sentContext({key, step, remoteId}, pointer)
      // Rotated since, or never sent: the ledger has nothing of it, and the next plan sends it.
      if (sent === undefined) Object.assign(kept, before === undefined ? {} : {[pointer]: before})
      else if (await this.#input.wasSent(sent, context, secret)) known.set(pointer, {secret, sent: true})
    }
    book.record(stack, ledgerEntryOf(operation, operation.declared, remoteId, spec, former?.outputs ?? {}, kept), known)
  }

  /** Of a secret that this run had sent, and that the ledger knows another value of, nobody knows which came last. */
  async #withoutDoubted(
    there: LedgerEntry,
    {secrets = {}, ...sent}: Omit<SettledStep, 'kind'> & {readonly remoteId: string},
  ): Promise<LedgerEntry> {
    const {book, isRecorded, wasSent} = this.#input
    const operation = this.#operations.get(sent.key)
    const ledger = book.ledger(stackOf(sent.key))
    const declared = operation ? secretsIn(this.declared(operation)) : new Map<string, Secret>()
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
    return withoutSecrets(there, doubted)
  }

  #recordBare(key: Key, kind: string, remoteId: string): void {
    const stack = stackOf(key)
    this.#input.book.record(
      stack,
      {
        address: key.slice(stack.length + 1),
        kind,
        remoteId,
        origin: 'created',
        applied: {},
        secrets: {},
        dependsOn: [],
        removal: 'delete',
        preventDestroy: false,
        exclusive: [],
        outputs: {},
      },
      new Map(),
    )
  }

  /** A secret that may have arrived: whatever is declared by now is sent, also where that is the former one. */
  doubtSecrets({key, step, remoteId, secrets}: UncertainSecrets): void {
    if (step !== 'update' || remoteId === undefined) return
    const operation = this.#operations.get(key)
    const known = this.#entry(key)
    const entry = known ?? (operation?.declared === undefined ? undefined : ledgerEntryOf(operation, operation.declared, remoteId, {}, {}))
    if (entry?.remoteId === remoteId) this.#input.book.record(stackOf(key), withoutSecrets(entry, Object.keys(secrets)), new Map())
  }

  #isOwn(key: Key, remoteId: string | undefined): void {
    if (remoteId !== undefined) this.#own.set(key, (this.#own.get(key) ?? new Set()).add(remoteId))
  }

  /** Another run has written what the ledger has under this key: another object, or a version that the dead run did not know. */
  #isWrittenSince(key: Key): boolean {
    const there = this.#entry(key)
    if (there === undefined) return false
    const known = this.#input.dead.serials.get(stackOf(key))
    const now = this.#serials.get(stackOf(key))
    return !this.#own.get(key)?.has(there.remoteId) || (known !== undefined && now !== undefined && now > known)
  }

  /** What the ledger has under this key, or under the one its operation moves it from. */
  #entry(key: Key): LedgerEntry | undefined {
    const entries = this.#input.book.ledger(stackOf(key))?.entries
    const movedFrom = this.#operations.get(key)?.movedFrom
    return entries?.get(key.slice(stackOf(key).length + 1)) ?? (movedFrom === undefined ? undefined : entries?.get(movedFrom))
  }

  #dropped(key: Key): void {
    const operation = this.#operations.get(key)
    if (operation === undefined) return
    const {stack, address, remoteId} = operation
    const there = this.#input.book.ledger(stack)?.entries.get(address)
    if (operation.action === 'delete' && there?.remoteId === remoteId) this.#input.book.drop(stack, address)
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
