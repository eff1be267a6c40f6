/**
 * The fields in which a declaration and a live object differ. Only what is declared is compared; absent, `null`, `[]`,
 * `false` and `0` are five different things; spelling, order and precision are none (`meaning.ts`). One thing is settled
 * by what servers do: a field that is to be cleared (`null`, an empty text, list or object: wire facts, "Update bodies") is
 * clear when it reads as null or is not there at all.
 *
 * A change stands at the deepest place that says what happened: `/alerts/0/value` when a threshold differs, `/alerts`
 * when an alert is there or gone, `/backup` when there is no backup at all.
 */
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {formatPointer, parsePointer} from '../../base/pointer.ts'
import {DECISIONS, type Decided, decidedBy, type FieldDecision, NOT_IN_PLACE, WHO_MOVED} from './decision.ts'
import {type EffectiveRule, rootRule} from './field-rules.ts'
import type {Kind} from './kind.ts'
import {knownItems} from './known-items.ts'
import {byKey, ordered, pairsUp} from './list-pairing.ts'
import {legible, sameLeaf} from './meaning.ts'
import type {Change} from './plan.ts'
import {openLeaves, wireValue} from './resolve.ts'
import {type RecordedSecrets, secretsBelow, seenAs, shownAs} from './shown-field.ts'
import {Deferred, type Key, Secret, type Value, type ValueObject} from './value.ts'

/** What the ledger says of a secret that the API does not show. `unknown`: there is no ledger, or nothing in it. */
export type SecretState = (pointer: string, secret: Secret) => 'same' | 'changed' | 'unknown'

/** The same of every object. */
export type SecretStateOf = (key: Key, ...field: Parameters<SecretState>) => ReturnType<SecretState>

export interface DiffInput {
  readonly kind: Kind
  readonly declared: ValueObject
  /** Normalized. */
  readonly live: JsonObject
  /** The last-applied values, where a ledger has them. */
  readonly applied?: JsonObject
  /** Where the ledger knows of secrets: what is seen there is not shown, whatever is declared by now. */
  readonly recorded?: RecordedSecrets
  readonly secretState: SecretState
  /** JSON pointers that are not compared, nor anything below; `*` is any list slot, `''` is the whole object. */
  readonly ignore: readonly string[]
  /** Takes known secrets out of what a server shows, in whatever field it repeats them. */
  readonly hides?: Hides | undefined
  /** Hears of every field how it was decided. Without it nothing is said of those that do not differ. */
  readonly decides?: ((decision: FieldDecision) => void) | undefined
}

export type Hides = (shown: Json) => Json

export interface FieldDiff {
  readonly changes: readonly Change[]
  /** Paths of those changes that no update can make. */
  readonly immutable: readonly string[]
  /** Declared fields the row does not show at all: a sparse row, where the object's own GET may show more. */
  readonly missingInLive: readonly string[]
  /** Fields nobody can see that were taken for equal, for want of a ledger. */
  readonly assumed: readonly string[]
}

type Moved = NonNullable<Change['moved']>

/** A place in the declaration, from the root down. Its pointer is written only where something is said of it. */
interface FieldPlace {
  readonly above?: FieldPlace
  readonly segment: string
  readonly rule: EffectiveRule
}

interface Difference {
  readonly place: FieldPlace
  readonly declared: Value
  readonly live: Json | undefined
  readonly applied: Json | undefined
  /** Who moved it, where that is known already. */
  readonly moved?: Moved
}

/** One walk over a declaration. What is found goes to the callbacks, so that lists can be tried on without a trace. */
interface Walk {
  readonly kind: Kind
  readonly ignore: readonly (readonly string[])[]
  /** The ledger has the object: a field it has no value of was never applied. */
  readonly owned: boolean
  readonly secretState: SecretState
  readonly hides: Hides
  readonly recorded: RecordedSecrets
  differs(difference: Difference): void
  missing(path: string): void
  assumes(path: string): void
  /** A field is settled and does not differ. Absent where nobody asks. */
  decides?(place: FieldPlace, decided: Decided, values: Values, rule: string): void
}

/** What is compared at a place; nothing is declared of what only a server shows. */
interface Values {
  readonly declared?: Value
  readonly live: Json | undefined
  readonly applied: Json | undefined
}

export function diffFields(input: DiffInput): FieldDiff {
  const {kind, declared, live, applied, recorded = [], secretState, ignore, hides = it => it, decides} = input
  const changes: Change[] = []
  const immutable: string[] = []
  const missingInLive: string[] = []
  const assumed: string[] = []
  const walk: Walk = {
    kind,
    ignore: ignore.map(parsePointer),
    owned: applied !== undefined,
    secretState,
    hides,
    recorded,
    differs: difference => {
      const change = changeOf(walk, difference, applied !== undefined)
      changes.push(change)
      if (difference.place.rule.immutable) immutable.push(pathOf(difference.place))
      decides?.(decisionOf(walk, difference.place, decidedBy(change), difference, whyDiffers(change, difference)))
    },
    missing: path => missingInLive.push(path),
    assumes: path => assumed.push(path),
    ...(decides && {decides: (place, decided, values, rule) => decides(decisionOf(walk, place, decided, values, rule))}),
  }
  compare(walk, {segment: '', rule: rootRule(kind)}, declared, live, applied)
  return {changes, immutable, missingInLive, assumed}
}

function compare(walk: Walk, place: FieldPlace, declared: Value, live: Json | undefined, applied: Json | undefined): void {
  const {rule} = place
  const difference = {place, declared, live, applied}
  if (walk.ignore.length > 0 && isIgnored(walk.ignore, place))
    walk.decides?.(place, 'ignored', difference, 'lifecycle.ignore_changes names it')
  else if (rule.createOnly) walk.decides?.(place, 'create-only', difference, 'sent on create only, and never compared')
  else if (rule.writeOnly) compareUnseen(walk, difference)
  else if (live === undefined) compareAbsent(walk, difference)
  else if (live === null && isClear(declared)) walk.decides?.(place, declared === null ? 'equal' : 'normalised', difference, NOTHING)
  else if (declared instanceof Deferred) walk.differs({...difference, moved: 'unknown'})
  else if (declared instanceof Secret) compareSecret(walk, difference, declared, live)
  else if (Array.isArray(declared) && Array.isArray(live)) {
    compareLists(walk, difference, declared as readonly Value[], live as readonly Json[])
  } else if (isJsonObject(declared) && isJsonObject(live)) {
    const fields = Object.keys(declared).sort()
    for (const field of fields) {
      compare(walk, below(place, field), declared[field] ?? null, own(live, field), own(applied, field))
    }
    if (walk.decides === undefined) return
    if (fields.length === 0 && place.above !== undefined) walk.decides(place, 'equal', difference, 'no field of it is declared')
    for (const field of Object.keys(live).sort()) {
      if (Object.hasOwn(declared, field)) continue
      const values = {live: live[field], applied: own(applied, field)}
      // What a server calls its fields may repeat a secret too, and a pointer spells it in a way of its own.
      walk.decides({...below(place, field), segment: String(walk.hides(field))}, 'undeclared', values, DECISIONS.undeclared)
    }
  } else if (!(rule.equal ?? sameLeaf)(declared as Json, live)) walk.differs(difference)
  else if (declared === live) walk.decides?.(place, 'equal', difference, 'the same value')
  else walk.decides?.(place, 'normalised', difference, rule.equal ? 'the API takes both spellings for the same' : 'the same number')
}

const NOTHING = 'declared as nothing, and nothing is there'

/** Of what is declared so, nothing is left to read back. */
const isClear = (declared: Value): boolean =>
  declared === null ||
  declared === '' ||
  (!(declared instanceof Secret) && !(declared instanceof Deferred) && typeof declared === 'object' && Object.keys(declared).length === 0)

const below = (above: FieldPlace, field: string): FieldPlace => ({above, segment: field, rule: above.rule.below(field)})

const slot = (above: FieldPlace, index: number): FieldPlace => ({above, segment: String(index), rule: above.rule.below('*')})

const segmentsOf = ({above, segment}: FieldPlace): readonly string[] => (above === undefined ? [] : [...segmentsOf(above), segment])

const pathOf = (place: FieldPlace): string => formatPointer(segmentsOf(place))

const own = (value: Json | undefined, field: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined

function isIgnored(ignore: Walk['ignore'], place: FieldPlace): boolean {
  const [concrete, general] = [segmentsOf(place), parsePointer(place.rule.pattern)]
  const isAt = (segment: string, depth: number) => segment === concrete[depth] || segment === general[depth]
  return ignore.some(pointer => pointer.length <= concrete.length && pointer.every(isAt))
}

/** Where nobody gave a part of it, all of it is not given. */
function asSecret(declared: Value): Secret {
  if (declared instanceof Secret) return declared
  const given = openLeaves(declared).every(({leaf}) => leaf instanceof Deferred || leaf.value !== undefined)
  return new Secret(given ? wireValue(declared) : undefined)
}

/** A field no answer ever shows: the ledger alone can tell. */
function compareUnseen(walk: Walk, difference: Difference): void {
  const {place, declared} = difference
  if (openLeaves(declared).some(({leaf}) => leaf instanceof Deferred)) {
    walk.differs({...difference, moved: 'unknown'})
    return
  }
  const state = walk.secretState(pathOf(place), asSecret(declared))
  if (state === 'changed') walk.differs({...difference, moved: 'in git'})
  if (state === 'unknown') walk.assumes(pathOf(place))
  if (state !== 'changed') walk.decides?.(place, 'write-only', difference, state === 'same' ? UNSEEN_SAME : UNSEEN)
}

const UNSEEN_SAME = 'no answer shows it; the ledger knows that this was sent'
const UNSEEN = 'no answer shows it; taken for equal, for want of a ledger that knows'

/**
 * A declared field this answer does not show. Where its absence may mean nothing, the ledger is asked; and where a
 * change could not be made, or could only be made by a replacement, a field nobody can see is no ground for one, as long
 * as nobody knows whether it was ever applied.
 */
function compareAbsent(walk: Walk, difference: Difference): void {
  const {place, declared, applied} = difference
  const {rule} = place
  // What never changes is not worth a look for the few answers that may show it, as long as a ledger knows of it.
  const isWorthALook = !(rule.mayBeAbsent && rule.immutable)
  if (isWorthALook) walk.missing(pathOf(place))
  const hopeless = rule.immutable || walk.kind.verbs.read === undefined
  const mute = rule.mayBeAbsent || hopeless
  if (declared instanceof Deferred) compareUnseen(walk, difference)
  else if (declared instanceof Secret || rule.secret) {
    if (hopeless) compareUnseen(walk, difference)
    else compareUnshownSecret(walk, difference)
  } else if (isClear(declared) && (applied === undefined || (rule.known && !mute))) walk.decides?.(place, 'normalised', difference, NOTHING)
  else if (!mute && rule.known) walk.differs(difference)
  else if (applied !== undefined) {
    if (!holds(walk, place, declared, applied)) walk.differs({...difference, moved: 'in git'})
    else walk.decides?.(place, 'unread', difference, 'no answer shows it; the ledger has it as declared')
  } else if (mute && (!walk.owned || rule.implied)) {
    walk.assumes(pathOf(place))
    walk.decides?.(place, 'unread', difference, 'no answer shows it; taken for equal, for want of a ledger that knows')
  } else {
    if (!isWorthALook) walk.missing(pathOf(place))
    walk.differs(difference)
  }
}

/**
 * A secret that the API could show and does not: it is not there, unless such fields need not come back and the ledger
 * says that it was sent. Only what no answer ever shows may be taken for equal.
 */
function compareUnshownSecret(walk: Walk, difference: Difference): void {
  const {place, declared} = difference
  const {rule} = place
  const secret = asSecret(declared)
  const state = walk.secretState(pathOf(place), secret)
  const promised = rule.known && !rule.mayBeAbsent && secret.version === undefined
  if (state === 'same' && !promised) walk.decides?.(place, 'unread', difference, UNSEEN_SAME)
  else walk.differs({...difference, moved: state === 'same' ? 'outside' : state === 'changed' ? 'in git' : 'unknown'})
}

/** A secret the API does show. One with a version is known by that alone. */
function compareSecret(walk: Walk, difference: Difference, secret: Secret, live: Json): void {
  const {place} = difference
  const state = walk.secretState(pathOf(place), secret)
  if (secret.version !== undefined && state !== 'unknown') {
    if (state === 'changed') walk.differs({...difference, moved: 'in git'})
    else walk.decides?.(place, 'equal', difference, 'the version that was sent last')
  } else if (secret.value === undefined) {
    walk.assumes(pathOf(place))
    walk.decides?.(place, 'unread', difference, 'nobody gave its value; taken for equal')
  } else if (!holds(walk, place, secret.value, live)) {
    walk.differs({...difference, moved: state === 'same' ? 'outside' : state === 'changed' ? 'in git' : 'unknown'})
  } else walk.decides?.(place, 'equal', difference, 'the same value')
}

function compareLists(walk: Walk, difference: Difference, declared: readonly Value[], live: readonly Json[]): void {
  const {place, applied} = difference
  const {rule} = place
  const key = rule.keyedBy ?? ''
  const wanted = key === '' ? undefined : byKey(declared, key)
  const shownItems = key === '' ? undefined : byKey(live, key)
  if (wanted === undefined || shownItems === undefined) {
    compareBags(walk, difference, declared, live)
    return
  }
  const before = (Array.isArray(applied) && byKey(applied as readonly Json[], key)) || new Map<string, Json>()
  const gone = [...shownItems.keys()].some(text => !wanted.has(text) && (!rule.serverAdds || before.has(text)))
  const lacking = [...wanted.keys()].some(text => !shownItems.has(text))
  // In a list the server adds to, only the ledger's items can be gone, and only from the declaration.
  if (gone || lacking) walk.differs(gone && rule.serverAdds ? {...difference, moved: 'in git'} : difference)
  else {
    if (shownItems.size > wanted.size) walk.decides?.(place, 'server-added', difference, ADDED)
    else if (wanted.size === 0) walk.decides?.(place, 'equal', difference, 'both are empty')
    for (const [index, [text, item]] of [...wanted].entries()) {
      compare(walk, slot(place, index), item, shownItems.get(text), before.get(text))
    }
  }
}

const ADDED = 'the server adds items of its own to this list'

/** Items without a key: each must find one of its own that agrees. */
function compareBags(walk: Walk, difference: Difference, declared: readonly Value[], live: readonly Json[]): void {
  const {place} = difference
  const {rule} = place
  const fits = rule.serverAdds ? declared.length <= live.length : declared.length === live.length
  const pairUp = (sparse: boolean) =>
    fits && pairsUp(declared.length, live.length, (i, j) => holds(walk, slot(place, i), declared[i] ?? null, live[j], sparse))
  if (pairUp(false)) {
    if (walk.decides === undefined) return
    if (declared.length < live.length) walk.decides(place, 'server-added', difference, ADDED)
    else if (canonicalJson(shownAs(rule, declared)) === canonicalJson(live)) walk.decides(place, 'equal', difference, 'the same items')
    else walk.decides(place, 'normalised', difference, 'the same items; no order of a list means anything')
  } else if (pairUp(true)) {
    // They agree in all they show: a sparse row, or fields that never come back.
    compareAbsent(walk, difference)
  } else walk.differs(difference)
}

/** Whether a value has everything that is declared. `sparse`: what it does not show is forgiven. */
function holds({kind, ignore}: Walk, place: FieldPlace, declared: Value, value: Json | undefined, sparse = false): boolean {
  let held = true
  const fail = () => {
    held = false
  }
  const trial: Walk = {
    kind,
    ignore,
    owned: false,
    secretState: () => 'same',
    hides: it => it,
    recorded: [],
    differs: difference => {
      if (!sparse || difference.live !== undefined) fail()
    },
    missing: () => {},
    assumes: () => {},
  }
  compare(trial, place, declared, value, undefined)
  return held
}

/** What is live, or was applied, at a place, as anyone may see it. */
const seenAt = ({hides, recorded}: Walk, {rule}: FieldPlace, declared: Value, value: Json): Json =>
  hides(seenAs(rule, declared, value, recorded.length === 0 ? [] : parsePointer(rule.pattern).reduce(secretsBelow, recorded)))

function changeOf(walk: Walk, difference: Difference, threeWay: boolean): Change {
  const {place, declared, live} = difference
  const {rule} = place
  const before = rule.writeOnly
    ? {secret: true}
    : live === undefined
      ? undefined
      : seenAt(walk, place, declared, legible(ordered(onlyDeclared(rule, declared, live))))
  const after = shownAs(rule, declared)
  const risk = rule.risk?.(before, after)
  return {
    path: pathOf(place),
    ...(before === undefined ? {} : {before}),
    after,
    ...(risk === undefined ? {} : {risk}),
    moved: threeWay ? (difference.moved ?? whoMoved(walk, difference)) : 'unknown',
  }
}

function decisionOf(walk: Walk, place: FieldPlace, decided: Decided, {declared, live, applied}: Values, rule: string): FieldDecision {
  const seen = (value: Json) => seenAt(walk, place, declared ?? null, legible(value))
  return {
    path: pathOf(place),
    ...(declared === undefined ? {} : {declared: shownAs(place.rule, declared)}),
    ...(applied === undefined ? {} : {ledger: seen(applied)}),
    ...(live === undefined ? {} : {live: seen(live)}),
    decided,
    rule,
  }
}

function whyDiffers({moved = 'unknown'}: Change, {place: {rule}, declared}: Difference): string {
  const who = declared instanceof Deferred ? 'its value is known when what it reads was applied' : WHO_MOVED[moved]
  return rule.immutable ? `${who}; ${NOT_IN_PLACE}` : who
}

function whoMoved(walk: Walk, {place, declared, live, applied}: Difference): Moved {
  if (applied === undefined) return 'in git'
  if (holds(walk, place, declared, applied)) return 'outside'
  return live !== undefined && holds(walk, place, applied, live) ? 'in git' : 'both'
}

/** Of live list items only the fields that declared ones have: the rest is the server's, and may change by itself. */
function onlyDeclared(rule: EffectiveRule, declared: Value, live: Json): Json {
  if (!Array.isArray(declared) || !Array.isArray(live)) return live
  const items = (declared as readonly Value[]).filter(
    item => isJsonObject(item) && !(item instanceof Secret) && !(item instanceof Deferred),
  )
  const fields = new Set(items.flatMap(item => Object.keys(item as ValueObject)))
  if (fields.size === 0) return knownItems(rule, live)
  return (live as readonly Json[]).map(item =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).filter(([field]) => fields.has(field))) : item,
  )
}
