/** The cluster API as the engine and the imperative commands use it. Paths carry their version (`/v1/bdbs`). */
import type {Json, JsonObject} from '../../base/json.ts'
import type {Backend, RequestOptions} from '../../engine/model/backend.ts'
import type {ApiClient} from '../../transport/api-client.ts'
import {ApiBackend, type BackendOptions} from '../api/api-backend.ts'
import type {PlainAnswer} from '../api/api-reads.ts'
import type {PagedReader} from '../api/paged-reader.ts'
import {clusterVoice} from './errors.ts'

export interface ClusterBackend extends Backend {
  readonly name: 'cluster'
  readonly address: string
  readonly reader: PagedReader
  /** A GET whose body is not a list: the body, `undefined` when it is empty. Throws for any error. */
  get(path: string, options?: RequestOptions): Promise<Json | undefined>
  /** A list that is not read page by page. Throws for any error, and for what is no list of objects. */
  rows(path: string, options?: RequestOptions): Promise<readonly JsonObject[]>
  /** A GET of which also these statuses are answers and no errors, and so are not tried again. */
  answer(path: string, statuses: readonly number[], options?: RequestOptions): Promise<PlainAnswer>
  /** The whole action as the API spells it; `undefined` for a 404. */
  rawAction(uid: string, options?: RequestOptions): Promise<JsonObject | undefined>
}

export function openClusterBackend(client: ApiClient, options: BackendOptions): ClusterBackend {
  const api = new ApiBackend(client, options, {
    voice: clusterVoice(options.credentialSource),
    handles: ['action_uid'],
    // "Node not ready" in the API's own words: it never began. A gateway's 503 proves nothing.
    refusedBy503: said => said.code !== undefined,
  })
  const action: typeof api.task = (uid, at) => api.task(`/v1/actions/${encodeURIComponent(uid)}`, at)
  return {
    name: 'cluster',
    address: client.address,
    reader: api.reader,
    spending: client.spending,
    now: client.now,
    get: (path, at) => api.reads.json(path, at),
    rows: (path, at) => api.reads.rows(path, at),
    answer: (path, statuses, at) => api.reads.answer(path, statuses, at),
    write: (request, at) => api.write(request, at),
    // The cluster has actions one by one, and no list that promises to be all of them.
    tasks: async () => undefined,
    // `POST /v1/bdbs` answers with the object, which is `pending` (wire facts).
    createsAtOnce: true,
    task: async (uid, at) => (await action(uid, at))?.view,
    rawAction: async (uid, at) => (await action(uid, at))?.body,
  }
}
