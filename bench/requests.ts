/** How many requests a plan takes, beside the formula of the read-set (design section 9). */
import {Lab, type StackBuilder, stackOf} from './lab.ts'
import {shop} from './worlds.ts'

export interface RequestCount {
  readonly what: string
  readonly requests: number
  readonly formula: number
}

/** Databases in all: `8 x 25` is 200 of them. */
const EIGHT_BY_25 = {subscriptions: 8, databases: 200}
const EIGHT_BY_200 = {subscriptions: 8, databases: 1600}

/**
 * The list of subscriptions, the databases of each, two lists a database with ACL objects; and a proof for each list
 * that is as long as the longest.
 */
export function readSetOf(subscriptions: number, databasesEach: number, aclDatabases = 0): number {
  const longest = Math.max(subscriptions, databasesEach)
  const proofs = (subscriptions === longest ? 1 : 0) + (databasesEach === longest ? subscriptions : 0)
  return 1 + subscriptions + 2 * aclDatabases + proofs
}

export async function countRequests(): Promise<RequestCount[]> {
  const counts: RequestCount[] = []
  const count = async (what: string, lab: Lab, stack: StackBuilder, formula: number) => {
    const from = lab.simulator.log.length
    await lab.run(() => lab.plan([stack]))
    counts.push({what, requests: lab.simulator.log.length - from, formula})
  }
  const empty = new Lab()
  // An empty list is its own proof, and nothing can be below it.
  await count('first plan, empty account, 8 x 25 databases', empty, shop(EIGHT_BY_25, {acls: false}), 1)
  const plain = await applied(shop(EIGHT_BY_25, {acls: false}))
  await count('8 x 25 databases, nothing changed', plain, shop(EIGHT_BY_25, {acls: false}), readSetOf(8, 25))
  const changed = shop(EIGHT_BY_25, {acls: false}).without('d7').database('d7', 's7', {memoryLimitInGb: 2})
  await count('8 x 25 databases, one changed field', plain, changed, readSetOf(8, 25))
  const wide = await applied(shop(EIGHT_BY_200, {acls: false}))
  await count('8 x 200 databases, nothing changed', wide, shop(EIGHT_BY_200, {acls: false}), readSetOf(8, 200))
  const deep = await applied(shop(EIGHT_BY_25))
  await count('8 x 25 databases with 4 ACL objects each, nothing changed', deep, shop(EIGHT_BY_25), readSetOf(8, 25, 200))
  const cluster = await applied(clusterStack())
  // Five collections, and a proof for each of the three that are lists.
  await count('cluster: settings, policy, databases, nodes, users, nothing changed', cluster, clusterStack(), 8)
  return counts
}

async function applied(stack: StackBuilder): Promise<Lab> {
  const lab = new Lab()
  const {ended} = await lab.run(() => lab.apply([stack]))
  const undone = ended.filter(it => it.state !== 'done')
  if (undone.length > 0) throw new Error(`${undone.length} operations were not done: ${undone[0]?.error?.message ?? ''}`)
  return lab
}

function clusterStack(): StackBuilder {
  const stack = stackOf('shop').add('cluster.settings', 'settings', {name: 'main'}).add('cluster.policy', 'policy', {})
  for (let i = 0; i < 20; i++) stack.bdb(`b${i}`)
  for (let i = 0; i < 5; i++) stack.clusterUser(`u${i}`)
  return stack.add('cluster.node', 'node', {uid: 1, rack_id: 'a'})
}
