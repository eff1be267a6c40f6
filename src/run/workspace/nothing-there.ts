/**
 * Where nobody says whose account credentials are of, what can be seen with them says something: of another account than a
 * ledger's they show nothing that it has. That something is there proves nothing, and keeps nobody from anything.
 */
import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {type Ids, type Kind, locate, parentRemoteId, remoteIdOf} from '../../engine/model/kind.ts'
import {objectIn, readCollection} from '../../engine/model/live.ts'
import type {Workspace} from './workspace.ts'

/** Lists may not show what is new: so many are asked for by their ids. */
const ASKED = 3

/** Whether the ledger of a stack has something of an API, and neither that nor what it is in can be seen. */
export async function isNothingThere({ledgers, backendOf}: Workspace, stack: string, api: Api): Promise<boolean> {
  const roots = new Map<string, {readonly kind: Kind; readonly ids: Ids}>()
  for (const {remoteId} of ledgers.get(stack)?.entries.values() ?? []) {
    const root = locate(kinds, rootOf(remoteId))
    if (root?.kind.api === api && root.kind.verbs.read !== undefined) roots.set(remoteIdOf(root.kind, root.ids), root)
  }
  if (roots.size === 0) return false
  const backend = backendOf(stack, api)
  for (const kind of new Set([...roots.values()].map(it => it.kind))) {
    const list = await readCollection(backend, kind, [])
    if ([...roots.keys()].some(it => objectIn(list, it) !== undefined)) return false
  }
  for (const {kind, ids} of [...roots.values()].slice(0, ASKED)) {
    const request = kind.verbs.read?.(ids)
    if (request && (await backend.reader.read(request, {kept: true})) !== undefined) return false
  }
  return true
}

function rootOf(remoteId: string): string {
  const above = parentRemoteId({kinds}, remoteId)
  return above === undefined ? remoteId : rootOf(above)
}
