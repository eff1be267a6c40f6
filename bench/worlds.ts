/** Stacks and services of a size, the same for every engine that is measured. */
import type {SimulatorConfigInput} from '../src/simulator/index.ts'
import {type StackBuilder, stackOf} from './lab.ts'

/** Objects of one stack: subscriptions, databases in all, and four ACL objects in each database. */
export interface Size {
  readonly subscriptions: number
  readonly databases: number
}

export const sizeName = ({subscriptions, databases}: Size): string => `${subscriptions} x ${databases}`

/** ACL objects of one database: two rules, and two users that name them. */
export const ACL_OBJECTS = 4

export const objectsIn = ({subscriptions, databases}: Size): number => subscriptions + databases * (1 + ACL_OBJECTS)

/** A shop of this size; databases are dealt out to the subscriptions in turn. Two shops need two names. */
export function shop({subscriptions, databases}: Size, {acls = true, name = 'shop'} = {}): StackBuilder {
  const stack = stackOf(name)
  const prefix = name === 'shop' ? '' : `${name}-`
  for (let s = 0; s < subscriptions; s++) stack.subscription(`${prefix}s${s}`)
  for (let d = 0; d < databases; d++) {
    const database = `${prefix}d${d}`
    stack.database(database, `${prefix}s${d % subscriptions}`)
    if (!acls) continue
    for (const i of [0, 1]) {
      stack.rule(`${database}-rule-${i}`, database)
      stack.user(`${database}-user-${i}`, database, {role: `${database}-rule-${i}`}, [`${database}-rule-${i}`])
    }
  }
  return stack
}

/** Contract section 8: what an account may send. */
export const RATE = {perMinute: 100, burst: 150} as const

/** A service that takes the time such services take: longer for what has machines behind it. */
export const USUAL_DURATIONS = {
  taskMsByCommand: {
    subscriptionCreateRequest: 30_000,
    databaseCreateRequest: 20_000,
    aclRuleCreateRequest: 2000,
    aclUserCreateRequest: 2000,
  },
  readyMsByKind: {subscription: 5000, database: 5000},
} as const satisfies SimulatorConfigInput['cloud']

/** One write in a subscription at a time: the service refuses the next with 409 while something in it changes. */
export const EXCLUSIVE = {...USUAL_DURATIONS, busy: '409'} as const satisfies SimulatorConfigInput['cloud']

/** A service that is slow, with budget to spare: the chain of what waits for what is all that counts. */
export const SLOW = {
  taskMsByCommand: {
    subscriptionCreateRequest: 600_000,
    databaseCreateRequest: 300_000,
    aclRuleCreateRequest: 60_000,
    aclUserCreateRequest: 60_000,
  },
  readyMsByKind: {subscription: 60_000, database: 60_000},
} as const satisfies SimulatorConfigInput['cloud']
