/** Both APIs as the simulator plays them, called in process on a clock of its own: for rehearsals, and for whoever tries things. */
import {openCloudBackend} from '../../backends/cloud/backend.ts'
import {openClusterBackend} from '../../backends/cluster/backend.ts'
import type {Api} from '../../base/apis.ts'
import type {Clock} from '../../base/clock.ts'
import type {Backend} from '../../engine/model/backend.ts'
import type {Simulator} from '../../simulator/index.ts'
import {type Budget, createBudget, NO_LIMITS} from '../../transport/budget.ts'
import {createApiClient} from '../../transport/create-api-client.ts'

export interface SimulatedOptions {
  readonly clock: Clock
  /** Of the account of the cloud. */
  readonly budget: Budget
  /** `plan`: nothing but GETs leave. */
  readonly mode?: 'plan' | 'full'
}

export function simulatedApis(
  {config: {credentials}, bases, transport}: Simulator,
  {clock, budget, mode = 'full'}: SimulatedOptions,
): (stack: string, api: Api) => Backend {
  const client = (address: string, authentication: Record<string, string>, spends: Budget) =>
    createApiClient({address, authentication, transport, budget: spends, clock, mode})
  const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  const cloud = openCloudBackend(
    client(bases.cloud, {'x-api-key': credentials.apiKey, 'x-api-secret-key': credentials.secretKey}, budget),
    {clock},
  )
  const cluster = openClusterBackend(client(bases.cluster, {authorization: `Basic ${basic}`}, createBudget({limits: NO_LIMITS, clock})), {
    clock,
  })
  return (_, api) => (api === 'cloud' ? cloud : cluster)
}
