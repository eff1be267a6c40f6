/**
 * Two schedulers as today's tools have them, on the same simulator and the same budget, so that the schedule is all
 * that differs: ten workers, each of which is held from the request of a create to its object being ready.
 *
 * A create is what a provider's is: the request, its task every ten seconds, the object every ten seconds until it is
 * ready. Both keep to the budget without a single 429, which is more than such tools do.
 */
import {kinds} from '../src/backends/kinds.ts'
import {waitFor} from '../src/base/wait-for.ts'
import type {Backend} from '../src/engine/model/backend.ts'
import type {Declaration} from '../src/engine/model/declaration.ts'
import {type Ids, idsIn, type Kind} from '../src/engine/model/kind.ts'
import {type LiveObject, liveObject} from '../src/engine/model/live.ts'
import {plainPart} from '../src/engine/model/resolve.ts'
import type {Key} from '../src/engine/model/value.ts'
import type {Lab, StackBuilder} from './lab.ts'

/** `barriers`: all of one kind, then all of the next; `graph`: whatever has all it waits for. */
export type Schedule = 'barriers' | 'graph'

const WORKERS = 10
const POLL_MS = 10_000

export interface ReferenceRun {
  readonly readyMs: number
  /** With a read of every object afterwards, as a second plan makes it. */
  readonly provenMs: number
  readonly requests: number
  readonly refreshRequests: number
}

export async function runReference(lab: Lab, stack: StackBuilder, schedule: Schedule): Promise<ReferenceRun> {
  const engine = new Provider(lab, lab.backends('full')('shop', 'cloud'))
  const {declarations} = stack.build()
  const startedAt = lab.clock.now()
  await (schedule === 'barriers' ? byKind(declarations, it => engine.create(it)) : byGraph(declarations, it => engine.create(it)))
  const readyMs = lab.clock.now() - startedAt
  const requests = lab.simulator.log.length
  await inWorkers(declarations, it => engine.refresh(it))
  return {readyMs, provenMs: lab.clock.now() - startedAt, requests, refreshRequests: lab.simulator.log.length - requests}
}

class Provider {
  readonly #lab: Lab
  readonly #backend: Backend
  readonly #made = new Map<Key, Ids>()

  constructor(lab: Lab, backend: Backend) {
    this.#lab = lab
    this.#backend = backend
  }

  async create(declaration: Declaration): Promise<void> {
    const kind = kindOf(declaration)
    const spec = plainPart(declaration.spec)
    const request = kind.verbs.create?.(this.#parentOf(declaration), spec)
    if (request === undefined) throw new TypeError(`${kind.name} cannot be created`)
    const sent = await this.#backend.write(request)
    if (sent.outcome === 'busy') {
      await this.#lab.clock.sleep(POLL_MS)
      return this.create(declaration)
    }
    if (sent.outcome !== 'accepted' || sent.taskId === undefined) throw new Error(`${request.path}: ${sent.outcome}`)
    const {taskId} = sent
    await this.#lab.clock.sleep(POLL_MS)
    await this.#poll(async () => {
      const task = await this.#backend.task(taskId)
      if (task?.state !== 'done') return undefined
      const ids = idsIn(kind, `${remotePrefix(kind, this.#parentOf(declaration))}${task.resourceId ?? ''}`)
      if (ids === undefined) throw new Error(`task ${taskId} names no ${kind.noun}`)
      this.#made.set(declaration.key, ids)
      return true
    })
    await this.#poll(async () => {
      const live = await this.refresh(declaration)
      return live !== undefined && (kind.ready?.(live.fields) ?? 'ready') === 'ready' ? true : undefined
    })
  }

  /** Its own GET; of what has none, the list it stands in, once for each object. */
  async refresh(declaration: Declaration): Promise<LiveObject | undefined> {
    const kind = kindOf(declaration)
    const ids = this.#made.get(declaration.key) ?? []
    const parent = ids.slice(0, -1)
    const {reader} = this.#backend
    const read = kind.verbs.read?.(ids)
    if (read !== undefined) {
      reader.forget(read.path)
      const row = await reader.read(read)
      return row && liveObject(kind, parent, row)
    }
    const list = kind.verbs.list?.(parent)
    if (list === undefined) throw new TypeError(`${kind.name} cannot be read`)
    reader.forget(list.path)
    const rows = (await reader.list(list))?.rows ?? []
    return rows.map(row => liveObject(kind, parent, row)).find(live => live?.ids.at(-1) === ids.at(-1))
  }

  #parentOf(declaration: Declaration): Ids {
    return declaration.parent?.by === 'key' ? (this.#made.get(declaration.parent.key) ?? []) : []
  }

  async #poll(look: () => Promise<true | undefined>): Promise<void> {
    await waitFor(look, {clock: this.#lab.clock, everyMs: POLL_MS, timeoutMs: Number.POSITIVE_INFINITY})
  }
}

function kindOf({kind: name}: Declaration): Kind {
  const kind = kinds.get(name)
  if (kind === undefined) throw new TypeError(`no kind ${name}`)
  return kind
}

/** The remote path of an object up to its own id. */
function remotePrefix(kind: Kind, parent: Ids): string {
  let next = 0
  return kind.remote.replace(/\*$/, '').replaceAll('*', () => parent[next++] ?? '')
}

async function byKind(declarations: readonly Declaration[], work: (it: Declaration) => Promise<void>): Promise<void> {
  for (const name of new Set(declarations.map(it => it.kind)))
    await inWorkers(
      declarations.filter(it => it.kind === name),
      work,
    )
}

async function byGraph(declarations: readonly Declaration[], work: (it: Declaration) => Promise<void>): Promise<void> {
  const enter = semaphore(WORKERS)
  const done = new Map<Key, Promise<void>>()
  for (const it of declarations) {
    const needs = [...(it.parent?.by === 'key' ? [it.parent.key] : []), ...it.dependsOn.map(edge => edge.key)]
    const ready = Promise.all(needs.map(key => done.get(key)))
    done.set(
      it.key,
      ready.then(() => enter(() => work(it))),
    )
  }
  await Promise.all(done.values())
}

async function inWorkers<T>(items: readonly T[], work: (it: T) => Promise<unknown>): Promise<void> {
  const enter = semaphore(WORKERS)
  await Promise.all(items.map(it => enter(() => work(it))))
}

/** Places for work; who comes when all are taken waits its turn. */
function semaphore(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = places
  return async work => {
    if (free > 0) free--
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
