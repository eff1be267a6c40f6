/**
 * Objects on their way (to ready, to gone) in one collection, watched together by looking at the collection; a single
 * one is looked at by itself where the API can show one object, and so are those that the list goes on not to show.
 */
import type {Clock} from '../../base/clock.ts'
import type {JsonObject} from '../../base/json.ts'
import {onAbort} from '../../base/on-abort.ts'
import {type Backend, PRIORITY, type ProveOptions} from '../model/backend.ts'
import type {Stage} from '../model/events.ts'
import {type Ids, isUnderWay, type Kind} from '../model/kind.ts'
import {type Collection, type LiveObject, liveObject, readCollection, readObject, withAllParts} from '../model/live.ts'
import type {Expectations} from './expectations.ts'
import {SharedLook} from './shared-look.ts'
import {type Pace, SharedWatch, type Watched} from './shared-watch.ts'

export interface Sought {
  readonly step: Stage
  /** The remote id, when it is known. */
  readonly remoteId?: string
  /** The natural key, when the id is not known: an object with it that was not there before. */
  readonly fits?: (live: LiveObject) => boolean
  readonly until: 'ready' | 'gone'
  /** When the API took the change on, milliseconds since the epoch. */
  readonly since: number
  /** Its task is done: it is likely to be over, and a look tells whether the task is all there is to wait for. */
  readonly soon?: boolean
}

/** What says that an object is not there. */
type Absent = 'by its id' | 'by the list' | 'no'

export type ObjectNews = {readonly live: LiveObject; readonly failed: boolean; readonly atOnce: boolean} | 'gone'

interface Waiting extends Watched<ObjectNews> {
  readonly sought: Sought
  readonly addedAt: number
  /** Looks that did not show it. */
  absences: number
  /** Those of them that were at its id. */
  vain: number
  /** When it was looked for last and was there; before that, when the wait for it began. */
  shownAt: number
  wasShown: boolean
  readAt: number
  looks: number
  readonly fail: (error: unknown) => void
  readonly onStatus: (status: string) => void
}

/** Looks in vain at one id before its collection is looked at, and at the collection before the id is. */
const MISLED_AFTER = 5
/** Lists lag behind by up to two seconds: what they do not show for longer is worth a request of its own. */
const LATE_AFTER_MS = 3_000
/** What was there once and is not shown for so long is gone; so is what a run has made and nobody has ever seen, after five minutes. */
const GONE_AFTER_MS = 10_000
const NEVER_SHOWN_MS = 300_000
/** Read by their ids in one look: what many wait for is in the list before they have all had their turn. */
const MOST_READS = 10

/** A look at a whole collection, and when it began. */
export interface Look {
  readonly startedAt: number
  readonly collection: Collection
}

export class CollectionWatch extends SharedWatch<Waiting, ObjectNews> {
  readonly backend: Backend
  readonly #clock: Clock
  readonly #kind: Kind
  readonly #parent: Ids
  /** It was longer than it looked by the length of other lists. */
  #isCut = false
  /** The last look at the whole list: a proof may be made from it. */
  last: Look | undefined
  /** Rows that left out what tells one from another, by their remote ids. */
  readonly #completed = new Map<string, Promise<LiveObject>>()
  readonly #shared: SharedLook<Look>
  #proving: {readonly of: Look; readonly proven: Promise<Look>} | undefined

  constructor(backend: Backend, kind: Kind, parent: Ids, clock: Clock, pace: Pace, expected?: Expectations) {
    super(clock, pace, expected)
    this.backend = backend
    this.#clock = clock
    this.#kind = kind
    this.#parent = parent
    this.#shared = new SharedLook(clock, priority => this.#lookAtAll(priority), pace.minMs)
  }

  /**
   * The collection as it was at this time or later: one look for all who ask.
   *
   * @param enough - whether it shows what is asked for; else it is brought to a proof that what it does not show does not exist
   */
  async since(time: number, enough: (collection: Collection) => boolean): Promise<Look> {
    const {value: look} = await this.#shared.since(time)
    if (enough(look.collection)) return look
    // Something may be sent again for not being in it: no other list vouches for this one.
    if (this.#proving?.of !== look) this.#proving = {of: look, proven: this.provenAlone(look, PRIORITY.read)}
    return this.#proving.proven
  }

  /**
   * The object when it is there and ready (or failed), `gone` when that is what is sought, `undefined` at the deadline. Of what
   * is adopted also when it is being deleted or gone, and of whatever stays away for longer than a list lags: it will not be ready.
   */
  await(sought: Sought, deadline: number, signal: AbortSignal, onStatus: (status: string) => void): Promise<ObjectNews | undefined> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const stop = () => {
        this.remove(item)
        reject(signal.reason)
      }
      const item: Waiting = {
        sought,
        addedAt: this.#clock.now(),
        absences: 0,
        vain: 0,
        shownAt: this.#clock.now(),
        wasShown: sought.step === 'update',
        readAt: 0,
        looks: 0,
        ...(sought.soon ? {soon: true} : {}),
        deadline,
        sort: `${this.#kind.name} ${sought.step} ${sought.until}`,
        since: sought.since,
        onStatus,
        tell: news => {
          heard()
          resolve(news)
        },
        fail: reject,
      }
      const heard = onAbort(signal, stop)
      this.add(item)
    })
  }

  /**
   * A look at the whole collection that began at this time or later; now, when absent. Whoever looks, for news or for a
   * proof: the shortest pause lies between two looks at the same list, and those who wait for it together share one.
   */
  async lookAtAll(priority: number = PRIORITY.read, since = this.#clock.now()): Promise<Look> {
    return (await this.#shared.since(since, priority)).value
  }

  async #lookAtAll(priority: number): Promise<Look> {
    const startedAt = this.#clock.now()
    const path = (this.#kind.verbs.list?.(this.#parent) ?? this.#kind.verbs.read?.(this.#parent))?.path ?? ''
    this.backend.reader.forget(path)
    const look = {startedAt, collection: await readCollection(this.backend, this.#kind, this.#parent, priority)}
    this.last = look
    return look
  }

  /** The same look, gone on with until what it does not show does not exist. */
  async proven(first: Look, priority: number): Promise<Look> {
    return first.collection.proven ? first : this.#goneOnWith(first, {priority})
  }

  /** The same by its own pages: no other list vouches for it, whose cap may be another one. */
  async provenAlone(first: Look, priority: number): Promise<Look> {
    if (first.collection.objects.length === 0 && first.collection.proven) return first
    const look = await this.#goneOnWith(first, {priority, alone: true})
    if (look.collection.objects.length > first.collection.objects.length) this.#isCut = true
    return look
  }

  async #goneOnWith(first: Look, how: ProveOptions & {readonly priority: number}): Promise<Look> {
    const {priority} = how
    await this.backend.reader.prove({...how, path: first.collection.path})
    const look = {startedAt: first.startedAt, collection: await readCollection(this.backend, this.#kind, this.#parent, priority)}
    this.last = look
    return look
  }

  /** A row, with what its own GET shows of these fields: it is asked for once. */
  async completed(row: LiveObject, declared: JsonObject): Promise<LiveObject> {
    const known = this.#completed.get(row.remoteId) ?? withAllParts(this.backend, declared, row)
    this.#completed.set(row.remoteId, known)
    try {
      return await known
    } catch (error) {
      this.#completed.delete(row.remoteId)
      throw error
    }
  }

  protected override failed(item: Waiting, error: unknown): void {
    item.fail(error)
  }

  protected override async look(items: readonly Waiting[], due: ReadonlySet<Waiting>): Promise<ReadonlyMap<Waiting, ObjectNews>> {
    const news = new Map<Waiting, ObjectNews>()
    const [only] = items
    const id = only?.sought.remoteId
    if (only && items.length === 1 && id !== undefined && this.#isReadable && !isMisled(only)) {
      const live = await this.#readOne(only, id)
      if (live === undefined) only.absences++
      this.#judge(only, live, live === undefined ? 'by its id' : 'no', news)
      return news
    }
    // The first ones of a kind teach how long the others are to be waited for.
    const first = await this.lookAtAll(items.some(it => it.sought.soon && it.looks === 0) ? PRIORITY.overdue : PRIORITY.poll)
    for (const item of items) if (find(first.collection, item.sought) === undefined) item.absences++
    // Something new is often late: once missing proves nothing, and a page that was cut is not worth a second one yet.
    const hidden = items.some(it => it.absences > (it.sought.until === 'gone' ? 0 : 1) && find(first.collection, it.sought) === undefined)
    // What stays away may stand behind a cap that only this list has.
    const stays = this.#isCut || items.some(it => it.absences >= MISLED_AFTER)
    const whole = () => (stays ? this.provenAlone(first, PRIORITY.poll) : this.proven(first, PRIORITY.poll))
    const {collection} = hidden ? await whole() : first
    const late = items.length === 1 ? [] : this.#late(collection, due)
    const read = new Map(await Promise.all(late.map(async ([item, id]) => [item, await this.#readOne(item, id)] as const)))
    for (const item of items) {
      const absent = read.has(item) ? 'by its id' : collection.proven ? 'by the list' : 'no'
      this.#judge(item, read.get(item) ?? find(collection, item.sought), absent, news)
    }
    return news
  }

  /** Whose id tells what the list should have told by now; whoever had no turn for longest first. */
  #late(collection: Collection, due: ReadonlySet<Waiting>): readonly (readonly [Waiting, string])[] {
    if (!this.#isReadable) return []
    const isLate = (it: Waiting) => it.absences >= MISLED_AFTER && this.#clock.now() - it.addedAt >= LATE_AFTER_MS && !isMisled(it)
    return [...due]
      .filter(it => isLate(it) && find(collection, it.sought) === undefined && !(it.sought.until === 'gone' && collection.proven))
      .sort((a, b) => a.readAt - b.readAt)
      .flatMap(it => (it.sought.remoteId === undefined ? [] : [[it, it.sought.remoteId] as const]))
      .slice(0, MOST_READS)
  }

  get #isReadable(): boolean {
    return this.#kind.verbs.read !== undefined && !this.#kind.singleton
  }

  async #readOne(item: Waiting, remoteId: string): Promise<LiveObject | undefined> {
    item.readAt = this.#clock.now()
    const ids = [...this.#parent, decodeURIComponent(remoteId.slice(remoteId.lastIndexOf('/') + 1))]
    const request = this.#kind.verbs.read?.(ids)
    if (request === undefined) return undefined
    this.backend.reader.forget(request.path)
    const row = await readObject(this.backend, this.#kind, ids, {priority: PRIORITY.poll})
    if (row === undefined) item.vain++
    return row && liveObject(this.#kind, this.#parent, row)
  }

  #judge(item: Waiting, live: LiveObject | undefined, absent: Absent, news: Map<Waiting, ObjectNews>): void {
    item.looks++
    const {until, step} = item.sought
    if (live === undefined) {
      // What is new may be shown late; what is adopted was there.
      const mayBeGone = until === 'gone' || (step === 'adopt' && item.absences > 1) || this.#staysAway(item, absent)
      if (mayBeGone && absent !== 'no') news.set(item, 'gone')
      return
    }
    item.shownAt = this.#clock.now()
    item.wasShown = true
    if (typeof live.fields.status === 'string') item.onStatus(live.fields.status)
    if (until === 'gone') return
    const readiness = live.kind.ready?.(live.fields) ?? 'ready'
    const goesOn = step === 'adopt' ? readiness === 'waiting' : isUnderWay(readiness)
    if (!goesOn) news.set(item, {live, failed: readiness !== 'ready', atOnce: item.looks === 1})
  }

  /** Somebody has taken it away while it was waited for. A list may lag for longer than that: an id is asked where it can be. */
  #staysAway(item: Waiting, absent: Absent): boolean {
    const {sought, absences, shownAt, wasShown} = item
    if (sought.remoteId === undefined || absences < MISLED_AFTER) return false
    if (absent === 'by the list' && this.#isReadable && !isMisled(item)) return false
    return this.#clock.now() - shownAt > (wasShown ? GONE_AFTER_MS : NEVER_SHOWN_MS)
  }
}

/** An id that goes on showing nothing may be the id of something else: then the natural key tells. */
const isMisled = ({sought, vain}: Waiting): boolean => sought.fits !== undefined && vain >= MISLED_AFTER

function find({objects}: Collection, {remoteId, fits}: Sought): LiveObject | undefined {
  const byId = remoteId === undefined ? undefined : objects.find(it => it.remoteId === remoteId)
  return byId ?? (fits && objects.find(fits))
}
