/** `svcctl export`: what is live, as code that declares it, proven in the same run. */

import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {AppError, EXIT, type ExitCode} from '../../base/errors.ts'
import {secretsInDocument} from '../../base/secret-fields.ts'
import type {Connection} from '../../config/connection.ts'
import {NoCredentialsError, ProfileTypeError} from '../../config/connection-errors.ts'
import type {Backend} from '../../engine/model/backend.ts'
import type {LiveObject} from '../../engine/model/live.ts'
import {type LiveWorld, neededKinds, readWorld} from '../../engine/observe/read-world.ts'
import type {ExportDocument, NotRead} from '../../export/document.ts'
import {type ExportModel, exportModel, type Split} from '../../export/model.ts'
import {MaxRequestsError} from '../../transport/request-allowance.ts'
import type {Host} from '../host/host.ts'
import {type OpenedApi, openCloud, openCluster} from '../workspace/open-api.ts'
import {BillTooHighError} from '../workspace/workspace.ts'
import {exportPlace} from './export-place.ts'
import {ExportAbsentError, parseWhat, type What} from './export-what.ts'
import {type ExportOptions, type ExportTools, writeExport} from './export-write.ts'

export interface ExportWish extends ExportOptions {
  readonly what: readonly string[]
  /** What is meant where no words say it, and the ids that its objects are to have. */
  readonly chosen?: What & {readonly idsOf: (objects: readonly LiveObject[]) => ReadonlyMap<string, string>}
  /** Absolute; absent: standard output. */
  readonly dir?: string | undefined
  readonly kinds?: readonly string[] | undefined
  readonly split: Split
  readonly allFields: boolean
  readonly overwrite: boolean
}

export interface ExportDone {
  readonly document: ExportDocument
  /** What goes to standard output where no folder was named. */
  readonly text: string
  readonly model: ExportModel
  /** Whether ledgers have it now. */
  readonly recorded: boolean
  readonly exit: ExitCode
}

/** So many objects are no code that anybody reads. */
const MOST = 20_000

export class ExportSizeError extends AppError {
  constructor(count: number) {
    super(`there are ${count} objects, and an export holds at most ${MOST}`, {
      code: 'E_EXPORT_SIZE',
      exit: EXIT.usage,
      suggestions: ['Export one part after the other: svcctl export subscription:NAME --dir DIR, or name kinds with --kinds.'],
    })
  }
}

type Opened = Pick<OpenedApi<Backend>, 'backend' | 'client' | 'close'>

export async function exportLive(tools: ExportTools, wish: ExportWish): Promise<ExportDone> {
  const {host, allowance} = tools
  const place = wish.dir === undefined ? undefined : exportPlace(wish.dir, wish.overwrite)
  const what = wish.chosen ?? parseWhat(wish.what, wish.kinds, kinds)
  const connections = await connectionsOf(tools, what)
  const opened = new Map<Api, Opened>()
  for (const [api, connection] of connections) {
    const options = {mode: 'plan' as const, ...(allowance ? {allowance} : {})}
    opened.set(api, api === 'cloud' ? openCloud(host, connection, options) : openCluster(host, connection, options))
  }
  const used = () => [...opened.values()].reduce((sum, it) => sum + it.client.spending.used, 0)
  const less = wish.chosen === undefined ? 'export one part after the other (subscription:NAME)' : 'take over less at once'
  const assertAffordable = (requests: number): void => {
    if (allowance !== undefined && requests > allowance.left + used())
      throw new BillTooHighError(`the export needs at least ${requests}`, allowance.left, used(), less)
  }
  const reading = {kinds, backends: new Map([...opened].map(([api, it]) => [api, it.backend])), wants: what.wants}
  try {
    // Before anything is read: the lists of what lives in nothing.
    assertAffordable([...neededKinds(reading)].filter(it => it.parent === undefined).length)
    const world = await readWorld({
      ...reading,
      picks: what.picks,
      scope: roots => what.scope(roots).filter(path => connections.has(path.split('/')[0] === 'cloud' ? 'cloud' : 'cluster')),
      onPrice: (requests, below) => {
        assertAffordable(requests)
        const more = below.map(it => `, and ${it.lists} more for each ${it.kind} it finds`).join('')
        host.log.note(`reading costs about ${requests} request${requests === 1 ? '' : 's'}${more}`)
      },
      onFound: (objects, scope) => assertFew(objects.filter(it => what.covers(it, scope))),
    })
    const model = modelOf(host, world, what, wish)
    const open = (api: Api) => Promise.resolve(connections.get(api) ?? missing(api))
    const result = await writeExport(
      {...tools, connect: open},
      {...wish, place, world, model, notRead: notRead(world, what, [...connections.keys()])},
    )
    const {proof} = result.document
    return {
      ...result,
      document: {...result.document, requests: {used: used() + result.used}},
      exit: proof === 'differs' ? EXIT.notConverged : EXIT.ok,
    }
  } catch (error) {
    // Proofs and rows that say too little cost more than the lists were known to.
    if (!(error instanceof MaxRequestsError) || allowance === undefined) throw error
    throw new BillTooHighError(`the export needs more than ${allowance.max}`, allowance.left, used(), less)
  } finally {
    await Promise.all([...opened.values()].map(it => it.close()))
  }
}

function missing(api: Api): never {
  throw new TypeError(`no connection to the ${api} API`)
}

/** The APIs there are credentials for; where one is named, or none is left, their absence is an error. */
async function connectionsOf({connect}: ExportTools, {apis, isAll}: What): Promise<ReadonlyMap<Api, Connection>> {
  const connections = new Map<Api, Connection>()
  const refused: unknown[] = []
  for (const api of apis) {
    try {
      connections.set(api, await connect(api))
    } catch (error) {
      if (!isAll || !(error instanceof NoCredentialsError || error instanceof ProfileTypeError)) throw error
      refused.push(error)
    }
  }
  if (connections.size === 0) throw refused[0]
  return connections
}

/** @throws ExportAbsentError */
function modelOf({redactor}: Host, {objects, scope}: LiveWorld, what: What, {split, allFields, chosen}: ExportWish): ExportModel {
  // What a server repeats in a field of another name is no less secret there.
  for (const {fields, remoteId} of objects)
    for (const secret of secretsInDocument(fields)) if (new Set(secret).size > 1) redactor.register(secret, remoteId)
  const absent = scope.find(path => path.includes('/') && !objects.some(it => it.remoteId === path))
  if (absent !== undefined) throw new ExportAbsentError(absent)
  const covered = objects.filter(it => what.covers(it, scope))
  const ids = chosen === undefined ? {} : {ids: chosen.idsOf(covered)}
  return exportModel({kinds, objects: covered, around: objects, split, allFields, hides: value => redactor.value(value), ...ids})
}

/** @throws ExportSizeError */
function assertFew(objects: readonly LiveObject[]): void {
  if (objects.length > MOST) throw new ExportSizeError(objects.length)
}

/** Kinds of the connected APIs that were not looked at, with one request for each list of them. */
function notRead({objects, scope}: LiveWorld, {wants}: What, apis: readonly Api[]): NotRead[] {
  return [...kinds.values()].flatMap((kind): NotRead[] => {
    if (wants(kind) || !apis.includes(kind.api) || !scope.some(path => path.startsWith(kind.api))) return []
    const above = kind.parent?.kind
    return [{kind: kind.name, requests: above === undefined ? 1 : objects.filter(it => it.kind.name === above).length}]
  })
}
