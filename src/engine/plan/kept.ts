/**
 * What a stack says of an object that nobody declares any more. The more careful one holds: a wish that was written down
 * counts before it was applied, and one that was applied counts until it is taken back.
 */
import type {Declaration} from '../model/declaration.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {type Key, keyOf} from '../model/value.ts'
import type {Orphan} from '../observe/observation.ts'
import type {PlanInput} from './plan-input.ts'

type Input = Pick<PlanInput, 'stacks' | 'selected' | 'destroy'>

export class LastWishes {
  readonly #input: Input
  /** What is destroyed was declared, maybe otherwise than it was applied last. */
  readonly #declared: ReadonlyMap<Key, Declaration>

  constructor(input: Input) {
    this.#input = input
    const {stacks, selected, destroy} = input
    const own = destroy ? stacks.filter(it => selected.has(it.name)) : []
    this.#declared = new Map(own.flatMap(it => it.declarations.map(it => [it.key, it] as const)))
  }

  declared({stack, address}: Pick<Orphan, 'stack' | 'address'>): Declaration | undefined {
    return this.#declared.get(keyOf(stack, address))
  }

  preventsDestroy(orphan: Orphan): boolean {
    return this.#said(orphan).some(it => it.preventDestroy)
  }

  /** Why it stays as it is, and is only forgotten. */
  keeps(orphan: Orphan): 'removed-block' | 'retain' | undefined {
    const {
      stack,
      object: {address},
    } = orphan
    const removed = this.#input.stacks
      .find(it => it.name === stack)
      ?.removed.find(it => it.from === address || address.startsWith(`${it.from}[`))
    if (removed?.destroy === false) return 'removed-block'
    return this.#said(orphan).some(it => it.removal === 'retain') ? 'retain' : undefined
  }

  #said(orphan: Orphan): readonly Pick<LedgerEntry, 'removal' | 'preventDestroy'>[] {
    const policy = this.declared(orphan)?.policy
    return [orphan.entry, policy].filter(it => it !== undefined)
  }
}
