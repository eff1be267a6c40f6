/**
 * The one rule between stacks: what another stack has in its ledger, or declares, is never deleted, updated, replaced or
 * adopted by this one. What a plan would do to such an object becomes one `move` where the run covers both stacks, and
 * is `blocked` where it covers one of them.
 *
 * A stack that has an object in its ledger and declares it keeps it, whoever else declares it too.
 */
import {APIS, type Api} from '../../base/apis.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {shellQuote, shellWord} from '../../base/shell-word.ts'
import type {Cause} from '../model/cause.ts'
import type {Declaration} from '../model/declaration.ts'
import {type Ids, idsIn, type Kind, kindCalled, parentRemoteId} from '../model/kind.ts'
import type {LedgerEntry, Tombstone} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import type {BeingMade, Owner} from '../model/ownership.ts'
import type {Operation} from '../model/plan.ts'
import {plainPart} from '../model/resolve.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'
import {DeclaredElsewhere, isNameless} from './declared-elsewhere.ts'
import type {PlanInput} from './plan-input.ts'

/** An operation would have touched what another stack has. A plan that holds one is never shown, saved or carried out. */
export class ForeignObjectError extends AppError {
  constructor({stack, address, action, remoteId = ''}: Operation, owner: string) {
    super(`${keyOf(stack, address)}: ${action} of ${remoteId}, which stack ${owner} has, was planned; nothing was sent`, {
      code: 'E_FOREIGN_OBJECT',
      exit: EXIT.refused,
      suggestions: [`Leave it out with --exclude ${keyOf(stack, address)}, and report this: it is a defect of svcctl.`],
    })
  }
}

type ClaimsInput = Pick<PlanInput, 'observation' | 'stacks' | 'selected' | 'ledgers' | 'otherLedgers' | 'accountOf' | 'kinds' | 'destroy'> &
  Pick<PlanInput, 'unreadLedgers' | 'beingMade' | 'leftAlone'>

export class Claims {
  readonly #input: ClaimsInput
  readonly #declared: DeclaredElsewhere
  #below: ReadonlyMap<string, Owner> | undefined
  #gone: ReadonlyMap<string, Tombstone> | undefined

  constructor(input: ClaimsInput) {
    this.#input = input
    this.#declared = new DeclaredElsewhere(input)
  }

  /** The operation as it may be: unchanged where nobody else has its object. */
  respected(operation: Operation): Operation {
    const pair = this.#input.observation.pairs.get(keyOfOperation(operation))
    const owner = pair?.match?.owner
    if (owner !== undefined && operation.remoteId !== undefined) return this.#ofOther(operation, owner, pair)
    if (operation.action === 'create' && pair?.parent !== undefined) {
      const made = this.#beingMade(operation, pair.parent)
      return made === undefined ? operation : {...left(operation, 'create', made), changes: operation.changes}
    }
    if (!touches(operation)) return operation
    const was = this.#input.leftAlone?.get(keyOfOperation(operation))
    if (was !== undefined && was.remoteId === operation.remoteId)
      return was.changes.length === 0 ? was : {...was, changes: operation.changes}
    const why = this.#why(operation)
    return why === undefined ? operation : left(operation, operation.action, why)
  }

  /** Whether a declaration that this run does not plan means an object. */
  isDeclared(stack: string, live: LiveObject): boolean {
    return this.declaredAs(stack, live) !== undefined
  }

  /** Which one; `maybe`: nobody can tell yet. */
  declaredAs(stack: string, {kind, remoteId, fields}: LiveObject): {readonly key: Key; readonly maybe: boolean} | undefined {
    const other = this.#declared.of({stack, address: remoteId, kind: kind.name, remoteId})
    if (other === undefined) return undefined
    const isUntold = isNameless(kind, other) || kind.identity.matches?.(plainPart(other.spec), fields) === false
    return {key: other.key, maybe: this.#isPlanned(other) || isUntold}
  }

  /** A create that has to wait: what it would make may be there, and it is known once the rest is applied. */
  notKnownYet(operation: Operation): Operation | undefined {
    const there = operation.action === 'create' ? this.#declared.perhaps(keyOfOperation(operation)) : undefined
    if (there === undefined) return undefined
    const reason = `it may mean ${there.remoteId}, which a ledger has, and not all of it is known yet: ${onceKnown('it')}`
    return {...operation, action: 'blocked', wants: 'create', cause: 'not-known-yet', reason}
  }

  #isPlanned({key}: Declaration): boolean {
    return this.#input.observation.pairs.get(key)?.context === false
  }

  /** @throws ForeignObjectError */
  assertRespected(operations: readonly Operation[]): void {
    for (const it of operations) {
      const why = touches(it) ? this.#why(it) : undefined
      if (why !== undefined) throw new ForeignObjectError(it, why.stack ?? '?')
    }
  }

  /** What a declaration of this stack means, and another one's ledger has. */
  #ofOther(operation: Operation, owner: Owner, pair: Paired | undefined): Operation {
    const {stack, entry} = owner
    const from = {stack, address: entry.address}
    const declared = this.#declared.of(operation)
    if (declared !== undefined && declared.stack !== stack) return left(operation, 'move', this.#declaredBy(operation, declared, undefined))
    if (declared !== undefined) {
      const live = pair?.match?.live
      const reason =
        live !== undefined && this.#declared.changes(declared, live)
          ? `stack ${stack} has it, and declares ${declared.address} otherwise by now: plan both stacks together`
          : `stack ${stack} has it, and declares it as ${declared.address}: one object can have one declaration`
      return left(operation, 'move', {...from, cause: 'owned-elsewhere', reason})
    }
    if (!this.#input.ledgers.has(stack))
      return left(operation, 'move', {
        ...from,
        cause: 'owned-elsewhere',
        reason: `stack ${stack} has it${this.#wayOver(from, operation, operation.remoteId)}`,
      })
    const later = operation.changes.map(it => it.path)
    const {adopts: _, wants: _wants, kept: _kept, preventDestroy: _prevent, ...moved} = operation
    return {
      ...moved,
      action: 'move',
      cause: 'stack-changed',
      changes: [],
      from,
      origin: entry.origin,
      ...(later.length > 0 ? {later} : {}),
      reason:
        pair?.match === undefined || later.length === 0
          ? `stack ${stack} has it as ${entry.address}`
          : `stack ${stack} has it as ${entry.address}; what differs is changed by the next apply`,
    }
  }

  /** How an object gets from one ledger into another one, in words that follow whose it is. */
  #wayOver(from: StackAddress, to: StackAddress, remoteId: string | undefined, result = ''): string {
    const command = this.transferOf(from, to, remoteId)
    if (command !== undefined) return `: ${command}${result}`
    const there = this.#inTheWay(to, remoteId)
    return `, and ${to.address} is ${there} in the ledger of stack ${to.stack}: plan both stacks together, or declare it under another address`
  }

  /** The command that does it; none where that would be refused: no transfer takes an address that another object has. */
  transferOf(from: StackAddress, to: StackAddress, remoteId: string | undefined): string | undefined {
    return this.#inTheWay(to, remoteId) === undefined ? transferCommand(from, to) : undefined
  }

  /** The other object that a ledger has under an address. */
  #inTheWay({stack, address}: StackAddress, remoteId: string | undefined): string | undefined {
    const {ledgers, otherLedgers = []} = this.#input
    const there = [...ledgers.values(), ...otherLedgers].find(it => it.stack === stack && it.entries.has(address))?.entries.get(address)
    return there?.remoteId === remoteId ? undefined : there?.remoteId
  }

  /** Why an operation has to leave its object alone. */
  #why(operation: Operation): Elsewhere | undefined {
    const {stack, remoteId, declared} = operation
    const api = this.#kind(operation.kind).api
    if (remoteId === undefined) return undefined
    const {ownership} = this.#input.observation
    const owner = ownership.elsewhere(stack, api, remoteId)
    if (owner !== undefined) {
      const from = {stack: owner.stack, address: owner.entry.address}
      const settles = ' settles whose it is'
      const way = declared === undefined ? `: ${this.#letGo(operation)}${settles}` : this.#wayOver(from, operation, remoteId, settles)
      return {...from, cause: 'owned-elsewhere', reason: `stack ${owner.stack} has it too${way}`}
    }
    const own = ownership.of(stack, api, remoteId)
    // What leaves its place is not what the declaration means any more: somebody else may mean it there.
    const leaves = this.#input.observation.pairs.get(keyOfOperation(operation))?.stray !== undefined
    if (declared === undefined || own === undefined || leaves) {
      const other = this.#declared.of(operation)
      if (other !== undefined) return this.#declaredBy(operation, other, own)
    }
    const unsure = own === undefined ? this.#maybeElsewhere(operation) : undefined
    if (unsure !== undefined) return unsure
    const unread = own === undefined && operation.origin !== 'imported' ? [...(this.#input.unreadLedgers ?? [])][0] : undefined
    if (unread !== undefined)
      return {
        stack: unread[0],
        cause: 'maybe-elsewhere',
        reason: `stack ${unread[0]} may have it, and its ledger cannot be read (${unread[1]})`,
      }
    return this.#holding(operation)
  }

  /** Of what its stack does not mean any more: a transfer would bring it there to be deleted. */
  #letGo({stack, address, movedFrom = address}: Operation): string {
    const isDeclared = this.#input.stacks.some(it => it.name === stack && it.declarations.some(d => d.address === movedFrom))
    return `svcctl forget ${shellQuote(keyOf(stack, movedFrom))}${isDeclared ? ' --anyway' : ''}`
  }

  /** What no ledger has, and one may have had or will have. */
  #maybeElsewhere(operation: Operation): Elsewhere | undefined {
    const {stack, remoteId = '', origin} = operation
    const kind = this.#kind(operation.kind)
    const made = this.#beingMade(operation, idsIn(kind, remoteId)?.slice(0, -1))
    if (made !== undefined) return made
    const stone = origin === 'imported' ? undefined : this.#wentTo(`${this.#account(stack, kind.api)} ${remoteId}`)
    if (stone === undefined) return undefined
    const {to, address} = stone
    return {
      ...to,
      cause: 'maybe-elsewhere',
      reason: `it went from ${address} to stack ${to.stack}, which this app does not have: svcctl import takes it over`,
    }
  }

  /** What an unfinished run of another stack has asked for, and this operation would be about, or would make once more. */
  #beingMade({stack, kind, remoteId, name}: Operation, parent: Ids | undefined): Elsewhere | undefined {
    const {api} = this.#kind(kind)
    const account = this.#account(stack, api)
    const isIn = (it: BeingMade) => parent === undefined || it.parent === undefined || it.parent.join('/') === parent.join('/')
    const fits = (it: BeingMade) => {
      if (it.remoteId === undefined) return (it.name === undefined || it.name === name) && isIn(it)
      // What was made a moment ago lists may not show yet: who would make it again knows it by its name alone.
      return remoteId === undefined ? it.name !== undefined && it.name === name && isIn(it) : it.remoteId === remoteId
    }
    const made = this.#input.beingMade?.find(it => it.kind === kind && this.#account(it.stack, api) === account && fits(it))
    if (made === undefined) return undefined
    return {
      stack: made.stack,
      cause: 'maybe-elsewhere',
      reason: `run ${made.run} of stack ${made.stack} has not ended and may have made it: svcctl apply --resume ${made.run}`,
    }
  }

  /** Where an object went, to a stack whose ledger is none of those that are known. */
  #wentTo(object: string): Tombstone | undefined {
    if (this.#gone === undefined) {
      const {ledgers, otherLedgers = [], unreadLedgers} = this.#input
      const all = [...ledgers.values(), ...otherLedgers]
      const known = new Set([...all.map(it => it.stack), ...(unreadLedgers?.keys() ?? [])])
      this.#gone = new Map(
        all.flatMap(({stack, gone = []}) =>
          gone.flatMap(it => {
            const api = APIS.find(name => it.remoteId.startsWith(`${name}/`))
            return api === undefined || known.has(it.to.stack) ? [] : [[`${this.#account(stack, api)} ${it.remoteId}`, it] as const]
          }),
        ),
      )
    }
    return this.#gone.get(object)
  }

  #declaredBy({stack, address, movedFrom, remoteId}: Operation, other: Declaration, own: Owner | undefined): Elsewhere {
    const by = {stack: other.stack, address: other.address}
    if (this.#isPlanned(other)) {
      const what = other.stack === stack ? other.address : other.key
      const reason = `it may be what is meant by ${what}, of which not all is known yet: ${onceKnown(what)}`
      return {...by, cause: 'declared-elsewhere', reason}
    }
    const known = !isNameless(this.#kind(other.kind), other)
    if (other.stack === stack) {
      const means = known ? 'it is declared as' : 'it may be what is meant by'
      return {...by, cause: 'declared-elsewhere', reason: `${means} ${other.address}, which this run leaves out: plan both together`}
    }
    if (!known) {
      const means = `it may be what stack ${other.stack} means by ${other.address}, whose name is computed`
      return {...by, cause: 'declared-elsewhere', reason: `${means}: plan both together, or apply that stack first`}
    }
    if (own === undefined) return {...by, cause: 'declared-elsewhere', reason: `stack ${other.stack} declares it as ${other.address}`}
    const way = this.#wayOver({stack, address: movedFrom ?? address}, other, remoteId)
    return {...by, cause: 'moved-to-stack', reason: `moved to stack ${other.stack}${way}`}
  }

  /** What is deleted takes along what is in it. */
  #holding(operation: Operation): Elsewhere | undefined {
    if (operation.remoteId === undefined || (operation.action !== 'delete' && operation.action !== 'replace')) return undefined
    this.#below ??= this.#ownedBelow()
    const account = this.#account(operation.stack, this.#kind(operation.kind).api)
    const inside = this.#below.get(`${account} ${operation.remoteId}`)
    if (inside === undefined || inside.stack === operation.stack) return undefined
    const {stack, entry} = inside
    return {
      stack,
      address: entry.address,
      cause: 'holds-elsewhere',
      reason: `stack ${stack} has ${entry.address} (${entry.remoteId}) in it`,
    }
  }

  /** By account and remote path of what holds it: one object of a stack whose own plan this run does not make. */
  #ownedBelow(): ReadonlyMap<string, Owner> {
    const {ledgers, otherLedgers = [], observation, kinds} = this.#input
    const removed = new Set(observation.orphans.map(it => keyOf(it.stack, it.object.address)))
    const isPlanned = (stack: string, entry: LedgerEntry) => {
      const key = keyOf(stack, entry.address)
      return removed.has(key) || observation.pairs.get(key)?.context === false
    }
    const below = new Map<string, Owner>()
    for (const ledger of [...ledgers.values(), ...otherLedgers]) {
      for (const entry of ledger.entries.values()) {
        const {stack} = ledger
        const kind = kinds.get(entry.kind)
        if (kind === undefined || (ledgers.has(stack) && isPlanned(stack, entry))) continue
        const account = this.#account(stack, kind.api)
        for (let id = parentRemoteId({kinds}, entry.remoteId); id !== undefined; id = parentRemoteId({kinds}, id))
          below.set(`${account} ${id}`, {stack, entry})
      }
    }
    return below
  }

  #account(stack: string, api: Api): string {
    return this.#input.accountOf?.(stack, api) ?? ''
  }

  #kind(name: string): Kind {
    return kindCalled(this.#input.kinds, name)
  }
}

interface Elsewhere {
  readonly stack: string
  /** Absent where nobody can tell. */
  readonly address?: string
  readonly cause: Cause
  readonly reason: string
}

/** What changes the object, or takes it over. */
const touches = ({action, remoteId}: Operation): boolean =>
  remoteId !== undefined && (action === 'update' || action === 'replace' || action === 'delete' || action === 'adopt')

/** What is to be made before it is known may hang on what waits for that in turn: on a name that is to be freed. */
const onceKnown = (what: string): string =>
  `apply the rest (--skip-blocked), then plan again; where that says the same, leave ${what} out of the code for one apply`

function left(operation: Operation, wants: Operation['action'], {stack, address, cause, reason}: Elsewhere): Operation {
  const {adopts: _, kept: _kept, movedFrom, ...rest} = operation
  return {
    ...rest,
    // What is declared stays in the ledger under its former address: without that a saved plan would be stale at once.
    ...(movedFrom === undefined || rest.declared === undefined ? {} : {movedFrom}),
    action: 'blocked',
    wants,
    changes: [],
    cause,
    reason,
    elsewhere: {stack, ...(address === undefined ? {} : {address})},
  }
}

type StackAddress = {readonly stack: string; readonly address: string}

/** The command that makes it so, ready to be copied. */
function transferCommand(from: StackAddress, to: StackAddress): string {
  const as = from.address === to.address ? '' : ` --as ${shellQuote(to.address)}`
  return `svcctl transfer ${shellQuote(from.address)} --from ${shellWord(from.stack)} --to ${shellWord(to.stack)}${as}`
}
