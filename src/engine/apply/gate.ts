/**
 * Places in groups: how many changes may run at once in an account, in a subscription, in all. Who waits for a place
 * holds nothing meanwhile. A free place goes to who has most behind it, so that long paths begin early. Where only one
 * may be in a root object at a time, all its changes follow each other in any order, and what is begun there is brought
 * to its end first: small changes left for last would all come at once and wait for the budget.
 *
 * A place is taken and given back by `within` alone, whatever happens inside.
 */
import type {Api} from '../../base/apis.ts'
import {onAbort} from '../../base/on-abort.ts'
import {Crowd, type Refused} from './crowd.ts'

export interface Group {
  readonly name: string
  readonly places: number
  /** Where places are counted by something: everybody with the same one shares a place (subscriptions with a change in them). */
  readonly shared?: string
  /** Of a root object's own group: the API it is of, whose other roots are likely to have as many places. */
  readonly root?: Api
  /** Everything that changes at one API: how many that may be is found out carefully. */
  readonly account?: true
  /** Every turn has a place in it. */
  readonly all?: true
}

export interface Turn {
  /** Whose turn it is: named to those whom it keeps out for good. */
  readonly key: string
  readonly groups: readonly Group[]
  /** The weight of the longest path that waits for this. */
  readonly behind: number
}

export interface Turnstile {
  /** An answer came; told once. */
  answered(accepted: boolean): void
  /** The API refused, since too much goes on in this group of the place. */
  refused(group: Group, now: number): Refused
  /** What was begun goes on after the turn is over, and the place is taken until it has ended; `false`: nobody knows when. */
  keepUntil(over: Promise<boolean>): void
}

export type Passage<T> =
  | {readonly passed: true; readonly value: T}
  /** Told to stop before a place was free, or (`by`) kept out by something that nobody knows the end of. */
  | {readonly passed: false; readonly by?: string}

interface Waiter extends Turn {
  readonly order: number
  /** Equal for those that the same groups keep waiting. */
  readonly place: number
  /** A lower one goes first. */
  rank: number
  readonly admit: (by?: {readonly key: string}) => void
}

export class Gate {
  /** Per group, how many are in it by what they share; who shares nothing counts alone. */
  readonly #taken = new Map<string, Map<string, number>>()
  readonly #crowds = new Map<string, Crowd>()
  /** Groups of root objects that refused, by API. */
  readonly #narrowRoots = new Map<Api, Set<string>>()
  /** Places that are not coming back, by group: whose they are. */
  readonly #lost = new Map<string, string[]>()
  readonly #accounts = new Map<string, Group>()
  #all: Group | undefined
  /** In turn, as long as it is not said otherwise: who goes first hangs on what refusals have taught. */
  #waiting: Waiter[] = []
  #isInTurn = true
  /** What turns wait for, numbered. */
  readonly #placesBySaying = new Map<string, number>()
  #order = 0

  /** Waits for a place in all groups, works there, and gives it back. @throws what `work` throws */
  async within<T>(turn: Turn, signal: AbortSignal | undefined, work: (place: Turnstile) => Promise<T>): Promise<Passage<T>> {
    const entered = await this.#enter(turn, signal)
    if (!entered.in) return {passed: false, ...(entered.by === undefined ? {} : {by: entered.by})}
    let kept: Promise<boolean> | undefined
    let outcome: 'accepted' | 'not' | undefined
    const answered = (accepted: boolean) => {
      if (outcome !== undefined) return
      outcome = accepted ? 'accepted' : 'not'
      for (const {name} of turn.groups) {
        const crowd = this.#crowd(name)
        crowd.unanswered -= 1
        if (accepted) crowd.accepted()
      }
      this.#admit()
    }
    const runsNoMore = () => {
      outcome = 'not'
      for (const {name} of turn.groups) this.#crowd(name).running -= 1
    }
    const leave = () => {
      if (outcome === 'accepted') runsNoMore()
      this.#leave(turn.groups)
    }
    try {
      return {
        passed: true,
        value: await work({
          answered,
          refused: (group, now) => {
            // Taken on, and refused by its task: it never ran.
            if (outcome === 'accepted') runsNoMore()
            return this.#refused(group, now)
          },
          keepUntil: over => {
            kept = over
          },
        }),
      }
    } finally {
      answered(false)
      if (kept === undefined) leave()
      else
        void kept.then(
          isOver => (isOver ? leave() : this.#lose(turn)),
          () => this.#lose(turn),
        )
    }
  }

  /** A group that was closed for a pause lets the next one in. */
  open({name}: Group): void {
    this.#crowd(name).isClosed = false
    this.#admit()
  }

  /** The API took a change on and brought it to an end. @param well - there may be room for one more */
  ended(groups: readonly Group[], well: boolean, now: number): void {
    for (const group of groups) {
      const crowd = this.#crowds.get(group.name)
      crowd?.gotThrough()
      if (well && group.account) crowd?.ended(now)
    }
  }

  /** What a second root object showed to be the rule for all of them; one alone may be busy with somebody else's change. */
  placesInRoots(api: Api): number | undefined {
    const roots = this.#narrowRoots.get(api)
    return [...(roots ?? [])].map(it => this.#crowd(it).places).sort((a, b) => a - b)[1]
  }

  async #enter(turn: Turn, signal: AbortSignal | undefined): Promise<{readonly in: boolean; readonly by?: string}> {
    if (signal?.aborted) return {in: false}
    for (const group of turn.groups) {
      if (group.account) this.#accounts.set(group.name, group)
      if (group.all) this.#all = group
    }
    if (this.#fits(turn.groups)) {
      this.#take(turn.groups)
      return {in: true}
    }
    return new Promise(resolve => {
      let heard = () => {}
      const waiter: Waiter = {
        ...turn,
        order: this.#order++,
        place: this.#placeOf(turn),
        rank: this.#rankOf(turn),
        admit: keptOut => {
          heard()
          resolve(keptOut === undefined ? {in: true} : {in: false, by: keptOut.key})
        },
      }
      this.#line(waiter)
      if (signal)
        heard = onAbort(signal, () => {
          this.#waiting = this.#waiting.filter(it => it !== waiter)
          resolve({in: false})
        })
      if (this.#lost.size > 0) this.#admit()
    })
  }

  /** There is room for as many as run in the group, and at least for one. */
  #refused({name, root}: Group, now: number): Refused {
    const refused = this.#crowd(name).refused(this.#used(name) - 1, now)
    if (root) this.#narrowRoots.set(root, (this.#narrowRoots.get(root) ?? new Set()).add(name))
    this.#isInTurn = false
    return refused
  }

  #crowd(name: string): Crowd {
    const crowd = this.#crowds.get(name) ?? new Crowd()
    this.#crowds.set(name, crowd)
    return crowd
  }

  #used(name: string): number {
    const inside = this.#taken.get(name)
    if (inside === undefined) return 0
    const alone = inside.get('') ?? 0
    return alone + inside.size - (alone > 0 ? 1 : 0)
  }

  #fits(groups: readonly Group[]): boolean {
    return groups.every(group => {
      const crowd = this.#crowds.get(group.name)
      if (crowd?.isClosed || (group.account && crowd && crowd.unanswered >= crowd.guesses)) return false
      if (group.shared !== undefined && this.#taken.get(group.name)?.has(group.shared)) return true
      return this.#used(group.name) < this.#places(group)
    })
  }

  #places({name, places, root}: Group): number {
    const learned = this.#crowds.get(name)?.places ?? Number.POSITIVE_INFINITY
    const usual = (learned === Number.POSITIVE_INFINITY && root && this.placesInRoots(root)) || Number.POSITIVE_INFINITY
    return Math.min(places, learned, usual)
  }

  /** Who goes first: those of one-by-one roots do not compete with the others. */
  #rankOf({groups, behind}: Turn): number {
    return groups.some(it => it.root && this.#places(it) === 1) ? behind : -behind
  }

  #placeOf({groups}: Turn): number {
    const said = groups.map(({name, places, shared = ''}) => `${name} ${places} ${shared}`).join('\n')
    const known = this.#placesBySaying.get(said) ?? this.#placesBySaying.size
    this.#placesBySaying.set(said, known)
    return known
  }

  /** Puts somebody into the line: thousands may stand in it, and are not sorted again for each who comes. */
  #line(waiter: Waiter): void {
    let [from, to] = [0, this.#isInTurn ? this.#waiting.length : 0]
    while (from < to) {
      const middle = (from + to) >> 1
      const other = this.#waiting[middle]
      if (other !== undefined && isBefore(other, waiter)) from = middle + 1
      else to = middle
    }
    this.#waiting.splice(from, 0, waiter)
  }

  #sort(): void {
    if (this.#isInTurn) return
    for (const it of this.#waiting) it.rank = this.#rankOf(it)
    this.#waiting.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#isInTurn = true
  }

  #take(groups: readonly Group[]): void {
    for (const {name, shared = ''} of groups) {
      const inside = this.#taken.get(name) ?? new Map<string, number>()
      this.#taken.set(name, inside)
      inside.set(shared, (inside.get(shared) ?? 0) + 1)
      this.#crowd(name).unanswered += 1
    }
  }

  #leave(groups: readonly Group[]): void {
    for (const {name, shared = ''} of groups) {
      const inside = this.#taken.get(name)
      const left = (inside?.get(shared) ?? 1) - 1
      if (left > 0) inside?.set(shared, left)
      else inside?.delete(shared)
    }
    this.#admit()
  }

  #lose({groups, key}: Turn): void {
    for (const {name} of groups) this.#lost.set(name, [...(this.#lost.get(name) ?? []), key])
    this.#admit()
  }

  /** Who keeps somebody out whatever else happens. */
  #keptOutBy({groups}: Waiter): string | undefined {
    for (const group of groups) {
      const lost = this.#lost.get(group.name)
      const sharing = group.shared !== undefined && this.#taken.get(group.name)?.has(group.shared)
      if (lost && !sharing && lost.length >= this.#places(group)) return lost[0]
    }
    return undefined
  }

  #admit(): void {
    if (this.#waiting.length === 0 || (this.#lost.size === 0 && !this.#hasRoom())) return
    this.#sort()
    // Room only shrinks from here on: who does not fit keeps out all that wait for the same.
    const full = new Set<number>()
    for (let at = 0; full.size < this.#placesBySaying.size; ) {
      const waiter = this.#waiting[at]
      if (waiter === undefined) return
      if (full.has(waiter.place)) {
        at += 1
        continue
      }
      const by = this.#lost.size === 0 ? undefined : this.#keptOutBy(waiter)
      const fits = by === undefined && this.#fits(waiter.groups)
      if (by === undefined && !fits) {
        full.add(waiter.place)
        continue
      }
      this.#waiting.splice(at, 1)
      if (fits) this.#take(waiter.groups)
      waiter.admit(by === undefined ? undefined : {key: by})
      if (this.#lost.size === 0 && !this.#hasRoom()) return
    }
  }

  /** Thousands may wait, mostly for what all of them share: then there is no need to look at each of them. */
  #hasRoom(): boolean {
    if (this.#all !== undefined && !this.#fits([this.#all])) return false
    if (this.#accounts.size === 0) return true
    for (const account of this.#accounts.values()) if (this.#fits([account])) return true
    return false
  }
}

const isBefore = (a: Waiter, b: Waiter): boolean => a.rank < b.rank || (a.rank === b.rank && a.order < b.order)
