/** The cluster API: every row of the contract's section 4 and the paths behind the client commands (wire facts). */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {dispatch, route} from '../base/router.ts'
import {listActions, readAction} from './actions.ts'
import {availability, localAvailability} from './availability.ts'
import {createBdb, deleteBdb, listBdbs, readBdb, updateBdb} from './bdbs.ts'
import {clusterScope, databaseScope, downloadPackage, listPackages, nodeScope, nodesScope, packagePath, packageStatus} from './debuginfo.ts'
import {listLogs} from './event-log.ts'
import {deleteModule, listModules, readModule, uploadV1, uploadV2} from './modules.ts'
import {plainRoutes} from './plain-objects.ts'
import {
  checkNode,
  listNodes,
  readBootstrap,
  readCluster,
  readNode,
  readPolicy,
  updateCluster,
  updateNode,
  updatePolicy,
} from './settings.ts'
import {bdbStats, clusterStats, endpointStats, nodeStats, shardStats} from './statistics.ts'

// Of two paths that fit, the first answers: `/v1/nodes/debuginfo` stands before `/v1/nodes/*`.
const ROUTES = [
  route('GET', '/v1/debuginfo', listPackages),
  route('GET', '/v1/debuginfo/all', packagePath('old', clusterScope)),
  route('GET', '/v1/debuginfo/all/bdb/*', packagePath('old', databaseScope)),
  route('GET', '/v1/debuginfo/node', packagePath('old', nodesScope)),
  route('GET', '/v1/debuginfo/*', packageStatus),
  route('GET', '/v1/debuginfo/*/download', downloadPackage),
  route('GET', '/v1/cluster/debuginfo', packagePath('new', clusterScope)),
  route('GET', '/v1/bdbs/*/debuginfo', packagePath('new', databaseScope)),
  route('GET', '/v1/nodes/debuginfo', packagePath('new', nodesScope)),
  route('GET', '/v1/nodes/*/debuginfo', packagePath('new', nodeScope)),
  route('GET', '/v1/cluster/stats/last', clusterStats),
  route('GET', '/v1/bdbs/stats/last', bdbStats),
  route('GET', '/v1/nodes/stats/last', nodeStats),
  route('GET', '/v1/shards/stats/last', shardStats),
  route('GET', '/v1/endpoints/stats', endpointStats),
  route('GET', '/v1/bdbs/*/availability', availability),
  route('GET', '/v1/local/bdbs/*/endpoint/availability', localAvailability),
  route('GET', '/v1/modules', listModules),
  route('POST', '/v1/modules', uploadV1),
  route('POST', '/v2/modules', uploadV2),
  route('GET', '/v1/modules/*', readModule),
  route('DELETE', '/v1/modules/*', deleteModule),
  route('GET', '/v1/cluster', readCluster),
  route('PUT', '/v1/cluster', updateCluster),
  route('GET', '/v1/cluster/policy', readPolicy),
  route('PUT', '/v1/cluster/policy', updatePolicy),
  route('GET', '/v1/bdbs', listBdbs),
  route('POST', '/v1/bdbs', createBdb),
  route('GET', '/v2/bdbs', exchange => {
    if (!exchange.config.cluster.v2) throw new Refusal(404, 'not_found', 'There is nothing at /v2/bdbs.')
    return listBdbs(exchange)
  }),
  route('GET', '/v1/bdbs/*', readBdb),
  route('PUT', '/v1/bdbs/*', updateBdb),
  route('DELETE', '/v1/bdbs/*', deleteBdb),
  route('GET', '/v1/nodes', listNodes),
  route('GET', '/v1/nodes/*', readNode),
  route('PUT', '/v1/nodes/*', updateNode),
  route('POST', '/v1/nodes/*/actions/check', checkNode),
  ...plainRoutes,
  route('GET', '/v1/logs', listLogs),
  route('GET', '/v1/actions', listActions),
  route('GET', '/v1/actions/*', readAction),
]

/** @throws Refusal */
export function clusterApi(exchange: Exchange): Answer {
  const {config, path} = exchange
  if (config.cluster.redirect === null) return answer(exchange)
  // What stands below /primary is the primary node behind the same address.
  if (path.startsWith('/primary/')) return answer({...exchange, path: path.slice('/primary'.length)})
  const {status, to, methods} = config.cluster.redirect
  if (methods.length > 0 && !methods.includes(exchange.method)) return answer(exchange)
  const query = exchange.query.size > 0 ? `?${exchange.query}` : ''
  return {status, headers: {location: `${to ?? `${exchange.bases.cluster}/primary`}${path}${query}`}}
}

function answer(exchange: Exchange): Answer {
  const {config, headers, path, method} = exchange
  if (config.cluster.notReady) throw new Refusal(503, 'node_not_ready', 'The node is not ready yet.', {headers: {'retry-after': '1'}})
  if (method === 'GET' && path === '/v1/bootstrap') return readBootstrap(exchange)
  const {username, password} = config.credentials
  const wanted = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  if (headers.authorization !== wanted) {
    throw new Refusal(401, 'unauthorized', 'The user name or the password is wrong.', {
      headers: {'www-authenticate': 'Basic realm="cluster"'},
    })
  }
  return dispatch(ROUTES, exchange)
}
