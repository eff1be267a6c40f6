/**
 * Worlds in a line: `world().subscription('a').database('b').user('app').simulator({clock})`.
 *
 * A database stands in the subscription named last, ACL objects in the database named last.
 */
import type {JsonObject} from '../base/json.ts'
import type {Simulator} from './interface.ts'
import {createSimulator, type SimulatorOptions} from './simulator.ts'

export interface WorldBuilder {
  subscription(name: string, fields?: JsonObject): WorldBuilder
  database(name: string, fields?: JsonObject): WorldBuilder
  peering(fields: JsonObject): WorldBuilder
  rule(name: string, rule?: string): WorldBuilder
  user(name: string, fields?: JsonObject): WorldBuilder
  bdb(name: string, fields?: JsonObject): WorldBuilder
  clusterUser(name: string, fields?: JsonObject): WorldBuilder
  /** Changes a node that is there. */
  node(uid: number, fields: JsonObject): WorldBuilder
  settings(fields: JsonObject): WorldBuilder
  policy(fields: JsonObject): WorldBuilder
  /** A new simulator that holds it all. */
  simulator(options: SimulatorOptions): Simulator
  /** Adds it all to one that is there. */
  into(simulator: Simulator): void
}

interface WorldPath {
  subscription: string
  database: string
}
type Step = (simulator: Simulator, place: WorldPath) => void

export const world = (): WorldBuilder => builder([])

function builder(steps: readonly Step[]): WorldBuilder {
  const also = (step: Step): WorldBuilder => builder([...steps, step])
  const inCluster = (collection: string, create: JsonObject): WorldBuilder =>
    also(simulator => simulator.edit({path: `cluster/${collection}`, create}))
  const into = (simulator: Simulator): void => {
    const place: WorldPath = {subscription: '', database: ''}
    for (const step of steps) step(simulator, place)
  }
  return {
    subscription: (name, fields = {}) =>
      also((simulator, place) => {
        place.subscription = simulator.edit({path: 'cloud/subscriptions', create: {name, ...fields}})
      }),
    database: (name, fields = {}) =>
      also((simulator, place) => {
        place.database = simulator.edit({path: `${place.subscription}/databases`, create: {name, memoryLimitInGb: 1, ...fields}})
      }),
    peering: create =>
      also((simulator, place) => simulator.edit({path: `${place.subscription}/peerings`, create, status: 'pending-acceptance'})),
    rule: (name, rule = '+@read ~*') =>
      also((simulator, place) => simulator.edit({path: `${place.database}/acl/rules`, create: {name, rule}})),
    user: (name, fields = {}) =>
      also((simulator, place) => simulator.edit({path: `${place.database}/acl/users`, create: {name, ...fields}})),
    bdb: (name, fields = {}) => inCluster('bdbs', {name, memory_size: 104_857_600, ...fields}),
    clusterUser: (name, fields = {}) => inCluster('users', {name, ...fields}),
    node: (uid, set) => also(simulator => simulator.edit({path: `cluster/nodes/${uid}`, set})),
    settings: set => also(simulator => simulator.edit({path: 'cluster/settings', set})),
    policy: set => also(simulator => simulator.edit({path: 'cluster/policy', set})),
    simulator: options => {
      const made = createSimulator(options)
      into(made)
      return made
    },
    into,
  }
}
