/** What a person meets when holds and freezes stand against something, or cannot be read. */
import {AppError, EXIT} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import {type Agreed, type Freeze, type FreezeInForce, frozenWords, type Hold} from '../engine/model/controls.ts'
import {keyOf} from '../engine/model/value.ts'

/** Nobody can tell what is held or frozen: nothing is sent. */
export class ControlsError extends AppError {
  constructor(doing: 'read' | 'changed', place: string, reason: string, cause?: unknown) {
    super(`the controls at ${place} (holds and freezes) cannot be ${doing}: ${reason.replace(/\.$/, '')}`, {
      code: 'E_CONTROLS',
      suggestions: [
        'Make sure that this place can be reached and that its content is what svcctl wrote, then run the command again.',
        'Where it is damaged for good: move it away, and say again what is held or frozen (svcctl hold, svcctl freeze).',
      ],
      cause,
    })
  }
}

/** Others change the same document, and do not come to an end. Nothing was written. */
export class ControlsLockedError extends AppError {
  constructor(place: string, holder: string) {
    super(`the controls at ${place} were not changed: they are being changed by ${holder}`, {
      code: 'E_CONTROLS_LOCKED',
      exit: EXIT.locked,
      suggestions: ['Run the command again when that has ended.'],
    })
  }
}

/** Somebody froze what this is about. */
export class FrozenError extends AppError {
  readonly #freezes: readonly FreezeInForce[]

  /** @param former - the ledger beside which the freezes of stacks are kept, where the code names another one by now */
  constructor(freezes: readonly FreezeInForce[], former?: string) {
    const [first, ...more] = liftCommands(freezes, former)
    const strict = freezes.find(it => it.strict)
    super(`${freezes.map(frozenWords).join('; ')}: nothing new is sent, and no ledger is changed`, {
      code: 'E_FROZEN',
      exit: EXIT.refused,
      suggestions: [
        `Wait until ${latest(freezes)}, or ask ${people(freezes)}, who can lift it${first}`,
        ...more.map(it => `And that of the account${it}`),
        ...(strict === undefined ? [] : [`--break-glass does not pass ${strict.id}, which is strict.`]),
      ],
    })
    this.#freezes = freezes
  }

  keptAt(former: string): FrozenError {
    return new FrozenError(this.#freezes, former)
  }
}

/** As `FrozenError`, of controls that could not be read while something was under way: what they say by now nobody knows. */
export class ControlsLostError extends AppError {
  constructor(cause: AppError, misses: number) {
    super(`the controls (holds and freezes) could not be read ${misses} times in a row, which counts as frozen: ${cause.message}`, {
      code: 'E_CONTROLS_LOST',
      exit: EXIT.refused,
      suggestions: ['Make sure that the place named above can be reached, then go on with: svcctl apply --resume'],
      cause,
    })
  }
}

/** Somebody holds the object, or one that would go with it. */
export class HeldError extends AppError {
  /** @param keeper - the held object, where it is another one, which keeps the address it has in the ledger */
  constructor({by, until, reason, stack, address}: Agreed & Partial<Hold>, keeper?: string) {
    const what = keeper === undefined ? 'it is' : `${keeper}, which has that address in the ledger, is`
    super(`${what} held by ${by} until ${until}, and was left alone: ${reason}`, {
      code: 'E_HELD',
      exit: EXIT.refused,
      suggestions: [
        stack === undefined || address === undefined
          ? `Wait until then, or ask ${by}, who can lift it (svcctl hold lift) under the address that it has in: svcctl hold list`
          : `Wait until then, or ask ${by}, who can lift it: svcctl hold lift ${shellWord(keyOf(stack, address))}`,
      ],
    })
  }
}

/** Objects that are to leave a ledger are held. Nothing was changed. */
export class HeldObjectsError extends AppError {
  readonly #held: readonly HeldObject[]

  /** @param former - the ledger beside which they are held, where the code names another one by now */
  constructor(held: readonly HeldObject[], former?: {readonly stack: string; readonly place: string}) {
    super(held.map(({address, hold: {by, until, reason}}) => `${address} is held by ${by} until ${until}: ${reason}`).join('; '), {
      code: 'E_HELD_OBJECTS',
      exit: EXIT.refused,
      problems: held.map(({address, hold}) => ({address, message: `is held by ${hold.by} until ${hold.until}: ${hold.reason}`})),
      suggestions: [
        `Wait until then, or ask ${people(held.map(it => it.hold))}, who can lift it${whereKept(former?.stack, former?.place)}: svcctl hold lift ${held.map(it => shellWord(it.address)).join(' ')}`,
      ],
    })
    this.#held = held
  }

  keptAt(stack: string, place: string): HeldObjectsError {
    return new HeldObjectsError(this.#held, {stack, place})
  }
}

interface HeldObject {
  readonly address: string
  readonly hold: Agreed
}

/** Commands look beside the ledger that the code names. */
const whereKept = (stack: string | undefined, former: string | undefined): string =>
  stack === undefined || former === undefined ? '' : ` with ${former} as the backend of stack ${stack} in its code`

/** One command for all of the stacks, and one for each account: none of them alone would be enough. */
function liftCommands(freezes: readonly FreezeInForce[], former: string | undefined): string[] {
  const ofStacks = freezes.filter(it => it.stack !== undefined)
  const ofAccounts = freezes.filter(it => it.stack === undefined)
  const lift = (these: readonly Freeze[]) => `: svcctl freeze lift ${these.map(it => it.id).join(' ')}`
  return [
    ...(ofStacks.length === 0 ? [] : [`${whereKept(ofStacks[0]?.stack, former)}${lift(ofStacks)}`]),
    ...[...new Set(ofAccounts.map(it => it.profile))].map(
      profile =>
        `${lift(ofAccounts.filter(it => it.profile === profile))} --account${profile === undefined ? '' : ` --profile ${shellWord(profile)}`}`,
    ),
  ]
}

const people = (said: readonly Agreed[]): string => [...new Set(said.map(it => it.by))].join(' and ')

const latest = (freezes: readonly Freeze[]): string =>
  freezes
    .map(it => it.until)
    .sort()
    .at(-1) ?? ''
