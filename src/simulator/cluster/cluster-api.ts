/** The cluster API: every row of the contract's section 4 and the paths behind the client commands (wire facts). */
import {type Answer, type Exchange, Refusal} from '../answer.ts'
import {dispatch, route} from '../router.ts'
import {listActions, readAction} from './actions.ts'
import {createBdb, deleteBdb, listBdbs, readBdb, updateBdb} from './bdbs.ts'
import {listLogs} from './event-log.ts'
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
import {createUser, deleteUser, listRoles, listUsers, readUser, updateUser} from './users.ts'

const ROUTES = [
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
  route('GET', '/v1/users', listUsers),
  route('POST', '/v1/users', createUser),
  route('GET', '/v1/users/*', readUser),
  route('PUT', '/v1/users/*', updateUser),
  route('DELETE', '/v1/users/*', deleteUser),
  route('GET', '/v1/roles', listRoles),
  route('GET', '/v1/logs', listLogs),
  route('GET', '/v1/actions', listActions),
  route('GET', '/v1/actions/*', readAction),
]

/** @throws Refusal */
export function clusterApi(exchange: Exchange): Answer {
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
