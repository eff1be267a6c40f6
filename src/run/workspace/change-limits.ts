/**
 * How many changes may run at once: what the profile says, what `--max-inflight` says, and what earlier runs learned
 * from refusals (wire facts, "Conflicts"). The contract names no limit, so that without any of these there is none.
 */

import {join} from 'node:path'
import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {smallest} from '../../base/many.ts'
import type {ChangeLimits} from '../../engine/model/change-limits.ts'
import {LearnedNumbers} from '../host/learned-numbers.ts'
import type {Workspace} from './workspace.ts'

/** `limits = "conservative"` in a profile. */
const CONSERVATIVE: ChangeLimits = {perRoot: 1, roots: 3}
/** A service may be relieved of a limit: what was learned is tried anew after this long. */
const REMEMBERED_MS = 30 * 24 * 60 * 60_000

export class LearnedLimits {
  readonly #numbers: LearnedNumbers
  readonly #workspace: Workspace

  constructor(workspace: Workspace) {
    this.#workspace = workspace
    this.#numbers = new LearnedNumbers(join(workspace.host.environment.stateDir, 'limits.json'))
  }

  /** Changes at once in one root object, at the strictest of the services of the run. */
  get perRoot(): number | undefined {
    const {connections, host} = this.#workspace
    const known = connections.flatMap(({address}) => {
      const learnedAt = this.#numbers.get(`${address} learned at`) ?? 0
      const places = this.#numbers.get(`${address} per root`)
      return places !== undefined && host.clock.now() - learnedAt < REMEMBERED_MS ? [places] : []
    })
    return known.length === 0 ? undefined : smallest(known)
  }

  /** What this run learned, for people. */
  news: string | undefined

  readonly learn = (api: Api, places: number): void => {
    this.news = `the ${api} API takes ${places} ${places === 1 ? 'change' : 'changes'} at a time in a ${rootsOf(api)}: the next runs go by that`
    for (const {address} of this.#workspace.connections.filter(it => it.api === api)) {
      this.#numbers.set(`${address} per root`, places)
      this.#numbers.set(`${address} learned at`, this.#workspace.host.clock.now())
    }
  }

  /** @returns whether it was written */
  save = (): boolean => this.#numbers.save()
}

/** What stands in nothing else and can be made: `subscription`. */
const rootsOf = (api: Api): string =>
  [...kinds.values()]
    .flatMap(it => (it.api === api && it.parent === undefined && it.verbs.create !== undefined ? [it.noun] : []))
    .join(' or ')

export function changeLimits(workspace: Workspace, learned: LearnedLimits, maxInflight?: number): ChangeLimits {
  const {perRoot} = learned
  return {
    ...(perRoot === undefined ? {} : {perRoot}),
    ...(workspace.settings?.limits === 'conservative' ? CONSERVATIVE : {}),
    ...(maxInflight === undefined ? {} : {inFlight: maxInflight}),
  }
}
